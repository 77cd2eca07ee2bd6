//===- SizeEvaluator.cpp - sizes that follow from a call's inputs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include <limits>

using namespace attn;
using namespace mlir;

const Argument *SizeEvaluator::argumentOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.front())
    return nullptr;
  return &inputs[argument.getArgNumber()];
}

std::optional<int64_t> SizeEvaluator::sizeOf(Value tensor, unsigned dimension) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  if (const Argument *argument = argumentOf(tensor))
    return argument->tensor().sizes[dimension];
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op)) {
    std::optional<int64_t> size = valueOf(empty.getDynamicSizes()[empty.getType().getDynamicDimIndex(dimension)]);
    // The run reports a negative one.
    return size && *size < 0 ? std::nullopt : size;
  }
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) ? sizeOf(cast.getSource(), dimension) : std::nullopt;
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return sizeOf(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dimension);
  // Elementwise operations on whole tensors have the shape of any operand.
  if (op && op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return sizeOf(operand, dimension);
  return std::nullopt;
}

std::optional<int64_t> SizeEvaluator::valueOf(Value integer) const {
  APInt constant;
  if (matchPattern(integer, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (const Argument *argument = argumentOf(integer))
    return argument->asInteger();
  Operation *op = integer.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    std::optional<int64_t> position = valueOf(dim.getIndex());
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!position || !type || *position < 0 || *position >= type.getRank())
      return std::nullopt;
    return sizeOf(dim.getSource(), *position);
  }
  if (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op))
    return valueOf(op->getOperand(0));
  if (auto size = dyn_cast_or_null<TileClassesSizeOp>(op))
    return valueOfRecord(size);
  return op && op->getNumOperands() == 2 ? valueOfBinary(op) : std::nullopt;
}

std::optional<int64_t> SizeEvaluator::valueOfRecord(TileClassesSizeOp op) const {
  SmallVector<int64_t> sizes;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> size = valueOf(operand);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return countTileRecordWords(sizes, op.getQueryTile(), op.getKvTile());
}

std::optional<std::vector<int64_t>> SizeEvaluator::elementsOf(Value vector) const {
  const Argument *argument = argumentOf(vector);
  if (!argument || !argument->tensor().data)
    return std::nullopt;
  const TensorView &view = argument->tensor();
  std::vector<int64_t> elements;
  for (int64_t n = 0; n < view.sizes[0]; ++n) {
    int64_t at = n * view.strides[0];
    elements.push_back(view.dtype == DType::I32 ? static_cast<const int32_t *>(view.data)[at]
                                                : static_cast<const int64_t *>(view.data)[at]);
  }
  return elements;
}

std::optional<int64_t> SizeEvaluator::valueOfBinary(Operation *op) const {
  std::optional<int64_t> lhs = valueOf(op->getOperand(0)), rhs = valueOf(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result;
  if (isa<arith::AddIOp>(op))
    return __builtin_add_overflow(*lhs, *rhs, &result) ? std::nullopt : std::optional(result);
  if (isa<arith::SubIOp>(op))
    return __builtin_sub_overflow(*lhs, *rhs, &result) ? std::nullopt : std::optional(result);
  if (isa<arith::MulIOp>(op))
    return __builtin_mul_overflow(*lhs, *rhs, &result) ? std::nullopt : std::optional(result);
  if (isa<arith::MinSIOp>(op))
    return std::min(*lhs, *rhs);
  if (isa<arith::MaxSIOp>(op))
    return std::max(*lhs, *rhs);
  // Of non-negative numbers, which sizes are, all kinds of division agree.
  if (*lhs < 0 || *rhs <= 0)
    return std::nullopt;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op))
    return *lhs / *rhs;
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return *lhs / *rhs + (*lhs % *rhs != 0);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return *lhs % *rhs;
  return std::nullopt;
}
