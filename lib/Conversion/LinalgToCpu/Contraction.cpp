//===- Contraction.cpp - matrix products of any layout ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each item of the grid computes a tile of out:
//
//   for k in steps of `depth`:
//     right[k, n of the tile] -> panels [columns / lanes][depth][lanes]        copied once for all rows
//     for each panel, for each block of rows:
//       sums[rows][lanes] in registers; for k: sums[row] += left[row, k] * panel[k]
//
// (Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008.) Left is read in place, one scalar
// at a time, or copied where it has another type or is not contiguous along k; out is updated in place, or in a copy of
// the tile where it has another type or is not contiguous along n. The order of a sum is that of k, whatever the tiles.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "../FlashLanes/Loops.h"
#include "../FlashLanes/VectorMath.h"
#include "../FlashToCpu/Patterns.h"
#include "../FlashToCpu/TileAccess.h"
#include "Grid.h"
#include "Rows.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::loops;
using namespace attn::lanes;

namespace {

/// First index and the one behind the last.
struct Span {
  Value low, high;
  Value size(ImplicitLocOpBuilder &b) const { return b.createOrFold<arith::SubIOp>(high, low); }
};

/// Columns that one block of registers covers: `lanes` from `first`.
struct Columns {
  Value first;
  LiveLanes live;
};

class ContractionBuilder {
public:
  ContractionBuilder(linalg::LinalgOp op, const ContractionDims &dims, const ContractionSizes &sizes)
      : op(op), dims(dims), sizes(sizes), lanesType(VectorType::get({sizes.lanes}, dims.sumType)) {}

  void build(ImplicitLocOpBuilder &b);

private:
  Value sizeOf(ImplicitLocOpBuilder &b, unsigned dim) const;
  SmallVector<Value> indicesOf(AffineMap map, unsigned dim, Value index, unsigned other, Value otherIndex) const;
  SmallVector<Value> leftAt(Value m, Value k) const;
  SmallVector<Value> rightAt(Value k, Value n) const { return indicesOf(dims.rightMap, dims.k, k, dims.n, n); }
  SmallVector<Value> outAt(Value m, Value n) const;

  void buildTile(ImplicitLocOpBuilder &b);
  void buildReductions(ImplicitLocOpBuilder &b, ArrayRef<unsigned> outer);
  void buildDepth(ImplicitLocOpBuilder &b, Span depth);
  void packRight(ImplicitLocOpBuilder &b, Span depth);
  void packLeft(ImplicitLocOpBuilder &b, Span depth);
  void copyOut(ImplicitLocOpBuilder &b, bool isStore);
  void buildPanel(ImplicitLocOpBuilder &b, Span depth, Columns columns);
  void buildBlock(ImplicitLocOpBuilder &b, Span depth, Columns columns, ArrayRef<Value> rowIndices);

  Value loadConverted(ImplicitLocOpBuilder &b, Value memref, ValueRange indices, LiveLanes live) const {
    return convertElement(b, loadRow(b, sizes.lanes, memref, indices, live), dims.sumType);
  }
  Value loadLeft(ImplicitLocOpBuilder &b, Value row, Value k, Value depthLow) const;
  Value loadRight(ImplicitLocOpBuilder &b, Columns columns, Value k, Value depthLow) const;
  Value loadOut(ImplicitLocOpBuilder &b, Value row, Columns columns) const;
  void storeOut(ImplicitLocOpBuilder &b, Value sum, Value row, Columns columns) const;

  linalg::LinalgOp op;
  const ContractionDims &dims;
  const ContractionSizes &sizes;
  VectorType lanesType;
  /// The index of each loop dimension outside of the three that are blocked.
  SmallVector<Value> point;
  Span rows, columns;
  /// Copies; null where an operand is used in place. left [1][rows][depth], right [panels][depth][lanes], out
  /// [rows][columns].
  Value leftCopy, rightCopy, outCopy;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ContractionBuilder::sizeOf(ImplicitLocOpBuilder &b, unsigned dim) const {
  for (auto [operand, map] : {std::pair(dims.left, dims.leftMap), std::pair(dims.right, dims.rightMap)})
    if (std::optional<unsigned> position = map.getResultPosition(b.getAffineDimExpr(dim)))
      return getDimension(b, operand, *position);
  return constantIndex(b, 1);
}

SmallVector<Value> ContractionBuilder::indicesOf(AffineMap map, unsigned dim, Value index, unsigned other,
                                                 Value otherIndex) const {
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults()) {
    unsigned position = cast<AffineDimExpr>(result).getPosition();
    indices.push_back(position == dim ? index : position == other ? otherIndex : point[position]);
  }
  return indices;
}

SmallVector<Value> ContractionBuilder::leftAt(Value m, Value k) const {
  return indicesOf(dims.leftMap, dims.m.value_or(dims.k), dims.m ? m : k, dims.k, k);
}

SmallVector<Value> ContractionBuilder::outAt(Value m, Value n) const {
  return indicesOf(dims.outMap, dims.m.value_or(dims.n), dims.m ? m : n, dims.n, n);
}

Value ContractionBuilder::loadLeft(ImplicitLocOpBuilder &b, Value row, Value k, Value depthLow) const {
  Value element;
  if (leftCopy)
    element = memref::LoadOp::create(b, leftCopy,
                                     ValueRange{constantIndex(b, 0), arith::SubIOp::create(b, row, rows.low),
                                                arith::SubIOp::create(b, k, depthLow)});
  else
    element = memref::LoadOp::create(b, dims.left, leftAt(row, k));
  return vector::BroadcastOp::create(b, lanesType, convertElement(b, element, dims.sumType));
}

Value ContractionBuilder::loadRight(ImplicitLocOpBuilder &b, Columns block, Value k, Value depthLow) const {
  if (!rightCopy)
    return loadConverted(b, dims.right, rightAt(k, block.first), block.live);
  Value inTile = arith::SubIOp::create(b, block.first, columns.low);
  return loadLanes(b, lanesType, rightCopy, arith::SubIOp::create(b, k, depthLow), inTile);
}

Value ContractionBuilder::loadOut(ImplicitLocOpBuilder &b, Value row, Columns block) const {
  if (!outCopy)
    return loadConverted(b, dims.out, outAt(row, block.first), block.live);
  return vector::LoadOp::create(
      b, lanesType, outCopy,
      ValueRange{arith::SubIOp::create(b, row, rows.low), arith::SubIOp::create(b, block.first, columns.low)});
}

void ContractionBuilder::storeOut(ImplicitLocOpBuilder &b, Value sum, Value row, Columns block) const {
  if (outCopy)
    vector::StoreOp::create(
        b, sum, outCopy,
        ValueRange{arith::SubIOp::create(b, row, rows.low), arith::SubIOp::create(b, block.first, columns.low)});
  else
    storeRow(b, sum, dims.out, outAt(row, block.first), block.live);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Calls `whole` for each `step` indices from low on, and `element` for those that are left.
static void buildSteps(ImplicitLocOpBuilder &b, Span range, int64_t step,
                       llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> whole,
                       llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> element) {
  Value count = constantIndex(b, step);
  Value rest = b.createOrFold<arith::RemUIOp>(range.size(b), count);
  Value end = b.createOrFold<arith::SubIOp>(range.high, rest);
  buildLoop(b, range.low, end, step, whole);
  if (getConstantIntValue(rest) != 0)
    buildLoop(b, end, range.high, 1, element);
}

/// Rows of `right` along n, k outermost: what lies together in memory is read together.
void ContractionBuilder::packRight(ImplicitLocOpBuilder &b, Span depth) {
  Value low = columns.low;
  if (!isContiguousAlong(dims.right, dims.rightMap, dims.n)) {
    auto at = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
      return rightAt(plus(b, depth.low, column), plus(b, low, row));
    };
    copyToTile(b, dims.right, at, {columns.size(b), constantIndex(b, 0), depth.size(b)}, rightCopy,
               isContiguousAlong(dims.right, dims.rightMap, dims.k));
    return;
  }
  buildLoop(b, depth.low, depth.high, 1, [&](ImplicitLocOpBuilder &b, Value k) {
    Value inDepth = arith::SubIOp::create(b, k, depth.low);
    auto whole = [&](ImplicitLocOpBuilder &b, Value n) {
      storeLanes(b, loadConverted(b, dims.right, rightAt(k, n), {}), rightCopy, inDepth,
                 arith::SubIOp::create(b, n, low));
    };
    auto element = [&](ImplicitLocOpBuilder &b, Value n) {
      Value value = memref::LoadOp::create(b, dims.right, rightAt(k, n)), inTile = arith::SubIOp::create(b, n, low);
      Value lanes = constantIndex(b, sizes.lanes);
      memref::StoreOp::create(
          b, convertElement(b, value, dims.sumType), rightCopy,
          ValueRange{arith::DivUIOp::create(b, inTile, lanes), inDepth, arith::RemUIOp::create(b, inTile, lanes)});
    };
    buildSteps(b, columns, sizes.lanes, whole, element);
  });
}

void ContractionBuilder::packLeft(ImplicitLocOpBuilder &b, Span depth) {
  Value zero = constantIndex(b, 0);
  if (!isContiguousAlong(dims.left, dims.leftMap, dims.k)) {
    // Turned: "rows" of the tile are k, "columns" are m.
    auto at = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
      return leftAt(plus(b, rows.low, column), plus(b, depth.low, row));
    };
    copyToTile(b, dims.left, at, {depth.size(b), zero, rows.size(b)}, leftCopy,
               dims.m && isContiguousAlong(dims.left, dims.leftMap, *dims.m));
    return;
  }
  buildLoop(b, rows.low, rows.high, 1, [&](ImplicitLocOpBuilder &b, Value m) {
    auto place = [&](ImplicitLocOpBuilder &b, Value k) {
      return SmallVector<Value>{zero, arith::SubIOp::create(b, m, rows.low), arith::SubIOp::create(b, k, depth.low)};
    };
    auto whole = [&](ImplicitLocOpBuilder &b, Value k) {
      vector::StoreOp::create(b, loadConverted(b, dims.left, leftAt(m, k), {}), leftCopy, place(b, k));
    };
    auto element = [&](ImplicitLocOpBuilder &b, Value k) {
      Value value = memref::LoadOp::create(b, dims.left, leftAt(m, k));
      memref::StoreOp::create(b, convertElement(b, value, dims.sumType), leftCopy, place(b, k));
    };
    buildSteps(b, depth, sizes.lanes, whole, element);
  });
}

/// The tile of out to its copy, or back.
void ContractionBuilder::copyOut(ImplicitLocOpBuilder &b, bool isStore) {
  Type stored = cast<MemRefType>(dims.out.getType()).getElementType();
  buildLoop(b, rows.low, rows.high, 1, [&](ImplicitLocOpBuilder &b, Value m) {
    auto place = [&](ImplicitLocOpBuilder &b, Value n) {
      return SmallVector<Value>{arith::SubIOp::create(b, m, rows.low), arith::SubIOp::create(b, n, columns.low)};
    };
    auto whole = [&](ImplicitLocOpBuilder &b, Value n) {
      if (isStore)
        storeRow(b, convertElement(b, loadRow(b, sizes.lanes, outCopy, place(b, n), {}), stored), dims.out, outAt(m, n),
                 {});
      else
        storeRow(b, loadConverted(b, dims.out, outAt(m, n), {}), outCopy, place(b, n), {});
    };
    auto element = [&](ImplicitLocOpBuilder &b, Value n) {
      Value from = isStore ? outCopy : dims.out, to = isStore ? dims.out : outCopy;
      SmallVector<Value> inCopy = place(b, n), inOut = outAt(m, n);
      Value value = memref::LoadOp::create(b, from, isStore ? inCopy : inOut);
      memref::StoreOp::create(b, convertElement(b, value, isStore ? stored : Type(dims.sumType)), to,
                              isStore ? inOut : inCopy);
    };
    if (isContiguousAlong(dims.out, dims.outMap, dims.n))
      buildSteps(b, columns, sizes.lanes, whole, element);
    else
      buildLoop(b, columns.low, columns.high, 1, element);
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void ContractionBuilder::buildBlock(ImplicitLocOpBuilder &b, Span depth, Columns block, ArrayRef<Value> rowIndices) {
  SmallVector<Value> start;
  for (Value row : rowIndices)
    start.push_back(loadOut(b, row, block));
  SmallVector<Value> sums =
      buildCarryingLoop(b, depth.low, depth.high, 1, start, [&](ImplicitLocOpBuilder &b, Value k, ValueRange carried) {
        Value right = loadRight(b, block, k, depth.low);
        SmallVector<Value> next;
        for (auto [row, sum] : llvm::zip(rowIndices, carried))
          next.push_back(vector::FMAOp::create(b, loadLeft(b, row, k, depth.low), right, sum));
        return next;
      });
  for (auto [row, sum] : llvm::zip(rowIndices, sums))
    storeOut(b, sum, row, block);
}

void ContractionBuilder::buildPanel(ImplicitLocOpBuilder &b, Span depth, Columns block) {
  buildBlocks(b, rows.low, rows.high, sizes.blockRows,
              [&](ImplicitLocOpBuilder &b, ArrayRef<Value> rowIndices) { buildBlock(b, depth, block, rowIndices); });
}

void ContractionBuilder::buildDepth(ImplicitLocOpBuilder &b, Span depth) {
  if (rightCopy)
    packRight(b, depth);
  if (leftCopy)
    packLeft(b, depth);
  auto panel = [&](ImplicitLocOpBuilder &b, Value first) { buildPanel(b, depth, {first, {}}); };
  // Copies have room for whole panels; what is in place must not be touched behind its end.
  if (rightCopy && outCopy)
    return buildLoop(b, columns.low, columns.high, sizes.lanes, panel);
  // Tiles begin at whole panels, so the end of all of them decides.
  Value lanes = constantIndex(b, sizes.lanes), rest = b.createOrFold<arith::RemUIOp>(sizeOf(b, dims.n), lanes);
  if (getConstantIntValue(rest) == 0)
    return buildLoop(b, columns.low, columns.high, sizes.lanes, panel);
  rest = b.createOrFold<arith::RemUIOp>(columns.size(b), lanes);
  Value end = b.createOrFold<arith::SubIOp>(columns.high, rest);
  buildLoop(b, columns.low, end, sizes.lanes, panel);
  buildLoop(b, end, columns.high, sizes.lanes, [&](ImplicitLocOpBuilder &b, Value first) {
    buildPanel(b, depth, {first, LiveLanes::upTo(b, first, columns.high, sizes.lanes)});
  });
}

/// Loops over the reductions that are not blocked, and over k in steps of `depth`.
void ContractionBuilder::buildReductions(ImplicitLocOpBuilder &b, ArrayRef<unsigned> outer) {
  Value zero = constantIndex(b, 0);
  if (!outer.empty())
    return buildLoop(b, zero, sizeOf(b, outer.front()), 1, [&](ImplicitLocOpBuilder &b, Value index) {
      point[outer.front()] = index;
      buildReductions(b, outer.drop_front());
    });
  Value size = sizeOf(b, dims.k);
  std::optional<int64_t> known = getConstantIntValue(size);
  if (sizes.depth == 0 || (known && *known <= sizes.depth))
    return buildDepth(b, {zero, size});
  buildLoop(b, zero, size, sizes.depth, [&](ImplicitLocOpBuilder &b, Value low) {
    Value high = plus(b, low, constantIndex(b, sizes.depth));
    if (!known || *known % sizes.depth != 0)
      high = arith::MinSIOp::create(b, high, size);
    buildDepth(b, {low, high});
  });
}

void ContractionBuilder::buildTile(ImplicitLocOpBuilder &b) {
  auto elementOf = [](Value operand) { return cast<MemRefType>(operand.getType()).getElementType(); };
  if (sizes.packsRight) {
    rightCopy = createScratch(b, tileType(sizes.tileColumns, sizes.depth, sizes.lanes, dims.sumType), {});
    if (elementOf(dims.left) != dims.sumType || !isContiguousAlong(dims.left, dims.leftMap, dims.k))
      leftCopy = createScratch(b, tileType(sizes.depth, sizes.tileRows, sizes.depth, dims.sumType), {});
  }
  if (elementOf(dims.out) != dims.sumType || !isContiguousAlong(dims.out, dims.outMap, dims.n))
    outCopy = createScratch(b, MemRefType::get({sizes.tileRows, sizes.tileColumns}, dims.sumType), {});
  if (outCopy)
    copyOut(b, /*isStore=*/false);
  buildReductions(b, dims.outerReduction);
  if (outCopy)
    copyOut(b, /*isStore=*/true);
}

void ContractionBuilder::build(ImplicitLocOpBuilder &b) {
  point.resize(dims.outMap.getNumDims());
  SmallVector<GridDim> grid;
  for (unsigned dim : dims.outerParallel)
    grid.push_back({sizeOf(b, dim), constantIndex(b, 1)});
  grid.push_back({sizeOf(b, dims.n), constantIndex(b, sizes.tileColumns)});
  grid.push_back({dims.m ? sizeOf(b, *dims.m) : constantIndex(b, 1), constantIndex(b, sizes.tileRows)});
  buildGrid(b, grid, sizes.isParallel, [&](ImplicitLocOpBuilder &b, ValueRange lows, ValueRange highs) {
    for (auto [number, dim] : llvm::enumerate(dims.outerParallel))
      point[dim] = lows[number];
    size_t n = dims.outerParallel.size(), m = n + 1;
    columns = {lows[n], highs[n]};
    rows = {lows[m], highs[m]};
    buildTile(b);
  });
}

void loops::buildContraction(linalg::LinalgOp op, const ContractionDims &dims, const ContractionSizes &sizes) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ContractionBuilder(op, dims, sizes).build(b);
}
