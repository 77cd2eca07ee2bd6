//===- OutlineSides.h - two computations as functions of the same inputs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_OUTLINESIDES_H
#define ATTN_DIALECT_ATTN_FUSION_OUTLINESIDES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace attn::fusion {

/// The same values computed in two ways, each as a function with one argument for each of `inputs`.
struct OutlinedSides {
  mlir::func::FuncOp before, after;
  llvm::SmallVector<mlir::Value> inputs;
};

/// Copies what computes `before` and `after` into functions @before and @after of the module. The copies start from
/// `leaves`, and from block arguments and results of ops with effects that they meet otherwise; constants are copied,
/// leaves or not. The originals stay as they are.
OutlinedSides outlineSides(mlir::ModuleOp module, llvm::ArrayRef<mlir::Value> before, llvm::ArrayRef<mlir::Value> after,
                           const llvm::SetVector<mlir::Value> &leaves);

/// True if ops that are copied lead from one of `leaves` to the value, and it is none of them.
bool dependsOn(mlir::Value value, const llvm::SetVector<mlir::Value> &leaves);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_OUTLINESIDES_H
