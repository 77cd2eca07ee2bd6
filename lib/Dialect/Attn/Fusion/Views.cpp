//===- Views.cpp - reading through ops that only move elements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

ExprRef Elements::readConstant(DenseElementsAttr values, ArrayRef<ExprRef> indices) {
  if (values.isSplat())
    return expressions.constant(cast<TypedAttr>(values.getSplatValue<Attribute>()));
  int64_t position = 0;
  for (auto [index, size] : llvm::zip_equal(indices, values.getType().getShape())) {
    std::optional<int64_t> known = index->getInteger();
    if (!known || *known < 0 || *known >= size)
      return nullptr;
    position = position * size + *known;
  }
  return expressions.constant(cast<TypedAttr>(*(values.value_begin<Attribute>() + position)));
}

ExprRef Elements::readCollapse(tensor::CollapseShapeOp op, ArrayRef<ExprRef> indices, Reader reader) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  SmallVector<ExprRef> source(shape.size(), nullptr);
  for (auto [group, given] : llvm::zip_equal(attn::getGroups(op), indices)) {
    ExprRef rest = given;
    for (int64_t dim : llvm::reverse(llvm::drop_begin(group))) {
      if (ShapedType::isDynamic(shape[dim]) || (shape[dim] != 1 && expressions.rangeOf(rest).low < 0))
        return nullptr;
      if (shape[dim] == 0)
        return nullptr;
      source[dim] = expressions.remainder(rest, shape[dim]);
      rest = expressions.quotient(rest, shape[dim]);
    }
    source[group.front()] = shape[group.front()] == 1 ? expressions.integer(0) : rest;
  }
  // A collapse to rank 0 has no group, and a source of ones.
  for (ExprRef &index : source)
    index = index ? index : expressions.integer(0);
  return reader(op.getSrc(), source);
}

ExprRef Elements::readExpand(tensor::ExpandShapeOp op, ArrayRef<ExprRef> indices, Reader reader) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<ExprRef> source;
  for (const ReassociationIndices &group : attn::getGroups(op)) {
    ExprRef index = expressions.integer(0);
    for (int64_t dim : group) {
      if (index != expressions.integer(0) && ShapedType::isDynamic(shape[dim]))
        return nullptr;
      index = expressions.add(indices[dim], index, index == expressions.integer(0) ? 0 : shape[dim]);
    }
    source.push_back(index);
  }
  return reader(op.getSrc(), source);
}

ExprRef Elements::readConcat(tensor::ConcatOp op, ArrayRef<ExprRef> indices, Reader reader) {
  // From the last input to the first: below the end of an input it is that one, else what is behind it.
  int64_t dim = op.getDim();
  if (op.getDim() >= indices.size())
    return nullptr;
  ExprRef whole = readSize(op.getResult(), dim), end = whole, result = nullptr;
  for (auto [k, input] : llvm::enumerate(llvm::reverse(op.getInputs()))) {
    ExprRef size = readSize(input, dim);
    // Of what has no elements none is read, not even at a clamped index.
    if (size->getInteger() == 0)
      continue;
    ExprRef first = expressions.add(end, size, -1);
    ExprRef isBelowEnd = compare(arith::CmpIPredicate::slt, indices[dim], end);
    ExprRef isBehind = compare(arith::CmpIPredicate::sge, indices[dim], first);
    end = first;
    if ((k != 0 && isBelowEnd->getBool() == false) || isBehind->getBool() == false)
      continue;
    SmallVector<ExprRef> source(indices);
    source[dim] = size->getInteger() == 1 ? expressions.integer(0) : expressions.add(indices[dim], first, -1);
    ExprRef element = reader(input, source);
    if (!element)
      return nullptr;
    if (size != whole)
      expressions.assumePartial(element);
    result = result ? expressions.select(isBelowEnd, element, result) : element;
  }
  return result;
}

namespace {
/// A box of a tensor: whether the indices are inside, and what they are from its corner on.
struct Box {
  ExprRef isInside;
  SmallVector<ExprRef> indices;
};
} // namespace

static Box enterBox(Elements &elements, ArrayRef<ExprRef> indices, ArrayRef<ExprRef> offsets, ArrayRef<ExprRef> sizes) {
  Expressions &expressions = elements.expressions;
  Box box{expressions.boolean(true), {}};
  for (auto [index, offset, size] : llvm::zip_equal(indices, offsets, sizes)) {
    ExprRef isBehindStart = elements.compare(arith::CmpIPredicate::sge, index, offset);
    ExprRef isBeforeEnd = elements.compare(arith::CmpIPredicate::slt, index, expressions.add(offset, size));
    box.isInside = expressions.conjunction(box.isInside, expressions.conjunction(isBehindStart, isBeforeEnd));
    box.indices.push_back(size->getInteger() == 1 ? expressions.integer(0) : expressions.add(index, offset, -1));
  }
  // Of what has no elements none is read, not even at a clamped index.
  if (llvm::any_of(sizes, [](ExprRef size) { return size->getInteger() == 0; }))
    box.isInside = expressions.boolean(false);
  return box;
}

/// Offsets or sizes, constant or not.
static SmallVector<ExprRef> readAll(Elements &elements, ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) {
    auto scalar = dyn_cast<Value>(value);
    return scalar ? elements.readScalar(scalar) : elements.expressions.integer(*getConstantIntValue(value));
  });
}

/// What is read of a tensor that is one thing inside a box and another one outside; null where the inside is not known.
static ExprRef readBox(Expressions &expressions, ExprRef isInside, llvm::function_ref<ExprRef()> readInside,
                       llvm::function_ref<ExprRef()> readOutside) {
  if (isInside->getBool() == false)
    return readOutside();
  ExprRef inside = readInside();
  if (isInside->getBool() == true || !inside)
    return inside;
  expressions.assumePartial(inside);
  ExprRef outside = readOutside();
  return outside ? expressions.select(isInside, inside, outside) : nullptr;
}

ExprRef Elements::readInsertion(tensor::InsertSliceOp op, ArrayRef<ExprRef> indices, Reader reader) {
  if (llvm::any_of(op.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
    return nullptr;
  Box box = enterBox(*this, indices, readAll(*this, op.getMixedOffsets()), readAll(*this, op.getMixedSizes()));
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<ExprRef> source;
  for (auto [k, index] : llvm::enumerate(box.indices))
    if (!dropped.test(k))
      source.push_back(index);
  return readBox(
      expressions, box.isInside, [&] { return reader(op.getSource(), source); },
      [&] { return reader(op.getDest(), indices); });
}

ExprRef Elements::readPad(tensor::PadOp op, ArrayRef<ExprRef> indices, Reader reader) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return nullptr;
  SmallVector<ExprRef> sizes;
  for (int64_t k = 0; k < op.getSourceType().getRank(); ++k)
    sizes.push_back(readSize(op.getSource(), k));
  Box box = enterBox(*this, indices, readAll(*this, op.getMixedLowPad()), sizes);
  return readBox(
      expressions, box.isInside, [&] { return reader(op.getSource(), box.indices); },
      [&] { return readScalar(padding); });
}

/// The source's indices: offset + stride * index, with the dropped dimensions at their offset.
static std::optional<SmallVector<ExprRef>> sliceIndices(Elements &elements, tensor::ExtractSliceOp op,
                                                        ArrayRef<ExprRef> indices) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<ExprRef> source;
  for (auto [k, offset] : llvm::enumerate(op.getMixedOffsets())) {
    if (ShapedType::isDynamic(op.getStaticStrides()[k]))
      return std::nullopt;
    auto value = dyn_cast<Value>(offset);
    ExprRef first = value ? elements.readScalar(value) : elements.expressions.integer(op.getStaticOffsets()[k]);
    if (!dropped.test(k)) {
      first = elements.expressions.add(first, indices.front(), op.getStaticStrides()[k]);
      indices = indices.drop_front();
    }
    source.push_back(first);
  }
  return source;
}

/// An op of arith or math on whole tensors.
ExprRef Elements::readElementwise(Operation *op, ArrayRef<ExprRef> indices, Reader reader) {
  SmallVector<ExprRef> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    operands.push_back(isTensor ? reader(operand, indices) : readScalar(operand));
    types.push_back(getElementTypeOrSelf(operand));
  }
  return expressions.apply(op, operands, getElementTypeOrSelf(op->getResult(0)), types);
}

ExprRef Elements::readThrough(Value tensor, ArrayRef<ExprRef> indices, Reader reader) {
  Operation *op = tensor.getDefiningOp();
  DenseElementsAttr constant;
  if (!op)
    return nullptr;
  if (matchPattern(op, m_Constant(&constant)))
    return readConstant(constant, indices);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return readLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), indices, reader);
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    return readElementwise(op, indices, reader);
  if (auto mask = dyn_cast<MaskOp>(op))
    return readMask(mask, indices, reader);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return readCollapse(collapse, indices, reader);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return readExpand(expand, indices, reader);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) ? reader(cast.getSource(), indices) : nullptr;
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
    return readReshape(reshape, indices, reader);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return readConcat(concat, indices, reader);
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return readInsertion(insertion, indices, reader);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return readPad(pad, indices, reader);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return readScalar(splat.getInput());
  if (auto scalars = dyn_cast<tensor::FromElementsOp>(op); scalars && scalars.getElements().size() == 1)
    return readScalar(scalars.getElements().front());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto source = sliceIndices(*this, slice, indices);
    return source ? reader(slice.getSource(), *source) : nullptr;
  }
  return nullptr;
}
