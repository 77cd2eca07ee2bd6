//===- RegionBuilder.h - expressions as operations ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H
#define ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H

#include "Expression.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::fusion {

/// Builds the operations that compute expressions, each once, at the builder's place. Elements of tensors are
/// tensor.extract, index arithmetic is in the index type.
class RegionBuilder {
public:
  /// `values`: what is known already, indices above all.
  explicit RegionBuilder(mlir::ImplicitLocOpBuilder &builder,
                         llvm::DenseMap<ExprRef, mlir::Value> values = llvm::DenseMap<ExprRef, mlir::Value>())
      : builder(builder), values(std::move(values)) {}

  /// Every index in `e` must be among the values. The result has e's type.
  mlir::Value build(ExprRef e);
  /// The same, an integer, in another integer type.
  mlir::Value build(ExprRef e, mlir::Type type) { return convert(build(e), type); }

private:
  mlir::Value buildNew(ExprRef e);
  mlir::Value buildLinear(ExprRef e);
  mlir::Value buildApply(ExprRef e);
  mlir::Value convert(mlir::Value integer, mlir::Type type);
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, value); }

  mlir::ImplicitLocOpBuilder &builder;
  llvm::DenseMap<ExprRef, mlir::Value> values;
};

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_REGIONBUILDER_H
