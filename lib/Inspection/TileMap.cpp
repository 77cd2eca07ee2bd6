//===- TileMap.cpp - which tiles a mask empties or leaves whole ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Inspection/TileMap.h"
#include "MapInputs.h"
#include "MaskProgram.h"
#include "lib/Conversion/AttnToFlash/AttentionParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Scores of one evaluation of the mask, at most: 8 bytes each.
static constexpr int64_t kMaxScores = int64_t(1) << 20;

int64_t TileMap::count(TileClass tileClass) const { return llvm::count(tiles, tileClass); }

bool TileMap::operator==(const TileMap &other) const {
  return queryTiles == other.queryTiles && kvTiles == other.kvTiles && tiles == other.tiles &&
         visitedScores == other.visitedScores;
}

void attn::decideTileRow(const KeyLoopEnds &ends, int64_t kvTile,
                         llvm::function_ref<TileClass(int64_t, int64_t)> classify, MutableArrayRef<TileClass> row) {
  llvm::fill(row, TileClass::Skipped);
  for (int64_t j0 = ends.first; j0 < ends.end; j0 += kvTile) {
    bool isFull = j0 >= ends.firstFull && j0 < ends.lastFull;
    row[j0 / kvTile] = classify ? classify(j0, std::min(kvTile, ends.end - j0))
                       : isFull ? TileClass::Full
                                : TileClass::Partial;
  }
}

//===----------------------------------------------------------------------===//
// What is not known
//===----------------------------------------------------------------------===//

static bool isFunctionArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// "argument 3 of type tensor<?xi32>", "an element of ...", "dimension 1 of ...", or the operation.
static std::string describe(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Operation *op = value.getDefiningOp();
  if (isFunctionArgument(value)) {
    os << "argument " << cast<BlockArgument>(value).getArgNumber() << " of type " << value.getType();
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<AttentionOp>(parent))
      return argument.getArgNumber() == 0 ? "the batch entry" : "the head";
    os << "a variable of '" << parent->getName() << "' of type " << value.getType();
  } else if (isa<tensor::ExtractOp, memref::LoadOp>(op)) {
    os << "an element of " << describe(op->getOperand(0));
  } else if (auto dim = matchDim(op)) {
    os << "dimension " << dim->second << " of " << describe(dim->first);
  } else {
    os << "the result of '" << op->getName() << "' of type " << value.getType();
  }
  return text;
}

/// Integer arguments must be given; what else is unknown becomes a note.
static LogicalResult noteUnknown(AttentionOp op, ArrayRef<Value> unknown, std::vector<std::string> &notes) {
  for (Value value : unknown) {
    if (isFunctionArgument(value) && value.getType().isIntOrIndex())
      return op.emitOpError("expects values to give ")
             << describe(value) << ", which the mask reads; add values=" << cast<BlockArgument>(value).getArgNumber()
             << ":N";
    notes.push_back("the mask reads " + describe(value) + ", which is not known here");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {

/// Makes the maps of one attention.
class Mapper {
public:
  Mapper(AttentionOp op, const MaskSizes &sizes, const TileMapInputs &inputs)
      : op(op), sizes(sizes), inputs(inputs), mask(op), program(op, mask.ranges, sizes, inputs) {}

  FailureOr<AttentionTileMap> run();

private:
  LogicalResult checkTileCount();
  void describePlan();
  FailureOr<TileMap> mapEntry(int64_t b, int64_t h);
  LogicalResult mapRow(int64_t b, int64_t h, int64_t queryTile, TileMap &map);
  LogicalResult classifyRow(const KeyLoopEnds &ends, int64_t b, int64_t h, int64_t i0, int64_t rows,
                            SmallVectorImpl<TileClass> &classes);
  void add(TileMap map, const EntryRange &entries);

  int64_t queryTiles() const { return llvm::divideCeil(sizes.queryLen, inputs.queryTile); }
  int64_t kvTiles() const { return llvm::divideCeil(sizes.kvLen, inputs.kvTile); }
  int64_t batches() const { return mask.batches(sizes); }
  int64_t heads() const { return mask.heads(sizes); }

  AttentionOp op;
  MaskSizes sizes;
  const TileMapInputs &inputs;
  AnalyzedMask mask;
  MaskProgram program;
  AttentionTileMap result;
};

} // namespace

LogicalResult Mapper::checkTileCount() {
  // An entry without tiles takes time, too.
  __int128 tiles = std::max<__int128>(static_cast<__int128>(queryTiles()) * kvTiles(), 1) * batches() * heads();
  if (tiles <= kMaxMapTiles)
    return success();
  return op.emitOpError("expects at most ")
         << kMaxMapTiles << " tiles in a map, but got " << queryTiles() << " x " << kvTiles() << " for each of "
         << batches() * heads() << " batch entries and heads; give smaller sizes or larger tiles";
}

void Mapper::describePlan() {
  if (op.getMaskRegion().empty())
    return;
  SmallVector<Value> names;
  std::string lower = mask.ranges.live.lower.str(names), upper = mask.ranges.live.upper.str(names);
  result.bounds = "[" + lower + ", " + upper + ")";
  for (auto [k, name] : llvm::enumerate(names))
    result.notes.push_back("n" + std::to_string(k) + " is " + describe(name));
  if (mask.plan.isClassified)
    result.notes.push_back("the tiles in this range are classified once a call, in front of the loop");
  if (!mask.plan.isSplit)
    result.notes.push_back("the mask is so cheap that full tiles evaluate it, too");
}

/// The classes of the tiles of a key loop, by the mask of every score; tiles are taken together as far as memory
/// allows.
LogicalResult Mapper::classifyRow(const KeyLoopEnds &ends, int64_t b, int64_t h, int64_t i0, int64_t rows,
                                  SmallVectorImpl<TileClass> &classes) {
  int64_t step = std::max<int64_t>(kMaxScores / (rows * inputs.kvTile), 1) * inputs.kvTile;
  for (int64_t first = ends.first; first < ends.end; first += step) {
    int64_t keys = std::min(step, ends.end - first);
    FailureOr<std::vector<bool>> kept = program.keep(b, h, i0, rows, first, keys);
    if (failed(kept))
      return failure();
    for (int64_t j0 = 0; j0 < keys; j0 += inputs.kvTile) {
      int64_t end = std::min(j0 + inputs.kvTile, keys), count = 0;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t j = j0; j < end; ++j)
          count += (*kept)[row * keys + j];
      classes.push_back(count == 0                   ? TileClass::Skipped
                        : count == rows * (end - j0) ? TileClass::Full
                                                     : TileClass::Partial);
    }
  }
  return success();
}

LogicalResult Mapper::mapRow(int64_t b, int64_t h, int64_t queryTile, TileMap &map) {
  int64_t i0 = queryTile * inputs.queryTile, rows = std::min(inputs.queryTile, sizes.queryLen - i0);
  FailureOr<KeyLoopEnds> ends = program.loopEnds(b, h, i0, rows);
  if (failed(ends))
    return failure();
  SmallVector<TileClass> classes;
  bool isUnmasked = op.getMaskRegion().empty();
  bool isKnown = program.knowsLoops() && (!mask.plan.isClassified || program.knowsMask());
  if (mask.plan.isClassified && isKnown && failed(classifyRow(*ends, b, h, i0, rows, classes)))
    return failure();
  auto classify = [&](int64_t j0, int64_t) {
    bool isFull = isUnmasked || (j0 >= ends->firstFull && j0 < ends->lastFull);
    if (!isKnown)
      return isFull && program.knowsKvEnd() ? TileClass::Full : TileClass::RunTime;
    return mask.plan.isClassified ? classes[(j0 - ends->first) / inputs.kvTile] : TileClass::Full;
  };
  using Classify = llvm::function_ref<TileClass(int64_t, int64_t)>;
  bool asksEach = isUnmasked || mask.plan.isClassified || !isKnown;
  auto row = MutableArrayRef(map.tiles).slice(queryTile * map.kvTiles, map.kvTiles);
  decideTileRow(*ends, inputs.kvTile, asksEach ? Classify(classify) : Classify(nullptr), row);
  for (auto [k, tile] : llvm::enumerate(row))
    if (tile != TileClass::Skipped)
      map.visitedScores += rows * std::min(inputs.kvTile, ends->end - int64_t(k) * inputs.kvTile);
  return success();
}

FailureOr<TileMap> Mapper::mapEntry(int64_t b, int64_t h) {
  TileMap map{queryTiles(), kvTiles(), std::vector<TileClass>(queryTiles() * kvTiles()), 0};
  for (int64_t tile = 0; tile < map.queryTiles; ++tile)
    if (failed(mapRow(b, h, tile, map)))
      return failure();
  return map;
}

/// Adds entries to those that have the same map; entries come in order of batch, then head.
void Mapper::add(TileMap map, const EntryRange &entries) {
  auto found = llvm::find_if(result.maps, [&](auto &group) { return group.first == map; });
  if (found == result.maps.end())
    return void(result.maps.emplace_back(std::move(map), std::vector{entries}));
  EntryRange &last = found->second.back();
  bool sameBatch = last.firstBatch == entries.firstBatch && last.lastBatch == entries.lastBatch;
  if (sameBatch && last.lastHead + 1 == entries.firstHead)
    last.lastHead = entries.lastHead;
  else
    found->second.push_back(entries);
}

/// Joins ranges of the same heads in neighbouring batch entries.
static void joinBatches(std::vector<EntryRange> &entries) {
  std::vector<EntryRange> joined;
  for (const EntryRange &range : entries) {
    auto isNext = [&](const EntryRange &other) {
      return other.firstHead == range.firstHead && other.lastHead == range.lastHead &&
             other.lastBatch + 1 == range.firstBatch;
    };
    if (auto found = llvm::find_if(joined, isNext); found != joined.end())
      found->lastBatch = range.lastBatch;
    else
      joined.push_back(range);
  }
  entries = std::move(joined);
}

FailureOr<AttentionTileMap> Mapper::run() {
  result = {sizes.batch, sizes.heads, sizes.queryLen, sizes.kvLen, inputs.queryTile, inputs.kvTile, {}, {}, {}};
  describePlan();
  if (failed(noteUnknown(op, program.unknown(), result.notes)) || failed(checkTileCount()))
    return failure();
  for (int64_t b = 0; b < batches(); ++b)
    for (int64_t h = 0; h < heads(); ++h) {
      FailureOr<TileMap> map = mapEntry(b, h);
      if (failed(map))
        return failure();
      add(std::move(*map),
          {b, batches() == sizes.batch ? b : sizes.batch - 1, h, heads() == sizes.heads ? h : sizes.heads - 1});
    }
  for (auto &[map, entries] : result.maps)
    joinBatches(entries);
  return std::move(result);
}

FailureOr<AttentionTileMap> attn::mapTiles(AttentionOp op, const TileMapInputs &inputs) {
  FailureOr<MaskSizes> sizes = resolveInputs(op, inputs);
  if (failed(sizes))
    return failure();
  return Mapper(op, *sizes, inputs).run();
}
