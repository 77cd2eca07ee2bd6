//===- Elements.h - the elements of the caller's tensors ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_ELEMENTS_H
#define ATTN_LIB_API_ELEMENTS_H

#include "attn/API/Tensor.h"
#include "attn/Reference/Tensor.h"

namespace attn {

/// The elements of a view in row-major order. Its sizes have a countable product.
reference::Tensor readTensor(const TensorView &view, mlir::Type elementType);

} // namespace attn

#endif // ATTN_LIB_API_ELEMENTS_H
