//===- Passes.h - passes on the graph level -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

namespace attn {

#define GEN_PASS_DECL
#include "Attn/AttnPasses.h.inc"

/// Attribute on an exported function: how many of its arguments, the last ones, are out parameters (i64).
inline constexpr llvm::StringLiteral kResultsAttrName = "attn.results";

/// Expands the named masks and score functions of one op into its regions, in front of what those hold. The op must
/// be verified; it is changed in place. Checks of sizes that only the run knows are put in front of it.
void expandNamed(AttentionOp op);
void expandNamed(MaskOp op);
void expandNamed(ClassifyTilesOp op);

/// True if the linalg op that computes `operand` should move into the linalg op that reads it (attn-fuse-elementwise).
bool isFusionProfitable(mlir::OpOperand *operand);

/// Makes a collapse to one dimension and an expansion by the values of its shape of each tensor.reshape in `root`.
void reshapeByValues(mlir::Operation *root);

/// Adds --attn-verify-fusion to the command line of a tool: attn-fuse verifies wherever the process runs it. Call
/// before the command line is parsed.
void registerFusionFlags();

/// A module like `module` of the function and of what it refers to alone.
mlir::OwningOpRef<mlir::ModuleOp> cloneNeeded(mlir::ModuleOp module, mlir::func::FuncOp function);

/// Error for each operation at the top level of a module that can be no part of a kernel and has no name by which it
/// could be left out: nested modules, and what is no symbol.
mlir::LogicalResult verifyTopLevel(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "Attn/AttnPasses.h.inc"

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_H
