//===- AttentionParts.cpp - sizes, views and checks of one attention ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionParts.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using flash::RequireOp;

static Value constantIndex(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

static Value compare(ImplicitLocOpBuilder &builder, arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, predicate, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// Size, stride and offset of a view, static where the type tells.
struct ViewShape {
  SmallVector<OpFoldResult> sizes, strides;
  SmallVector<int64_t> staticSizes, staticStrides;
};
} // namespace

/// Static values as attributes, dynamic ones as the given values.
static OpFoldResult staticOr(Builder &builder, int64_t known, Value dynamic) {
  return ShapedType::isDynamic(known) ? OpFoldResult(dynamic) : OpFoldResult(builder.getIndexAttr(known));
}

/// offset + sum of position * stride over the constant positions of the layout.
static Value offsetOfPositions(ImplicitLocOpBuilder &b, AffineMap map, memref::ExtractStridedMetadataOp metadata) {
  Value offset = metadata.getOffset();
  for (auto [k, result] : llvm::enumerate(map.getResults()))
    if (auto position = dyn_cast<AffineConstantExpr>(result); position && position.getValue())
      offset = arith::AddIOp::create(
          b, offset, arith::MulIOp::create(b, metadata.getStrides()[k], constantIndex(b, position.getValue())));
  return offset;
}

/// A view of a memref with the four dimensions of its layout in order; an absent letter has size 1.
static Value buildView(ImplicitLocOpBuilder &b, Value source, AffineMap map) {
  auto type = cast<MemRefType>(source.getType());
  if (map.isIdentity())
    return source;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, source);
  auto [strides, typeOffset] = type.getStridesAndOffset();
  ViewShape shape;
  for (unsigned dim = 0; dim < 4; ++dim) {
    std::optional<unsigned> k = findLayoutDim(map, static_cast<LayoutDim>(dim));
    shape.staticSizes.push_back(k ? type.getDimSize(*k) : 1);
    shape.staticStrides.push_back(k ? strides[*k] : 0);
    shape.sizes.push_back(staticOr(b, shape.staticSizes.back(), k ? metadata.getSizes()[*k] : Value()));
    shape.strides.push_back(staticOr(b, shape.staticStrides.back(), k ? metadata.getStrides()[*k] : Value()));
  }
  bool moved = llvm::any_of(map.getResults(), [](AffineExpr e) {
    auto position = dyn_cast<AffineConstantExpr>(e);
    return position && position.getValue();
  });
  int64_t staticOffset = moved ? ShapedType::kDynamic : typeOffset;
  OpFoldResult offset = staticOr(b, staticOffset, offsetOfPositions(b, map, metadata));
  auto view =
      MemRefType::get(shape.staticSizes, type.getElementType(),
                      StridedLayoutAttr::get(b.getContext(), staticOffset, shape.staticStrides), type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, view, metadata.getBaseBuffer(), offset, shape.sizes, shape.strides);
}

AttentionParts::AttentionParts(ImplicitLocOpBuilder &b, AttentionOp op) : op(op) {
  query = buildView(b, op.getQuery(), op.getQueryMap());
  key = buildView(b, op.getKey(), op.getKeyMap());
  value = buildView(b, op.getValue(), op.getValueMap());
  out = buildView(b, op.getOut(), op.getOutMap());
  batch = getDimension(b, query, 0);
  heads = getDimension(b, query, 1);
  queryLen = getDimension(b, query, 2);
  headDim = getDimension(b, query, 3);
  kvHeads = getDimension(b, key, 1);
  kvLen = getDimension(b, key, 2);
  valueDim = getDimension(b, value, 3);
  // kvHeads 0 is let through only with heads 0: the group is then never used, and must not divide by 0.
  group = arith::MaxSIOp::create(
      b, arith::DivUIOp::create(b, heads, arith::MaxSIOp::create(b, kvHeads, constantIndex(b, 1))),
      constantIndex(b, 1));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Two sizes that must agree; nothing is built where both are static (the verifier has compared them).
static void requireEqual(ImplicitLocOpBuilder &b, Value got, Value expected, const Twine &what) {
  if (got == expected || (getConstantIntValue(got) && getConstantIntValue(expected)))
    return;
  RequireOp::create(b, compare(b, arith::CmpIPredicate::eq, got, expected),
                    b.getStringAttr("expected " + what + ", but got {0} and {1}"), ValueRange{got, expected});
}

static void requireAtMost(ImplicitLocOpBuilder &b, Value got, int64_t limit, const Twine &what) {
  if (std::optional<int64_t> known = getConstantIntValue(got); known && *known <= limit)
    return;
  Value bound = constantIndex(b, limit);
  RequireOp::create(b, compare(b, arith::CmpIPredicate::sle, got, bound),
                    b.getStringAttr("expected " + what + " of at most {1}, but got {0}"), ValueRange{got, bound});
}

void AttentionParts::buildSizeChecks(ImplicitLocOpBuilder &b) {
  auto dim = [&](Value operand, int64_t k) { return getDimension(b, operand, k); };
  requireEqual(b, dim(key, 0), batch, "key and query to share batch");
  requireEqual(b, dim(value, 0), batch, "value and query to share batch");
  requireEqual(b, dim(value, 1), kvHeads, "value and key to share kvHeads");
  requireEqual(b, dim(value, 2), kvLen, "value and key to share kvLen");
  requireEqual(b, dim(key, 3), headDim, "key and query to share headDim");
  const std::pair<Value, StringRef> sizes[] = {
      {batch, "batch"}, {heads, "heads"}, {queryLen, "queryLen"}, {valueDim, "valueDim"}};
  for (auto [k, size] : llvm::enumerate(sizes))
    requireEqual(b, dim(out, k), size.first, "out to have the inputs' " + size.second);
  if (op.getLse())
    for (auto [k, size] : llvm::enumerate(ArrayRef(sizes).take_front(3)))
      requireEqual(b, dim(op.getLse(), k), size.first, "lse to have the inputs' " + size.second);
  if (op.getWeights()) {
    for (auto [k, size] : llvm::enumerate(ArrayRef(sizes).take_front(3)))
      requireEqual(b, dim(op.getWeights(), k), size.first, "weights to have the inputs' " + size.second);
    requireEqual(b, dim(op.getWeights(), 3), kvLen, "weights to have the inputs' kvLen");
  }
  if (op.getSink())
    requireEqual(b, dim(op.getSink(), 0), heads, "sink to have the inputs' heads");
  if (op.getKvLengths())
    requireEqual(b, dim(op.getKvLengths(), 0), batch, "kv_lengths to have the inputs' batch");
  Value covered = arith::MulIOp::create(b, kvHeads, group);
  if (!getConstantIntValue(heads) || !getConstantIntValue(kvHeads))
    RequireOp::create(b,
                      compare(b, arith::CmpIPredicate::eq, heads,
                              arith::SelectOp::create(
                                  b, compare(b, arith::CmpIPredicate::eq, heads, constantIndex(b, 0)), heads, covered)),
                      b.getStringAttr("expected kvHeads to divide heads, but got {0} and {1}"),
                      ValueRange{kvHeads, heads});
  requireAtMost(b, batch, kMaxExtent, "batch");
  requireAtMost(b, heads, kMaxExtent, "heads");
  requireAtMost(b, queryLen, kMaxExtent, "queryLen");
  requireAtMost(b, kvLen, kMaxExtent, "kvLen");
}

/// A fixed position in a layout must be inside its dimension.
void AttentionParts::buildLayoutChecks(ImplicitLocOpBuilder &b) {
  const std::tuple<Value, AffineMap, StringRef> layouts[] = {{op.getQuery(), op.getQueryMap(), "query"},
                                                             {op.getKey(), op.getKeyMap(), "key"},
                                                             {op.getValue(), op.getValueMap(), "value"},
                                                             {op.getOut(), op.getOutMap(), "out"}};
  for (auto [operand, map, name] : layouts)
    for (auto [k, result] : llvm::enumerate(map.getResults())) {
      auto position = dyn_cast<AffineConstantExpr>(result);
      if (!position || !cast<MemRefType>(operand.getType()).isDynamicDim(k))
        continue;
      Value size = getDimension(b, operand, k), at = constantIndex(b, position.getValue());
      RequireOp::create(
          b, compare(b, arith::CmpIPredicate::slt, at, size),
          b.getStringAttr("expected position {0} in the layout of " + name + " to be inside its dimension of size {1}"),
          ValueRange{at, size});
    }
}

/// Each of kv_lengths is in 0 to kvLen.
void AttentionParts::buildLengthChecks(ImplicitLocOpBuilder &b) {
  if (!op.getKvLengths())
    return;
  scf::ForOp::create(b, constantIndex(b, 0), batch, constantIndex(b, 1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value index, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       Value length = kvEnd(b, index);
                       // One unsigned comparison covers both ends.
                       RequireOp::create(
                           b, compare(b, arith::CmpIPredicate::ule, length, kvLen),
                           b.getStringAttr("expected each of kv_lengths in 0 to kvLen = {1}, but got {0}"),
                           ValueRange{length, kvLen});
                       scf::YieldOp::create(b);
                     });
}

/// Clamping needs an element to clamp to: a captured tensor without elements is an error where scores exist.
void AttentionParts::buildCaptureChecks(ImplicitLocOpBuilder &b) {
  llvm::SmallPtrSet<Value, 4> seen;
  for (Region *region : {&op.getScoreRegion(), &op.getMaskRegion()})
    region->walk([&](memref::LoadOp load) {
      Value capture = load.getMemref();
      auto type = load.getMemRefType();
      if (!seen.insert(capture).second || (type.hasStaticShape() && type.getNumElements() > 0))
        return;
      Value elements = constantIndex(b, 1), scores = constantIndex(b, 1);
      for (int64_t k = 0; k < type.getRank(); ++k)
        elements = arith::MinSIOp::create(b, elements, getDimension(b, capture, k));
      for (Value size : {batch, heads, queryLen, kvLen})
        scores = arith::MinSIOp::create(b, scores, size);
      RequireOp::create(b, compare(b, arith::CmpIPredicate::sge, elements, scores),
                        b.getStringAttr("expected a tensor that a score or mask region reads to have elements"),
                        ValueRange{});
    });
}

void AttentionParts::buildChecks(ImplicitLocOpBuilder &b) {
  buildLayoutChecks(b);
  buildSizeChecks(b);
  buildLengthChecks(b);
  buildCaptureChecks(b);
}

Value AttentionParts::kvEnd(ImplicitLocOpBuilder &b, Value batchIndex) {
  if (!op.getKvLengths())
    return kvLen;
  Value length = readElement(b, op.getKvLengths(), batchIndex);
  if (length.getType().isIndex())
    return length;
  return arith::IndexCastOp::create(b, b.getIndexType(), length);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static RegionRanges rangesOf(AttentionOp op, Region &region) {
  RegionRanges ranges;
  AttentionDims dims = op.getDims();
  const int64_t sizes[] = {dims.batch, dims.heads, dims.queryLen, dims.kvLen};
  for (auto [argument, size] : llvm::zip(region.getArguments().take_back(4), sizes))
    ranges.assume(argument, 0, (ShapedType::isDynamic(size) ? kMaxExtent : std::max<int64_t>(size, 1)) - 1);
  return ranges;
}

static void clampLoads(AttentionOp op, Region &region) {
  if (region.empty())
    return;
  RegionRanges ranges = rangesOf(op, region);
  SmallVector<Operation *> loads;
  for (Operation &load : region.front())
    if (isa<memref::LoadOp, tensor::ExtractOp>(load))
      loads.push_back(&load);
  for (Operation *load : loads) {
    ImplicitLocOpBuilder b(load->getLoc(), load);
    Value source = load->getOperand(0);
    for (OpOperand &index : load->getOpOperands().drop_front()) {
      int64_t k = index.getOperandNumber() - 1, size = cast<ShapedType>(source.getType()).getDimSize(k);
      if (!ShapedType::isDynamic(size) && ranges.isWithin(index.get(), 0, size - 1))
        continue;
      Value last = arith::SubIOp::create(b, getDimension(b, source, k), constantIndex(b, 1));
      Value below = arith::MinSIOp::create(b, index.get(), last);
      index.set(arith::MaxSIOp::create(b, below, constantIndex(b, 0)));
    }
  }
}

void attn::clampCapturedLoads(AttentionOp op) {
  clampLoads(op, op.getScoreRegion());
  clampLoads(op, op.getMaskRegion());
}

/// Clones `value` and what it needs of its region.
static Value cloneSlice(ImplicitLocOpBuilder &b, Region &region, Value value, IRMapping &mapping) {
  if (value.getParentRegion() != &region || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneSlice(b, region, operand, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

Value AttentionParts::buildUniform(ImplicitLocOpBuilder &b, Value value, Value batchIndex, Value headIndex) {
  Region &region = op.getMaskRegion();
  IRMapping mapping;
  mapping.map(region.getArgument(0), batchIndex);
  mapping.map(region.getArgument(1), headIndex);
  Value uniform = cloneSlice(b, region, value, mapping);
  return uniform.getType().isIndex() ? uniform : arith::IndexCastOp::create(b, b.getIndexType(), uniform).getResult();
}
