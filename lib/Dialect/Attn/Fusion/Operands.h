//===- Operands.h - contractions and what they contract ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_OPERANDS_H
#define ATTN_DIALECT_ATTN_FUSION_OPERANDS_H

#include "Elements.h"

namespace attn::fusion {

/// A product of scalars that depend on no index.
struct Scale {
  double constant = 1;
  /// Factors that only the run knows, and whether they divide.
  llvm::SmallVector<std::pair<ExprRef, bool>> factors;

  void multiply(const Scale &other);
};

/// A tensor and the indices at which it is read, times scale.
struct Operand {
  mlir::Value tensor;
  llvm::SmallVector<ExprRef> indices;
  Scale scale;
  /// Not null: the tensor is read in part, for it repeats the elements of this one.
  mlir::Value repeated = {};

  mlir::Type getElementType() const { return mlir::cast<mlir::ShapedType>(tensor.getType()).getElementType(); }
};

/// sum over `dims` of scale * left * right.
struct Contraction {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<ExprRef> dims;
  ExprRef left = nullptr, right = nullptr;
  Scale scale;
};

/// The contraction that computes an Element leaf: a sum of products, or of a tensor that is one.
std::optional<Contraction> openContraction(Elements &elements, ExprRef leaf);

/// If an expression is a scalar that depends on no index, multiplies (or divides) `scale` by it.
bool takeScalar(Elements &elements, ExprRef e, bool isDivisor, Scale &scale);

/// The same element further and further towards the graph's start: through views, conversions to wider types and, where
/// `allowScale`, scalar factors. The first is the operand itself.
llvm::SmallVector<Operand> peel(Elements &elements, ExprRef element, bool allowScale);

/// Reads the operand at 0 along the dimensions that its tensor is the same along, as far as the op that makes it tells.
/// Only those that are not empty. `source` is what it repeats.
void readOnce(Elements &elements, Operand &operand, mlir::Value source);

/// One dimension of a tensor, as the indices that make up its own, outer first; none where it is read at one place.
struct Axis {
  llvm::SmallVector<ExprRef, 2> atoms;
  int64_t offset = 0;
};

/// An index as a mixed radix number of indices; nullopt where it is none.
std::optional<Axis> getAxis(Expressions &expressions, ExprRef index);

/// How the operand's dimensions are indexed, if each is a mixed radix number of indices and no index is met twice.
std::optional<llvm::SmallVector<Axis>> getAxes(Expressions &expressions, const Operand &operand);

/// False if some of the tensor's elements are known not to be read.
bool isReadWhole(Elements &elements, const Operand &operand);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_OPERANDS_H
