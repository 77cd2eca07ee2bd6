//===- RegionBuilder.h - expressions as operations ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H
#define ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H

#include "Expression.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::fusion {

/// Builds the operations that compute expressions, each once, at the builder's place. Elements of tensors are
/// tensor.extract, index arithmetic is in the index type. What the graph reads under a condition alone is read always:
/// at an index that is inside, of a tensor that has elements.
class RegionBuilder {
public:
  /// `values`: what is known already, indices above all.
  RegionBuilder(mlir::ImplicitLocOpBuilder &builder, Expressions &expressions,
                llvm::DenseMap<ExprRef, mlir::Value> values = llvm::DenseMap<ExprRef, mlir::Value>())
      : builder(builder), expressions(expressions), values(std::move(values)) {}

  /// Every index in `e` must be among the values. The result has e's type.
  mlir::Value build(ExprRef e);
  /// The same, an integer, in another integer type.
  mlir::Value build(ExprRef e, mlir::Type type) { return convert(build(e), type); }

private:
  mlir::Value buildNew(ExprRef e);
  mlir::Value buildLinear(ExprRef e);
  mlir::Value buildApply(ExprRef e);
  mlir::Value buildElement(ExprRef e);
  mlir::Value clamp(mlir::Value index, mlir::Value tensor, int64_t dimension);
  /// The tensor, or where it has no elements another one that has.
  mlir::Value withElements(mlir::Value tensor);
  mlir::Value convert(mlir::Value integer, mlir::Type type);
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, value); }

  mlir::ImplicitLocOpBuilder &builder;
  Expressions &expressions;
  llvm::DenseMap<ExprRef, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::Value> filled;
};

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H
