//===- ScoreRegions.cpp - score and mask regions over fragments -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is built over the four elements of a fragment that a thread holds, as lanes: two rows, two keys. Small
// vectors keep few values alive at a time; what does not differ by lane stays scalar.
//
// Masks are looked at tile by tile at run time: where the keys are all there, and the mask analysis proves for the rows
// of this warp that each keeps every key of the tile, nothing is masked.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashLanes/Regions.h"
#include "Lowering.h"
#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;

namespace {

/// Score and mask regions over the fragments of a thread.
class FragmentRegions {
public:
  FragmentRegions(ImplicitLocOpBuilder &builder, const NvvmLowering &lowering, const ScorePlace &place)
      : b(builder), lowering(lowering), place(place), rows(place.rows), fragments(lowering.shape.kvTile / 8) {}

  LogicalResult applyScore(MutableArrayRef<Value> scores);
  LogicalResult applyMask(MutableArrayRef<Value> scores);

private:
  static constexpr int64_t kLanes = 4;

  Value lanes(ValueRange values) {
    auto type = VectorType::get({kLanes}, values.front().getType());
    return vector::FromElementsOp::create(b, type, values);
  }
  Value rowLanes(int64_t m);
  Value columnLanes(int64_t n);
  void mapPlace(Region &region, int64_t m, int64_t n, IRMapping &map);
  FailureOr<SmallVector<Value>> build(Region &region, IRMapping &map);
  Value mayDrop();
  LogicalResult maskFragment(int64_t m, int64_t n, MutableArrayRef<Value> four);

  ImplicitLocOpBuilder &b;
  const NvvmLowering &lowering;
  ScorePlace place;
  TileRows rows;
  int64_t fragments;
};

} // namespace

/// The rows of the four elements in the tile: g, g, g + 8, g + 8; the last valid one for those behind it.
Value FragmentRegions::rowLanes(int64_t m) {
  Value last = toI32(b, arith::SubIOp::create(b, rows.rows, constantIndex(b, 1)));
  Value first = lowering.fragmentRow(b, m);
  Value upper = arith::MinSIOp::create(b, first, last), lower = arith::MinSIOp::create(b, add(b, first, 8), last);
  return lanes({upper, upper, lower, lower});
}

/// Their keys, counted from the tile's first.
Value FragmentRegions::columnLanes(int64_t n) {
  Value even = add(b, times(b, lowering.place.t, 2), 8 * n), odd = add(b, even, 1);
  return lanes({even, odd, even, odd});
}

/// b, h, i and j of a region for the fragment (m, n).
void FragmentRegions::mapPlace(Region &region, int64_t m, int64_t n, IRMapping &map) {
  auto type = VectorType::get({kLanes}, b.getI32Type());
  auto everywhere = [&](Value index) { return vector::BroadcastOp::create(b, type, toI32(b, index)); };
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<int32_t>(value)));
  };
  Value inTile = rowLanes(m), head = rows.h, query = inTile;
  if (rows.group > 1) {
    head = arith::AddIOp::create(b, everywhere(rows.h), arith::RemUIOp::create(b, inTile, number(rows.group)));
    query = arith::DivUIOp::create(b, inTile, number(rows.group));
  }
  Value lastKey = everywhere(arith::SubIOp::create(b, place.keys, constantIndex(b, 1)));
  Value key = arith::MinSIOp::create(b, columnLanes(n), lastKey);
  Value here[] = {place.batch, head, arith::AddIOp::create(b, everywhere(rows.i0), query),
                  arith::AddIOp::create(b, everywhere(place.j0), key)};
  map.map(region.getArguments().take_back(4), ArrayRef(here));
}

/// What the region yields, lane by lane.
FailureOr<SmallVector<Value>> FragmentRegions::build(Region &region, IRMapping &map) {
  RegionRanges ranges = rangesOfTiledRegion(region);
  LaneCloner cloner(b, kLanes, ranges, map);
  Value yielded = region.front().getTerminator()->getOperand(0);
  if (failed(cloner.clone(sliceOf(region, yielded))))
    return failure();
  Value vector = cloner.laned(yielded);
  SmallVector<Value> elements;
  for (int64_t k = 0; k < kLanes; ++k)
    elements.push_back(vector::ExtractOp::create(b, vector, k));
  return elements;
}

LogicalResult FragmentRegions::applyScore(MutableArrayRef<Value> scores) {
  Region &region = place.scoreRegion;
  for (int64_t m = 0; m < lowering.shape.rowFragments(); ++m)
    for (int64_t n = 0; n < fragments; ++n) {
      MutableArrayRef<Value> four = scores.slice(4 * (m * fragments + n), 4);
      IRMapping map;
      map.map(region.getArgument(0), lanes(four));
      mapPlace(region, m, n, map);
      FailureOr<SmallVector<Value>> result = build(region, map);
      if (failed(result))
        return failure();
      llvm::copy(*result, four.begin());
    }
  return success();
}

/// True unless every row of this warp keeps every key of the tile.
Value FragmentRegions::mayDrop() {
  Value tail = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place.keys, constantIndex(b, lowering.shape.kvTile));
  Region &region = place.maskRegion;
  if (region.empty())
    return tail;
  MaskRanges ranges = analyzeMask(region, kMaxExtent, kMaxExtent);
  if (ranges.full.isAlwaysEmpty())
    return arith::ConstantOp::create(b, b.getBoolAttr(true));
  Value lastRow = arith::SubIOp::create(b, rows.rows, constantIndex(b, 1));
  Value first = toIndex(b, times(b, lowering.place.warp, lowering.shape.warpRows));
  Value end = plus(b, first, constantIndex(b, lowering.shape.warpRows - 1));
  Value firstQuery = rows.query(b, arith::MinSIOp::create(b, first, lastRow));
  Value lastQuery = rows.query(b, arith::MinSIOp::create(b, end, lastRow));
  auto uniformOf = [&](Value value) { return buildUniform(b, region, value, place.batch, rows.h); };
  Value result = tail;
  auto orIf = [&](const Bound &bound, arith::CmpIPredicate predicate, Value key) {
    if (bound.isMinusInfinity() || bound.isPlusInfinity())
      return;
    Value outside = arith::CmpIOp::create(b, predicate, key, bound.build(b, firstQuery, lastQuery, uniformOf));
    result = arith::OrIOp::create(b, result, outside);
  };
  orIf(ranges.full.lower, arith::CmpIPredicate::slt, place.j0);
  orIf(ranges.full.upper, arith::CmpIPredicate::sgt, plus(b, place.j0, place.keys));
  return result;
}

LogicalResult FragmentRegions::maskFragment(int64_t m, int64_t n, MutableArrayRef<Value> four) {
  Region &region = place.maskRegion;
  SmallVector<Value> keep(kLanes);
  if (!region.empty()) {
    IRMapping map;
    mapPlace(region, m, n, map);
    FailureOr<SmallVector<Value>> result = build(region, map);
    if (failed(result))
      return failure();
    keep = *result;
  }
  Value keys = toI32(b, place.keys);
  Value dropped = arith::ConstantOp::create(b, b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  for (int64_t k = 0; k < kLanes; ++k) {
    Value column = add(b, times(b, lowering.place.t, 2), 8 * n + k % 2);
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, keys);
    if (keep[k])
      exists = arith::AndIOp::create(b, exists, keep[k]);
    four[k] = arith::SelectOp::create(b, exists, four[k], dropped);
  }
  return success();
}

LogicalResult FragmentRegions::applyMask(MutableArrayRef<Value> scores) {
  SmallVector<Type> types(scores.size(), b.getF32Type());
  auto branch = scf::IfOp::create(b, types, mayDrop(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> before(scores.begin(), scores.end());
  b.setInsertionPointToStart(branch.thenBlock());
  for (int64_t m = 0; m < lowering.shape.rowFragments(); ++m)
    for (int64_t n = 0; n < fragments; ++n)
      if (failed(maskFragment(m, n, scores.slice(4 * (m * fragments + n), 4))))
        return failure();
  scf::YieldOp::create(b, scores);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, before);
  llvm::copy(branch.getResults(), scores.begin());
  return success();
}

LogicalResult nvvm::applyRegions(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, const ScorePlace &place,
                                 MutableArrayRef<Value> scores) {
  FragmentRegions regions(b, lowering, place);
  if (!place.scoreRegion.empty() && failed(regions.applyScore(scores)))
    return failure();
  return regions.applyMask(scores);
}
