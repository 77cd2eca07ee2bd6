//===- KnownSlice.cpp - values of a function that are known here -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownSlice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Given arguments
//===----------------------------------------------------------------------===//

/// The shape with its one dynamic size worked out from the number of elements; nullopt where it cannot hold them.
static std::optional<SmallVector<int64_t>> fitShape(ArrayRef<int64_t> shape, int64_t elements) {
  SmallVector<int64_t> fitted(shape);
  int64_t known = 1;
  for (int64_t size : shape)
    known *= ShapedType::isDynamic(size) ? 1 : size;
  auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
  if (llvm::count_if(shape, isDynamic) > 1 || known == 0 || elements % known)
    return std::nullopt;
  for (int64_t &size : fitted)
    if (isDynamic(size))
      size = elements / known;
  return ShapedType::getNumElements(fitted) == elements ? std::optional(fitted) : std::nullopt;
}

static bool fitsType(Type element, int64_t value) {
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return width >= 64 || llvm::isIntN(width, value) || llvm::isUIntN(width, value);
}

FailureOr<Type> attn::typeOfValues(AttentionOp op, unsigned position, Type type, ArrayRef<int64_t> values) {
  Type element = getElementTypeOrSelf(type);
  auto fail = [&](const Twine &expected) {
    return op.emitOpError("expects ") << expected << " for argument " << position << " of type " << type;
  };
  if (!element.isIntOrIndex())
    return fail("no values"), failure();
  for (int64_t value : values)
    if (!fitsType(element, value))
      return fail("values that " + Twine(element.getIntOrFloatBitWidth()) + " bits hold, but got " + Twine(value)),
             failure();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped && values.size() == 1)
    return type;
  auto shape = shaped ? fitShape(shaped.getShape(), values.size()) : std::nullopt;
  if (!shape)
    return fail("as many values as it has elements, but got " + Twine(values.size())), failure();
  return Type(RankedTensorType::get(*shape, element));
}

/// A constant of integers.
static Value buildConstant(ImplicitLocOpBuilder &b, Type type, ArrayRef<int64_t> values) {
  Type element = getElementTypeOrSelf(type);
  SmallVector<Attribute> elements = llvm::map_to_vector(values, [&](int64_t value) -> Attribute {
    if (element.isIndex())
      return b.getIndexAttr(value);
    return IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), value, true, /*implicitTrunc=*/true));
  });
  auto shaped = dyn_cast<ShapedType>(type);
  TypedAttr attribute = shaped ? TypedAttr(DenseElementsAttr::get(shaped, elements)) : cast<TypedAttr>(elements[0]);
  return arith::ConstantOp::create(b, attribute);
}

const std::vector<int64_t> *KnownSlice::valuesOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = op->getParentOfType<func::FuncOp>();
  if (!argument || argument.getOwner() != &function.getBody().front())
    return nullptr;
  auto found = inputs.values.find(argument.getArgNumber());
  return found == inputs.values.end() ? nullptr : &found->second;
}

Value KnownSlice::fromArgument(ImplicitLocOpBuilder &b, BlockArgument argument) {
  const std::vector<int64_t> *values = valuesOf(argument);
  if (!values)
    return {};
  FailureOr<Type> type = typeOfValues(op, argument.getArgNumber(), argument.getType(), *values);
  return failed(type) ? Value() : buildConstant(b, *type, *values);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<int64_t> KnownSlice::sizeOf(Value shaped, int64_t dimension) {
  auto type = dyn_cast<ShapedType>(shaped.getType());
  if (!type || !type.hasRank() || dimension < 0 || dimension >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  const std::tuple<Value, AffineMap, int64_t> operands[] = {{op.getQuery(), op.getQueryMap(), sizes.queryLen},
                                                            {op.getOut(), op.getOutMap(), sizes.queryLen},
                                                            {op.getKey(), op.getKeyMap(), sizes.kvLen},
                                                            {op.getValue(), op.getValueMap(), sizes.kvLen}};
  for (auto [k, operand] : llvm::enumerate(operands)) {
    auto [value, map, length] = operand;
    if (value != shaped)
      continue;
    if (findLayoutDim(map, kBatchDim) == dimension)
      return sizes.batch;
    if (findLayoutDim(map, kLengthDim) == dimension)
      return length;
    if (k < 2 && findLayoutDim(map, kHeadDim) == dimension)
      return sizes.heads;
  }
  if (shaped == op.getKvLengths())
    return sizes.batch;
  const std::vector<int64_t> *values = valuesOf(shaped);
  auto shape = values ? fitShape(type.getShape(), values->size()) : std::nullopt;
  return shape ? std::optional((*shape)[dimension]) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

std::optional<std::pair<Value, int64_t>> attn::matchDim(Operation *op) {
  if (!isa<tensor::DimOp, memref::DimOp>(op))
    return std::nullopt;
  std::optional<int64_t> dimension = getConstantIntValue(op->getOperand(1));
  return dimension ? std::optional(std::pair(op->getOperand(0), *dimension)) : std::nullopt;
}

Value KnownSlice::fromOperation(ImplicitLocOpBuilder &b, OpResult value) {
  Operation *from = value.getOwner();
  if (auto dim = matchDim(from))
    if (std::optional<int64_t> size = sizeOf(dim->first, dim->second))
      return arith::ConstantIndexOp::create(b, *size);
  auto load = dyn_cast<memref::LoadOp>(from);
  if (!load && !isMemoryEffectFree(from))
    return unknownValues.insert(value), Value();
  llvm::SetVector<Value> needed(from->operand_begin(), from->operand_end());
  getUsedValuesDefinedAbove(from->getRegions(), needed);
  bool isKnown = true;
  for (Value operand : needed)
    isKnown &= static_cast<bool>(get(b, operand));
  if (!isKnown)
    return {};
  if (load) {
    SmallVector<Value> indices = llvm::map_to_vector(load.getIndices(), [&](Value v) { return mapping.lookup(v); });
    return tensor::ExtractOp::create(b, mapping.lookup(load.getMemref()), indices);
  }
  b.clone(*from, mapping);
  return mapping.lookup(value);
}

Value KnownSlice::compute(ImplicitLocOpBuilder &b, Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return fromOperation(b, result);
  Value constant = fromArgument(b, cast<BlockArgument>(value));
  if (!constant)
    unknownValues.insert(value);
  return constant;
}

Value KnownSlice::get(ImplicitLocOpBuilder &b, Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value clone = compute(b, value);
  if (clone)
    mapping.map(value, clone);
  return clone;
}
