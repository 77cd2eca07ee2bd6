//===- Lanes.cpp - score and mask regions over query lanes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's linalg vectoriser has no memref.load, makes 64-bit lanes of every index and gathers every captured read,
// uniform ones too; so this is our own, some hundred lines.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/VectorInterfaces.h"

using namespace mlir;
using namespace attn;
using namespace attn::lanes;

//===----------------------------------------------------------------------===//
// Rows of a tile
//===----------------------------------------------------------------------===//

Value TileRows::head(ImplicitLocOpBuilder &b, Value row) const {
  if (group == 1)
    return h;
  Value heads = arith::ConstantIndexOp::create(b, group);
  return arith::AddIOp::create(b, h, arith::RemUIOp::create(b, row, heads));
}

Value TileRows::query(ImplicitLocOpBuilder &b, Value row) const {
  Value heads = arith::ConstantIndexOp::create(b, group);
  return arith::AddIOp::create(b, i0, group == 1 ? row : arith::DivUIOp::create(b, row, heads).getResult());
}

/// convert-attn-to-flash has checked that lengths and heads fit in 31 bits.
static Value everywhere(ImplicitLocOpBuilder &b, VectorType type, Value index) {
  return vector::BroadcastOp::create(b, type, Value(arith::IndexCastOp::create(b, b.getI32Type(), index)));
}

/// The rows of a chunk, none behind the last valid one.
static Value laneRows(ImplicitLocOpBuilder &b, VectorType type, Value lane, Value rows) {
  SmallVector<int32_t> iota(type.getDimSize(0));
  std::iota(iota.begin(), iota.end(), 0);
  Value offsets = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(iota)));
  Value last = arith::SubIOp::create(b, rows, arith::ConstantIndexOp::create(b, 1));
  Value inTile = arith::AddIOp::create(b, everywhere(b, type, lane), offsets);
  return arith::MinSIOp::create(b, inTile, everywhere(b, type, last));
}

Value TileRows::laneHeads(ImplicitLocOpBuilder &b, int64_t lanes, Value lane) const {
  if (group == 1)
    return h;
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value heads = arith::ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<int32_t>(group)));
  Value inGroup = arith::RemUIOp::create(b, laneRows(b, type, lane, rows), heads);
  return arith::AddIOp::create(b, everywhere(b, type, h), inGroup);
}

Value TileRows::laneQueries(ImplicitLocOpBuilder &b, int64_t lanes, Value lane) const {
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value queries = laneRows(b, type, lane, rows);
  if (group > 1) {
    Value heads = arith::ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<int32_t>(group)));
    queries = arith::DivUIOp::create(b, queries, heads);
  }
  return arith::AddIOp::create(b, everywhere(b, type, i0), queries);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

RegionRanges lanes::rangesOfTiledRegion(Region &region) {
  RegionRanges ranges;
  for (BlockArgument argument : region.getArguments().take_back(4))
    ranges.assume(argument, 0, kMaxExtent - 1);
  return ranges;
}

bool LaneCloner::isLaned(Value value) { return isa<VectorType>(map.lookupOrDefault(value).getType()); }

unsigned LaneCloner::indexBits(Value value) {
  return ranges.isWithin(value, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()) ? 32 : 64;
}

Type LaneCloner::laneType(Type scalar, unsigned indexBits) {
  return VectorType::get({lanes}, scalar.isIndex() ? b.getIntegerType(indexBits) : scalar);
}

/// Sign-extends or truncates integer lanes; the caller knows that the values fit.
Value LaneCloner::resize(Value vector, unsigned bits) {
  auto type = cast<VectorType>(vector.getType());
  unsigned from = type.getElementTypeBitWidth();
  Type to = VectorType::get(type.getShape(), b.getIntegerType(bits));
  if (from < bits)
    return arith::ExtSIOp::create(b, to, vector);
  if (from > bits)
    return arith::TruncIOp::create(b, to, vector);
  return vector;
}

/// The value as a vector; index lanes of the given width.
Value LaneCloner::widen(Value value, unsigned indexBits) {
  Value mapped = map.lookupOrDefault(value);
  bool isIndex = value.getType().isIndex();
  if (isa<VectorType>(mapped.getType()))
    return isIndex ? resize(mapped, indexBits) : mapped;
  if (isIndex)
    mapped = arith::IndexCastOp::create(b, b.getIntegerType(indexBits), mapped);
  return vector::BroadcastOp::create(b, laneType(value.getType(), indexBits), mapped);
}

void LaneCloner::cloneIndexCast(Operation &op, bool isSigned) {
  Value operand = op.getOperand(0), result = op.getResult(0);
  Value lanesIn = map.lookup(operand);
  unsigned bits = result.getType().isIndex() ? indexBits(result) : result.getType().getIntOrFloatBitWidth();
  unsigned from = cast<VectorType>(lanesIn.getType()).getElementTypeBitWidth();
  // An unsigned cast of a narrower value extends with zeros; lanes of type index hold the signed 64-bit value.
  if (!isSigned && !operand.getType().isIndex() && from < bits) {
    map.map(result, arith::ExtUIOp::create(b, VectorType::get({lanes}, b.getIntegerType(bits)), lanesIn));
    return;
  }
  map.map(result, resize(lanesIn, bits));
}

/// A captured load with an index that differs by lane: a gather over the flat memory of the memref. Offsets have 64
/// bits, whatever the lanes have.
void LaneCloner::cloneLoad(memref::LoadOp load) {
  MemRefType type = load.getMemRefType();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, map.lookupOrDefault(load.getMemref()));
  auto offsets = VectorType::get({lanes}, b.getI64Type());
  Value uniform = arith::ConstantIndexOp::create(b, 0), varying;
  for (auto [index, stride] : llvm::zip(load.getIndices(), metadata.getStrides())) {
    if (!isLaned(index)) {
      uniform = arith::AddIOp::create(b, uniform, arith::MulIOp::create(b, map.lookupOrDefault(index), stride));
      continue;
    }
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), stride);
    Value term = arith::MulIOp::create(b, widen(index, 64), vector::BroadcastOp::create(b, offsets, wide));
    varying = varying ? arith::AddIOp::create(b, varying, term) : term;
  }
  auto flatType = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                                  StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  // The gather addresses by offset alone: the size of the flat view is never looked at.
  Value flat = memref::ReinterpretCastOp::create(
      b, flatType, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  auto resultType = VectorType::get({lanes}, type.getElementType());
  Value all = arith::ConstantOp::create(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), true));
  Value unused = arith::ConstantOp::create(b, b.getZeroAttr(resultType));
  Value gathered = vector::GatherOp::create(b, resultType, flat, uniform, varying, all, unused);
  if (type.getElementType().isIndex())
    gathered = arith::IndexCastOp::create(b, VectorType::get({lanes}, b.getI64Type()), gathered);
  map.map(load.getResult(), gathered);
}

/// True if an op on index lanes means the same in 32 bits as in 64 where its operands and results fit: a shift by 32 or
/// more does not, nor does the unsigned remainder of a negative number, or of one by a negative number.
bool LaneCloner::mayNarrow(Operation &op) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (isa<arith::RemUIOp, arith::DivUIOp, arith::CeilDivUIOp>(op))
    return ranges.isWithin(op.getOperand(0), 0, most) && ranges.isWithin(op.getOperand(1), 0, most);
  return !isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) || ranges.isWithin(op.getOperand(1), 0, 31);
}

/// The same op on vectors. One width serves all index operands and results.
void LaneCloner::cloneElementwise(Operation &op) {
  unsigned bits = mayNarrow(op) ? 32 : 64;
  for (ValueRange values : {ValueRange(op.getOperands()), ValueRange(op.getResults())})
    for (Value value : values)
      if (value.getType().isIndex())
        bits = std::max(bits, indexBits(value));
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op.getOperands())
    operands.push_back(widen(operand, bits));
  for (Type type : op.getResultTypes())
    types.push_back(laneType(type, bits));
  OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
  Operation *wide = b.create(state);
  map.map(op.getResults(), wide->getResults());
}

LogicalResult LaneCloner::cloneOp(Operation &op) {
  if (llvm::none_of(op.getOperands(), [&](Value operand) { return isLaned(operand); })) {
    b.clone(op, map);
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return cloneLoad(load), success();
  if (isa<arith::IndexCastOp>(op))
    return cloneIndexCast(op, /*isSigned=*/true), success();
  if (isa<arith::IndexCastUIOp>(op))
    return cloneIndexCast(op, /*isSigned=*/false), success();
  if (!OpTrait::hasElementwiseMappableTraits(&op))
    return op.emitOpError("is not supported in a score or mask region on this target where it depends on the query "
                          "position; use elementwise arith and math operations");
  cloneElementwise(op);
  return success();
}

LogicalResult LaneCloner::clone(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (failed(cloneOp(*op)))
      return failure();
  return success();
}
