//===- DeadRows.h - which rows keep no key -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_DEADROWS_H
#define ATTN_DIALECT_ATTN_FUSION_DEADROWS_H

#include "Elements.h"

namespace attn::fusion {

/// An i1 tensor with a dimension for each of `rows`: whether `keep` holds for none of `keys`, which are reduced over.
/// The indices in `keep` are among both. One linalg.generic, at the builder's place.
mlir::Value buildDeadRows(mlir::ImplicitLocOpBuilder &builder, Elements &elements, ExprRef keep,
                          llvm::ArrayRef<ExprRef> rows, llvm::ArrayRef<ExprRef> keys);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_DEADROWS_H
