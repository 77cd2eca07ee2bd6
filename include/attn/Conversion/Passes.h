//===- Passes.h - conversions from one level to the next ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each conversion is a library of its own (lib/Conversion); only those that are linked may be registered, one by one,
// with register<Name>Pass(). include/attn/InitAllPasses.h registers all.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_PASSES_H
#define ATTN_CONVERSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace attn {

#define GEN_PASS_DECL
#include "Conversion/ConversionPasses.h.inc"

/// Of a module at the machine level whose accesses of memory are checked (convert-flash-to-llvm's check-bounds).
inline constexpr llvm::StringLiteral kCheckBoundsAttrName = "attn.check_bounds";

/// Patterns that turn attn.matmul, attn.mask and attn.softmax on tensors into linalg.
void populateAttnToLinalgPatterns(mlir::RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "Conversion/ConversionPasses.h.inc"

} // namespace attn

#endif // ATTN_CONVERSION_PASSES_H
