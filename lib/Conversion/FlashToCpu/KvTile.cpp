//===- KvTile.cpp - keys or values of a tile as a product reads them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KvTile.h"
#include "../FlashLanes/Loops.h"
#include "Patterns.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;

//===----------------------------------------------------------------------===//
// KvTile
//===----------------------------------------------------------------------===//

/// view[batch, head, j0 : j0 + keys, :] as a matrix.
static Value matrixOf(ImplicitLocOpBuilder &b, Value view, ValueRange batchAndHead, Value j0, Value keys) {
  OpFoldResult one = b.getIndexAttr(1);
  auto type = cast<MemRefType>(view.getType());
  // memref's verifier refuses a constant place in a row of no elements.
  OpFoldResult first = type.getDimSize(3) == 0 ? OpFoldResult(constantIndex(b, 0)) : b.getIndexAttr(0);
  SmallVector<OpFoldResult> offsets{batchAndHead[0], batchAndHead[1], j0, first};
  SmallVector<OpFoldResult> sizes{one, one, getAsOpFoldResult(keys), getAsOpFoldResult(getDimension(b, view, 3))};
  SmallVector<OpFoldResult> strides(4, one);
  SmallVector<int64_t> shape{getConstantIntValue(sizes[2]).value_or(ShapedType::kDynamic), type.getDimSize(3)};
  MemRefType matrix = memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, matrix, view, offsets, sizes, strides);
}

KvTile::KvTile(ImplicitLocOpBuilder &b, Value view, ValueRange batchAndHead, Value j0, Value keys, Extent extent,
               Type element)
    : tile(matrixOf(b, view, batchAndHead, j0, keys)) {
  auto type = cast<MemRefType>(tile.getType());
  // A copy of rows of unknown size would be scratch of unknown size; rows that do not lie in one piece have no vectors.
  if (type.isDynamicDim(1) || !type.isLastDimUnitStride())
    return;
  int64_t size = type.getDimSize(1), rowStride = type.getStridesAndOffset().first[0];
  auto createCopy = [&] { return createScratch(b, MemRefType::get({extent.keys, size}, element), {}); };
  if (type.getElementType() != element) {
    tile = copy(b, createCopy(), keys);
    return;
  }
  if (extent.chunks == 1 || rowStride == size)
    return;
  if (!ShapedType::isDynamic(rowStride)) {
    tile = copy(b, createCopy(), keys);
    return;
  }
  // Both have the type of rows in place, wherever these are.
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {ShapedType::kDynamic, 1});
  auto common = MemRefType::get(type.getShape(), element, layout, type.getMemorySpace());
  Value stride = memref::ExtractStridedMetadataOp::create(b, tile).getStrides()[0], scratch = createCopy();
  Value isSpread = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stride, constantIndex(b, size));
  auto choose = scf::IfOp::create(
      b, isSpread,
      [&](OpBuilder &nested, Location loc) {
        ImplicitLocOpBuilder b(loc, nested);
        Value copied = copy(b, scratch, keys), zero = constantIndex(b, 0), row = constantIndex(b, size);
        scf::YieldOp::create(
            b, memref::ReinterpretCastOp::create(b, common, copied, OpFoldResult(zero),
                                                 ArrayRef<OpFoldResult>{getAsOpFoldResult(keys), b.getIndexAttr(size)},
                                                 ArrayRef<OpFoldResult>{row, b.getIndexAttr(1)})
                   .getResult());
      },
      [&](OpBuilder &nested, Location loc) {
        Value inPlace = tile;
        if (type != common)
          inPlace = memref::CastOp::create(nested, loc, common, tile);
        scf::YieldOp::create(nested, loc, inPlace);
      });
  tile = choose.getResult(0);
}

Value KvTile::broadcast(ImplicitLocOpBuilder &b, VectorType type, Value k, Value column) const {
  Value element = memref::LoadOp::create(b, tile, ValueRange{k, column});
  if (element.getType() != type.getElementType())
    element = arith::ExtFOp::create(b, type.getElementType(), element);
  return vector::BroadcastOp::create(b, type, element);
}

/// Copies the tile's rows, in vectors as far as they hold whole ones. Returns the scratch.
Value KvTile::copy(ImplicitLocOpBuilder &b, Value scratch, Value keys) const {
  auto to = cast<MemRefType>(scratch.getType());
  Type from = cast<MemRefType>(tile.getType()).getElementType();
  constexpr int64_t lanes = 16;
  int64_t size = to.getDimSize(1), whole = size / lanes * lanes;
  auto copyPart = [&](ImplicitLocOpBuilder &b, Value k, Value first, int64_t count) {
    Value part = vector::LoadOp::create(b, VectorType::get({count}, from), tile, ValueRange{k, first});
    if (from != to.getElementType())
      part = arith::ExtFOp::create(b, VectorType::get({count}, to.getElementType()), part);
    vector::StoreOp::create(b, part, scratch, ValueRange{k, first});
  };
  buildLoop(b, constantIndex(b, 0), keys, 1, [&](ImplicitLocOpBuilder &b, Value k) {
    if (whole)
      buildLoop(b, constantIndex(b, 0), constantIndex(b, whole), lanes,
                [&](ImplicitLocOpBuilder &b, Value first) { copyPart(b, k, first, lanes); });
    if (whole < size)
      copyPart(b, k, constantIndex(b, whole), size - whole);
  });
  return scratch;
}

//===----------------------------------------------------------------------===//
// RowPrefetch
//===----------------------------------------------------------------------===//

RowPrefetch::RowPrefetch(Value view, Value batch, Value head, Value first)
    : view(view), prefix{batch, head}, first(first) {
  auto type = cast<MemRefType>(view.getType());
  constexpr int64_t lineBits = 512;
  lineElements = lineBits / type.getElementTypeBitWidth();
  lines = llvm::divideCeil(type.getDimSize(3), lineElements);
}

void RowPrefetch::buildStep(ImplicitLocOpBuilder &b, Value d) const {
  Value perRow = constantIndex(b, lines);
  buildLine(b, arith::DivUIOp::create(b, d, perRow), arith::RemUIOp::create(b, d, perRow));
}

void RowPrefetch::buildShare(ImplicitLocOpBuilder &b, int64_t rows, Value share, int64_t shares) const {
  int64_t count = llvm::divideCeil(lines, shares);
  Value firstLine = arith::MulIOp::create(b, share, constantIndex(b, count));
  buildRepeated(b, count, 1, [&](ImplicitLocOpBuilder &b, Value k) {
    Value line = plus(b, firstLine, k);
    if (count * shares > lines)
      line = arith::MinSIOp::create(b, line, constantIndex(b, lines - 1));
    for (int64_t row = 0; row < rows; ++row)
      buildLine(b, constantIndex(b, row), line);
  });
}

/// Into the second-level cache: the first one has no room for what is not used at once. No row behind the last one.
void RowPrefetch::buildLine(ImplicitLocOpBuilder &b, Value row, Value line) const {
  Value last = arith::SubIOp::create(b, getDimension(b, view, 2), constantIndex(b, 1));
  SmallVector<Value> indices(prefix);
  indices.push_back(arith::MinSIOp::create(b, plus(b, first, row), last));
  indices.push_back(arith::MulIOp::create(b, line, constantIndex(b, lineElements)));
  memref::PrefetchOp::create(b, view, indices, /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
}
