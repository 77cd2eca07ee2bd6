//===- AttentionParts.cpp - sizes, views and checks of one attention ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionParts.h"
#include "IndexMath.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using flash::RequireOp;

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

/// Two sizes that must agree.
static void requireAgreement(ImplicitLocOpBuilder &b, Value got, Value expected, const Twine &what) {
  requireEqual(b, got, expected, "expected " + what + ", but got {0} and {1}");
}

void AttentionParts::buildSizeChecks(ImplicitLocOpBuilder &b) {
  auto dim = [&](Value operand, int64_t k) { return getDimension(b, operand, k); };
  requireAgreement(b, dim(key, 0), batch, "key and query to share batch");
  requireAgreement(b, dim(value, 0), batch, "value and query to share batch");
  requireAgreement(b, dim(value, 1), kvHeads, "value and key to share kvHeads");
  requireAgreement(b, dim(value, 2), kvLen, "value and key to share kvLen");
  requireAgreement(b, dim(key, 3), headDim, "key and query to share headDim");
  const std::pair<Value, StringRef> sizes[] = {
      {batch, "batch"}, {heads, "heads"}, {queryLen, "queryLen"}, {valueDim, "valueDim"}};
  for (auto [k, size] : llvm::enumerate(sizes))
    requireAgreement(b, dim(out, k), size.first, "out to have the inputs' " + size.second);
  if (op.getLse())
    for (auto [k, size] : llvm::enumerate(ArrayRef(sizes).take_front(3)))
      requireAgreement(b, dim(op.getLse(), k), size.first, "lse to have the inputs' " + size.second);
  if (op.getWeights()) {
    for (auto [k, size] : llvm::enumerate(ArrayRef(sizes).take_front(3)))
      requireAgreement(b, dim(op.getWeights(), k), size.first, "weights to have the inputs' " + size.second);
    requireAgreement(b, dim(op.getWeights(), 3), kvLen, "weights to have the inputs' kvLen");
  }
  if (op.getSink())
    requireAgreement(b, dim(op.getSink(), 0), heads, "sink to have the inputs' heads");
  if (op.getKvLengths())
    requireAgreement(b, dim(op.getKvLengths(), 0), batch, "kv_lengths to have the inputs' batch");
  Value covered = arith::MulIOp::create(b, kvHeads, group);
  if (!getConstantIntValue(heads) || !getConstantIntValue(kvHeads))
    RequireOp::create(b,
                      compare(b, arith::CmpIPredicate::eq, heads,
                              arith::SelectOp::create(
                                  b, compare(b, arith::CmpIPredicate::eq, heads, constantIndex(b, 0)), heads, covered)),
                      b.getStringAttr("expected kvHeads to divide heads, but got {0} and {1}"),
                      ValueRange{kvHeads, heads});
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

void AttentionParts::buildChecks(ImplicitLocOpBuilder &b) {
  buildLayoutChecks(b);
  buildSizeChecks(b);
  MaskDomain domain = maskDomain();
  domain.buildChecks(b);
  buildCaptureChecks(b, domain, {&op.getScoreRegion(), &op.getMaskRegion()});
}
