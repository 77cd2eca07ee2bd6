//===- Array.h - tensors that the tools own -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_ARRAY_H
#define ATTN_TOOLS_SUPPORT_ARRAY_H

#include "attn/attn.h"

namespace attn::tool {

/// A dense row-major tensor with memory of its own, aligned to 64 bytes.
class Array {
public:
  Array() = default;
  /// Zeros. An error where the bytes exceed 63 bits or cannot be had; sizes are at least 0.
  static Result<Array> create(DType dtype, std::vector<int64_t> sizes);

  DType dtype() const { return elementType; }
  const std::vector<int64_t> &sizes() const { return shape; }
  /// Number of elements.
  int64_t size() const { return count; }
  int64_t bytes() const { return count * byteSize(elementType); }
  char *data() { return memory.get(); }
  const char *data() const { return memory.get(); }

  MutableTensorView view() { return {memory.get(), elementType, shape, rowMajorStrides(shape), count}; }
  TensorView view() const { return {memory.get(), elementType, shape, rowMajorStrides(shape), count}; }

  /// An element by row-major position as a number; integers above 2^53 lose digits.
  double number(int64_t position) const;
  /// Rounds a number to the element type and stores it; integers are truncated and must be in range.
  void setNumber(int64_t position, double value);
  /// For integer types, exact.
  int64_t integer(int64_t position) const;
  void setInteger(int64_t position, int64_t value);

private:
  struct Free {
    void operator()(char *pointer) const;
  };
  DType elementType = DType::F32;
  std::vector<int64_t> shape;
  int64_t count = 0;
  std::unique_ptr<char, Free> memory;
};

/// "2x3xf32", "f32" for rank 0.
std::string describe(DType dtype, const std::vector<int64_t> &sizes);

/// The sizes in "2x3", none for ""; nullopt for anything else.
std::optional<std::vector<int64_t>> parseSizes(std::string_view text);

/// An InvalidArgument error of the tool.
Error usageError(std::string message);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_ARRAY_H
