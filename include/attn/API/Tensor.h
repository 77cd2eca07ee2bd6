//===- Tensor.h - arguments of kernels ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of the caller's memory, and scalars. A view copies no elements and owns none: the memory has to stay alive and
// in place while a kernel runs on it.
//
//   std::vector<float> q(8 * 1024 * 64);
//   attn::view(q, {1, 8, 1024, 64});                                    // row-major
//   attn::view(q, {1, 8, 1024, 64}, {8 * 1024 * 64, 64, 8 * 64, 1});    // stored as [1, 1024, 8, 64]
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_API_TENSOR_H
#define ATTN_API_TENSOR_H

#include "attn/API/Float16.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace attn {

/// Element types. I1 is a byte an element: any but 0 is true, and results are 0 or 1. MLIR's `index` is I64 here. Other
/// marks types that no kernel takes.
enum class DType { F16, BF16, F32, F64, I1, I8, I16, I32, I64, Other };

/// MLIR's spelling: "f32", "i1", ... Static storage.
const char *toString(DType dtype);

/// Bytes of an element; 0 for Other.
int64_t byteSize(DType dtype);

/// True for F16, BF16, F32 and F64.
bool isFloat(DType dtype);

namespace detail {
template <typename T> constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, Float16>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BF16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::I1;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    return DType::I8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
    return DType::I16;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return DType::I32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return DType::I64;
  else
    return DType::Other;
}
} // namespace detail

/// The element type of a buffer of T: float, double, Float16, BFloat16, bool, or an integer of 8 to 64 bits.
template <typename T> inline constexpr DType dtypeOf = detail::dtypeOf<std::remove_cv_t<T>>();

/// Elements in memory: element (i0, i1, ...) lies at data + sum(i * stride) elements. Nothing is checked before a
/// kernel is run on it; Kernel::run says what it wants.
struct TensorView {
  /// Element (0, 0, ...). May be null where a size is 0.
  const void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  /// In elements, as many as sizes.
  std::vector<int64_t> strides;
  /// Elements from `data` to the end of the memory where the view was made from a container, else -1 (not known).
  int64_t capacity = -1;
};

/// A view that a kernel may write. Converts to TensorView.
struct MutableTensorView {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t capacity = -1;

  operator TensorView() const { return {data, dtype, sizes, strides, capacity}; }
};

/// Strides of a dense row-major tensor, in elements. The largest int64_t where a product does not fit.
std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &sizes);

/// A view of raw memory with strides in elements.
template <typename T> auto view(T *data, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  static_assert(dtypeOf<T> != DType::Other, "no tensor has elements of this type");
  using View = std::conditional_t<std::is_const_v<T>, TensorView, MutableTensorView>;
  return View{data, dtypeOf<T>, std::move(sizes), std::move(strides), -1};
}

/// A view of dense row-major memory.
template <typename T> auto view(T *data, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = rowMajorStrides(sizes);
  return view(data, std::move(sizes), std::move(strides));
}

/// A view of a container with data() and size(), such as std::vector. That the tensor fits into it is checked when a
/// kernel runs. The container must outlive the view and keep its memory.
template <typename Container, typename = decltype(std::declval<Container &>().data())>
auto view(Container &container, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  auto result = view(container.data(), std::move(sizes), std::move(strides));
  result.capacity = static_cast<int64_t>(container.size());
  return result;
}

template <typename Container, typename = decltype(std::declval<Container &>().data())>
auto view(Container &container, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = rowMajorStrides(sizes);
  return view(container, std::move(sizes), std::move(strides));
}

/// One input of a kernel: a view, or a scalar. Scalars are given as any C++ number of the right kind: floating-point
/// numbers for f16 to f64 (rounded to the argument's type; a finite number must stay finite), integers for i8 to i64
/// and index (the value must fit), bool for i1.
class Argument {
public:
  enum class Kind { Tensor, Float, Integer, Bool };

  Argument(TensorView view) : tensorView(std::move(view)) {}
  Argument(const MutableTensorView &view) : tensorView(view) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Argument(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      argumentKind = Kind::Bool;
      integerValue = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      argumentKind = Kind::Float;
      floatValue = static_cast<double>(value);
    } else {
      static_assert(sizeof(T) <= 8, "integers have at most 64 bits");
      argumentKind = Kind::Integer;
      isUnsigned = std::is_unsigned_v<T> && sizeof(T) == 8;
      integerValue = static_cast<int64_t>(value);
    }
  }
  Argument(Float16 value) : Argument(static_cast<float>(value)) {}
  Argument(BFloat16 value) : Argument(static_cast<float>(value)) {}

  Kind kind() const { return argumentKind; }
  /// The view; only for Kind::Tensor.
  const TensorView &tensor() const { return tensorView; }
  /// The number; only for Kind::Float.
  double asFloat() const { return floatValue; }
  /// The number; only for Kind::Integer and Kind::Bool.
  int64_t asInteger() const { return integerValue; }
  /// True if the integer was given as an unsigned 64-bit one above the largest int64_t.
  bool exceedsInt64() const { return isUnsigned && integerValue < 0; }

private:
  Kind argumentKind = Kind::Tensor;
  bool isUnsigned = false;
  TensorView tensorView;
  double floatValue = 0;
  int64_t integerValue = 0;
};

} // namespace attn

#endif // ATTN_API_TENSOR_H
