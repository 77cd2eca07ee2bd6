//===- KeptDims.h - dimensions that a slice keeps ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_CANONICALIZATION_KEPTDIMS_H
#define ATTN_DIALECT_ATTN_CANONICALIZATION_KEPTDIMS_H

#include "mlir/Support/LLVM.h"

namespace attn {

/// For each size of a view its place in the result's shape, -1 for the dropped ones. Sizes that are not 1 stay, and of
/// those that are 1 the first that fit: nothing tells them apart but strides, by which one element is not found. Fails
/// where the shape is not a part of the sizes.
mlir::FailureOr<mlir::SmallVector<int64_t>> findKeptDims(mlir::ArrayRef<int64_t> sizes, mlir::ArrayRef<int64_t> shape);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_CANONICALIZATION_KEPTDIMS_H
