//===- Tensor.h - values of the reference interpreter --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors and scalars with their element type; every element is exact, as a double or as a 64-bit integer.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_REFERENCE_TENSOR_H
#define ATTN_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <vector>

namespace attn::reference {

/// One element: `real` of a float type, `integer` of an integer type or index. Integers are sign-extended to 64 bits,
/// i1 is 0 or 1.
union Scalar {
  double real;
  int64_t integer;
};

/// A dense tensor in row-major order; a scalar is a tensor of rank 0.
struct Tensor {
  /// A float type of at most 64 bits, an integer type of at most 64 bits, or index.
  mlir::Type elementType;
  std::vector<int64_t> shape;
  /// As many elements as the shape has.
  std::vector<Scalar> data;
  /// Where Options::sampleRows left elements out, or an attention's results are unspecified: 1 for each element that is
  /// known, 0 for the others. Empty: all are.
  std::vector<char> known = {};

  /// `values` are taken as they are (not rounded to the type); as many as the shape has elements.
  static Tensor fromReals(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);
  /// `values` wrap to the width of the type; as many as the shape has elements.
  static Tensor fromIntegers(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values);

  bool isReal() const { return mlir::isa<mlir::FloatType>(elementType); }
  int64_t rank() const { return shape.size(); }
  int64_t size() const { return data.size(); }
};

/// Product of the sizes; nullopt if one is negative or the product does not fit in 63 bits.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// True for the element types that a Tensor can hold.
bool isSupportedElementType(mlir::Type type);

/// Rounds to the nearest value of a float type, ties to even; beyond its range to infinity. f64 returns the value.
double roundToType(mlir::Type type, double value);

/// Distance from |value| to the next larger number of a float type; that of the smallest normal number below it, and
/// that of the largest finite number above it. value: not NaN.
double ulpOfType(mlir::Type type, double value);

/// Wraps an integer to the width of an integer type (index: 64 bits), in the form that Scalar has.
int64_t wrapToType(mlir::Type type, int64_t value);

} // namespace attn::reference

#endif // ATTN_REFERENCE_TENSOR_H
