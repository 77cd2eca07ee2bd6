//===- KeptDims.cpp - dimensions that a slice keeps ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Canonicalization/KeptDims.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

FailureOr<SmallVector<int64_t>> attn::findKeptDims(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept;
  size_t next = 0;
  for (int64_t size : sizes) {
    bool stays = next < shape.size() && shape[next] == size;
    if (!stays && size != 1)
      return failure();
    kept.push_back(stays ? static_cast<int64_t>(next++) : -1);
  }
  if (next != shape.size())
    return failure();
  return kept;
}
