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
  if (std::optional<int64_t> size = op ? sizeOfView(op, dimension) : std::nullopt)
    return size;
  if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return sizeOf(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dimension);
  // Elementwise operations on whole tensors have the shape of any operand.
  if (op && op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return sizeOf(operand, dimension);
  return std::nullopt;
}

/// Of the tensor ops that give the elements of another tensor other places.
std::optional<int64_t> SizeEvaluator::sizeOfView(Operation *op, unsigned dimension) const {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return valueOf(expand.getMixedOutputShape()[dimension]);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    int64_t product = 1;
    // By value: a loop over an element of the temporary list would read it after its end.
    ReassociationIndices group = collapse.getReassociationIndices()[dimension];
    for (int64_t joined : group) {
      std::optional<int64_t> size = sizeOf(collapse.getSrc(), joined);
      if (!size || __builtin_mul_overflow(product, *size, &product))
        return std::nullopt;
    }
    return product;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned kept = 0;
    for (auto [k, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(k) && kept++ == dimension)
        return valueOf(size);
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    auto low = valueOf(pad.getMixedLowPad()[dimension]), high = valueOf(pad.getMixedHighPad()[dimension]);
    auto size = sizeOf(pad.getSource(), dimension);
    return low && high && size ? std::optional(*low + *size + *high) : std::nullopt;
  }
  auto concat = dyn_cast<tensor::ConcatOp>(op);
  return concat ? sizeOfJoined(concat, dimension) : std::nullopt;
}

std::optional<int64_t> SizeEvaluator::sizeOfJoined(tensor::ConcatOp op, unsigned dimension) const {
  if (dimension != op.getDim())
    return sizeOf(op.getInputs().front(), dimension);
  int64_t sum = 0;
  for (Value input : op.getInputs()) {
    std::optional<int64_t> size = sizeOf(input, dimension);
    if (!size || __builtin_add_overflow(sum, *size, &sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> SizeEvaluator::valueOf(OpFoldResult size) const {
  if (auto value = dyn_cast<Value>(size))
    return valueOf(value);
  return cast<IntegerAttr>(cast<Attribute>(size)).getInt();
}

std::optional<int64_t> SizeEvaluator::valueOfMap(affine::AffineApplyOp op) const {
  Builder builder(op.getContext());
  SmallVector<Attribute> operands, results;
  for (Value operand : op.getMapOperands()) {
    std::optional<int64_t> value = valueOf(operand);
    if (!value)
      return std::nullopt;
    operands.push_back(builder.getIndexAttr(*value));
  }
  if (failed(op.getAffineMap().constantFold(operands, results)))
    return std::nullopt;
  return cast<IntegerAttr>(results.front()).getInt();
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
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op))
    return valueOfMap(apply);
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
