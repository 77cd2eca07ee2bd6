//===- ExportFunctions.h - the calling convention of kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_EXPORTFUNCTIONS_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_EXPORTFUNCTIONS_H

#include "mlir/Pass/Pass.h"

namespace attn {

#define GEN_PASS_DECL_EXPORTFUNCTIONSPASS
#include "Attn/AttnPasses.h.inc"

/// Attribute on an exported function: how many of its arguments, the last ones, are out parameters (i64).
inline constexpr llvm::StringLiteral kResultsAttrName = "attn.results";

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_EXPORTFUNCTIONS_H
