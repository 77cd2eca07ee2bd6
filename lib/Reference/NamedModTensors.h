//===- NamedModTensors.h - captured tensors of named mods ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the formulas in NamedMasks.cpp and NamedScores.cpp read.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_NAMEDMODTENSORS_H
#define ATTN_LIB_REFERENCE_NAMEDMODTENSORS_H

#include "NamedMods.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <array>

namespace attn::reference {

/// A tensor whose dimensions are the last ones of a list of letters; an absent or broadcast dimension has stride 0.
struct Table {
  TensorPtr tensor;
  llvm::SmallVector<int64_t> strides;

  template <typename... Ts> Scalar at(Ts... indices) const {
    int64_t offset = 0, k = 0;
    ((offset += strides[k++] * indices), ...);
    return tensor->data[offset];
  }
};

/// Binds the captured tensors of one mod and notes the first error.
class Captures {
public:
  /// `sizes`: batch, heads, queryLen, kvLen.
  Captures(const Frame &frame, const NamedMod &mod, llvm::ArrayRef<int64_t> sizes, std::string &error)
      : frame(frame), mod(mod), sizes(sizes), error(error) {}

  /// Captured tensor `number`, whose dimensions are the last ones of `letters` (b, h, i, j, or '*' for `own`, where -1
  /// is any size of at least 1). An empty table after an error.
  Table table(unsigned number, llvm::StringRef letters, int64_t own = -1);
  /// One that broadcasts to [batch, heads, queryLen, kvLen].
  Table broadcast(unsigned number);
  /// False, with an error, unless queryLen and kvLen are `length`.
  bool hasLength(int64_t length);
  bool failed() const { return !error.empty(); }

private:
  Table fail(const llvm::Twine &message) {
    error = message.str();
    return {};
  }

  const Frame &frame;
  const NamedMod &mod;
  llvm::ArrayRef<int64_t> sizes;
  std::string &error;
};

/// Where the mask or score function sees query i: an implied diagonal is that of queryLen = kvLen.
inline int64_t positionOf(Diagonal diagonal, const Point &p) {
  return p.i + (diagonal == Diagonal::BottomRight ? p.kvLen - p.queryLen : 0);
}

/// The greatest integer that is at most x / y, for y above 0.
inline int64_t floorOf(int64_t x, int64_t y) { return x / y - (x % y < 0); }

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_NAMEDMODTENSORS_H
