//===- SizeEvaluator.h - sizes that follow from a call's inputs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_SIZEEVALUATOR_H
#define ATTN_LIB_API_SIZEEVALUATOR_H

#include "attn/API/Tensor.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace attn {

/// Works out sizes of tensors in a function from the sizes and scalars that it is called with, without changing the
/// function. nullopt wherever an operation is not known to it.
class SizeEvaluator {
public:
  /// inputs: one for each argument of the function, of its type.
  SizeEvaluator(mlir::func::FuncOp function, const std::vector<Argument> &inputs)
      : function(function), inputs(inputs) {}

  /// The size of one dimension of a ranked tensor.
  std::optional<int64_t> sizeOf(mlir::Value tensor, unsigned dimension) const;

  /// The value of an integer or index.
  std::optional<int64_t> valueOf(mlir::Value integer) const;

private:
  std::optional<int64_t> valueOf(mlir::OpFoldResult size) const;
  std::optional<int64_t> sizeOfView(mlir::Operation *op, unsigned dimension) const;
  std::optional<int64_t> sizeOfJoined(mlir::tensor::ConcatOp op, unsigned dimension) const;
  std::optional<int64_t> valueOfMap(mlir::affine::AffineApplyOp op) const;
  std::optional<int64_t> valueOfBinary(mlir::Operation *op) const;
  std::optional<int64_t> valueOfRecord(TileClassesSizeOp op) const;
  const Argument *argumentOf(mlir::Value value) const;

  mutable mlir::func::FuncOp function; // Ops are handles, whose methods are not const.
  const std::vector<Argument> &inputs;
};

} // namespace attn

#endif // ATTN_LIB_API_SIZEEVALUATOR_H
