//===- Array.cpp - tensors that the tools own --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Array.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdlib>

using namespace attn;
using namespace attn::tool;

Error tool::usageError(std::string message) { return {ErrorCode::InvalidArgument, std::move(message), {}}; }

std::string tool::describe(DType dtype, const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (size == dynamicSize ? "?" : std::to_string(size)) + "x";
  return text + toString(dtype);
}

void Array::Free::operator()(char *pointer) const { std::free(pointer); }

Result<Array> Array::create(DType dtype, std::vector<int64_t> sizes) {
  constexpr int64_t alignment = 64;
  Array array;
  array.elementType = dtype;
  array.count = 1;
  bool isEmpty = false, overflows = false;
  for (int64_t size : sizes) {
    isEmpty |= size == 0;
    overflows |= __builtin_mul_overflow(array.count, size, &array.count);
  }
  if (isEmpty)
    array.count = 0;
  int64_t bytes = 0;
  if ((overflows && !isEmpty) || __builtin_mul_overflow(array.count, byteSize(dtype), &bytes) ||
      __builtin_add_overflow(bytes, alignment, &bytes))
    return usageError("a tensor of " + describe(dtype, sizes) + " exceeds 63 bits of bytes");
  array.shape = std::move(sizes);
  // aligned_alloc wants a multiple of the alignment; one unit more keeps empty tensors' data valid.
  bytes = bytes / alignment * alignment;
  array.memory.reset(static_cast<char *>(std::aligned_alloc(alignment, bytes)));
  if (!array.memory)
    return Error{ErrorCode::OutOfMemory,
                 "no memory for a tensor of " + describe(dtype, array.shape) + " (" + std::to_string(bytes) + " bytes)",
                 {}};
  std::memset(array.memory.get(), 0, bytes);
  return array;
}

std::optional<std::vector<int64_t>> tool::parseSizes(std::string_view text) {
  std::vector<int64_t> sizes;
  if (text.empty())
    return sizes;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, 'x');
  for (llvm::StringRef part : parts) {
    int64_t size;
    if (part.getAsInteger(10, size) || size < 0)
      return std::nullopt;
    sizes.push_back(size);
  }
  return sizes;
}

template <typename T> static T load(const char *data, int64_t position) {
  T value;
  std::memcpy(&value, data + position * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(char *data, int64_t position, T value) {
  std::memcpy(data + position * sizeof(T), &value, sizeof(T));
}

double Array::number(int64_t position) const {
  switch (elementType) {
  case DType::F16:
    return static_cast<float>(load<Float16>(data(), position));
  case DType::BF16:
    return static_cast<float>(load<BFloat16>(data(), position));
  case DType::F32:
    return load<float>(data(), position);
  case DType::F64:
    return load<double>(data(), position);
  default:
    return static_cast<double>(integer(position));
  }
}

void Array::setNumber(int64_t position, double value) {
  switch (elementType) {
  case DType::F16:
    return store(data(), position, Float16(static_cast<float>(value)));
  case DType::BF16:
    return store(data(), position, BFloat16(static_cast<float>(value)));
  case DType::F32:
    return store(data(), position, static_cast<float>(value));
  case DType::F64:
    return store(data(), position, value);
  default:
    return setInteger(position, static_cast<int64_t>(value));
  }
}

int64_t Array::integer(int64_t position) const {
  switch (elementType) {
  case DType::I1:
  case DType::I8:
    return load<int8_t>(data(), position);
  case DType::I16:
    return load<int16_t>(data(), position);
  case DType::I32:
    return load<int32_t>(data(), position);
  default:
    return load<int64_t>(data(), position);
  }
}

void Array::setInteger(int64_t position, int64_t value) {
  switch (elementType) {
  case DType::I1:
  case DType::I8:
    return store(data(), position, static_cast<int8_t>(value));
  case DType::I16:
    return store(data(), position, static_cast<int16_t>(value));
  case DType::I32:
    return store(data(), position, static_cast<int32_t>(value));
  default:
    return store(data(), position, value);
  }
}
