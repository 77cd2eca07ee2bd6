//===- KernelShape.cpp - threads and shared memory of a kernel --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelShape.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "attn/Target/TileModel.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::flash;

/// Columns of the largest fragment: 16 values of a head, or 16 columns of values.
static constexpr int64_t kFragment = 16;

SharedTile nvvm::layoutOf(int64_t rows, int64_t columns, int64_t elementBytes) {
  SharedTile tile;
  tile.rows = rows;
  tile.columns = columns;
  tile.paddedColumns = llvm::alignTo(std::max<int64_t>(columns, 1), kFragment);
  tile.elementBytes = elementBytes;
  const int64_t chunks = tile.chunks();
  tile.isSwizzled = chunks % 8 == 0;
  tile.pitch = 16 * (tile.isSwizzled ? chunks : chunks | 1);
  return tile;
}

SharedTile nvvm::boxesOf(int64_t rows, int64_t columns, int64_t elementBytes) {
  SharedTile tile = layoutOf(rows, columns, elementBytes);
  tile.isSwizzled = tile.isBoxed = true;
  tile.pitch = 128;
  return tile;
}

/// A tile type that must be the same everywhere in a kernel.
static LogicalResult agree(Operation *op, StringRef what, int64_t got, int64_t &known) {
  if (known == 0)
    known = got;
  if (got == known)
    return success();
  return op->emitOpError("expects one number of ") << what << " in a kernel, but got " << got << " beside " << known;
}

namespace {

/// What the ops of a kernel say of its tiles.
struct TileSurvey {
  int64_t rows = 0, keys = 0, headDim = -1, valueDim = -1;
  Type element;
  bool hasClasses = false;

  LogicalResult add(Operation *op) {
    if (auto load = dyn_cast<LoadQueryOp>(op)) {
      element = load.getType().getElement();
      headDim = load.getType().getHeadDim();
    }
    hasClasses |= isa<ClassifyTileOp>(op);
    for (Type type : op->getResultTypes()) {
      if (auto rowsType = dyn_cast<RowsType>(type))
        if (failed(agree(op, "rows", rowsType.getRows(), rows)))
          return failure();
      if (auto scores = dyn_cast<ScoresType>(type))
        if (failed(agree(op, "keys", scores.getKeys(), keys)))
          return failure();
      if (auto acc = dyn_cast<AccType>(type))
        valueDim = acc.getValueDim();
    }
    return success();
  }

  /// What a GPU cannot do of it, as checkGpuTiles has it; `element` is that of the tiles in memory. Empty for nothing.
  std::string whyNotForGpu(Type element) const {
    TileQuery query;
    query.scoreBits = element.isF64() ? 64 : 32;
    query.elementBits = element.getIntOrFloatBitWidth();
    // Without keys nothing is read of queries.
    query.headDim = keys ? headDim : 0;
    query.valueDim = valueDim;
    TileSizes sizes{};
    sizes.queryRows = rows;
    sizes.kvTile = keys;
    return checkGpuTiles(query, sizes);
  }
};

} // namespace

/// Places query, keys and values behind one another.
static void placeTiles(const TileSurvey &tiles, KernelShape &shape) {
  const int64_t bytes = shape.element.getIntOrFloatBitWidth() / 8;
  auto layout = shape.consumers ? boxesOf : layoutOf;
  shape.query = layout(tiles.rows, tiles.headDim, bytes);
  shape.key = layout(tiles.keys, tiles.headDim, bytes);
  shape.value = layout(tiles.keys, tiles.valueDim, bytes);
  shape.keyOffset = shape.query.bytes();
  shape.valueOffset = shape.keyOffset + KernelShape::kStages * shape.key.bytes();
  shape.barrierOffset = shape.valueOffset + KernelShape::kStages * shape.value.bytes();
  // Full and empty, of each stage of keys and of values.
  const int64_t barriers = shape.consumers ? 4 * KernelShape::kStages : 0;
  shape.sharedBytes = shape.barrierOffset + 8 * barriers;
}

FailureOr<KernelShape> nvvm::shapeOfKernel(func::FuncOp kernel, const GpuTarget &target) {
  TileSurvey tiles;
  auto walked = kernel.walk([&](Operation *op) { return WalkResult(tiles.add(op)); });
  if (walked.wasInterrupted())
    return failure();
  KernelShape shape;
  if (tiles.rows == 0) {
    shape.kind = tiles.hasClasses ? KernelKind::Classify : KernelKind::Items;
    shape.threads = tiles.hasClasses ? 32 : 128;
    return shape;
  }
  shape.kind = KernelKind::Tiles;
  shape.rows = tiles.rows;
  shape.kvTile = tiles.keys;
  // Merging reads no elements; its tiles are those of f32.
  shape.element = tiles.element ? tiles.element : Float32Type::get(kernel.getContext());
  if (std::string problem = tiles.whyNotForGpu(shape.element); !problem.empty())
    return kernel.emitOpError(problem), failure();
  const unsigned bits = shape.element.getIntOrFloatBitWidth();
  shape.warpRows = gpuWarpRows(bits, tiles.headDim, tiles.valueDim, shape.rows);
  shape.consumers = tiles.keys ? gpuWarpgroups(target, bits, shape.rows) : 0;
  if (shape.consumers)
    shape.warpRows = 16;
  shape.threads = shape.consumers ? 128 * (shape.consumers + 1) : 32 * (shape.rows / shape.warpRows);
  shape.valueColumns = layoutOf(1, tiles.valueDim, 2).paddedColumns;
  if (tiles.keys)
    placeTiles(tiles, shape);
  if (shape.sharedBytes > target.sharedBytes)
    return kernel.emitOpError("expects tiles that fit in the ")
               << target.sharedBytes << " bytes of shared memory of a block of " << target.chip << ", but got "
               << shape.sharedBytes,
           failure();
  return shape;
}
