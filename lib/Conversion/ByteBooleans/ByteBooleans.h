//===- ByteBooleans.h - booleans in memory -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_CONVERSION_BYTEBOOLEANS_BYTEBOOLEANS_H
#define ATTN_LIB_CONVERSION_BYTEBOOLEANS_BYTEBOOLEANS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Elements of boolean tensors are bytes, of which any but 0 is true: reads of i1 in the llvm dialect compare a byte
/// with 0, writes store 0 or 1. (To LLVM only 0 and 1 have a meaning in the byte of an i1.) Refuses vectors of i1 in
/// memory other than the stack frame's own, which have bits.
mlir::LogicalResult storeBooleansAsBytes(mlir::Operation *root);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_BYTEBOOLEANS_BYTEBOOLEANS_H
