//===- TileClasses.cpp - records of tile classes, written and read ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileClasses.h"
#include "IndexMath.h"
#include "ItemWork.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using flash::RequireOp;

using Predicate = arith::CmpIPredicate;

/// What flash.classify_tile yields.
enum TileClass : int32_t { kEmptyTile = 0, kPartialTile = 1, kFullTile = 2 };

/// A record may have this many rows, so that its size is far from the end of 64 bits.
static constexpr int64_t kMaxRows = (int64_t(1) << 31) - 1;

/// Words of a row: the number of runs, and two for each run.
static Value rowWords(ImplicitLocOpBuilder &b, const MaskDomain &domain, const TileSizes &tiles) {
  IndexMath m(b);
  return m.plus(m.times(m.ceilDiv(domain.kvLen, tiles.kvTile), m.number(2)), m.number(1));
}

/// Where the runs of a tile are: [b, h, query tile, word].
static SmallVector<Value> rowPosition(ImplicitLocOpBuilder &b, Value rows, const QueryTile &tile, Value word) {
  IndexMath m(b);
  auto shared = [&](Value index, int64_t dim) {
    // A record of one entry serves all.
    return m.min(index, m.minus(getDimension(b, rows, dim), m.number(1)));
  };
  return {shared(tile.batch, 0), shared(tile.head, 1), tile.number, word};
}

Value TileClassRows::load(ImplicitLocOpBuilder &b, const QueryTile &tile, Value word) const {
  return IndexMath(b).toIndex(memref::LoadOp::create(b, memref, rowPosition(b, memref, tile, word)));
}

TileClassRows attn::allocateTileClasses(ImplicitLocOpBuilder &b, Value batches, Value heads, const MaskDomain &domain,
                                        const TileSizes &tiles) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value queryTiles = IndexMath(b).ceilDiv(domain.queryLen, tiles.queries());
  return {memref::AllocOp::create(b, MemRefType::get({dynamic, dynamic, dynamic, dynamic}, b.getI32Type()),
                                  ValueRange{batches, heads, queryTiles, rowWords(b, domain, tiles)})};
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

namespace {

/// Writes the runs of one row.
class RowWriter {
public:
  RowWriter(const MaskDomain &domain, const TileSizes &tiles, TileClassRows rows, const QueryTile &tile)
      : domain(domain), tiles(tiles), rows(rows), tile(tile) {}

  void build(ImplicitLocOpBuilder &b, const KvRange &range) const;

private:
  void store(ImplicitLocOpBuilder &b, Value value, Value word) const {
    memref::StoreOp::create(b, value, rows.memref, rowPosition(b, rows.memref, tile, word));
  }
  Value buildClass(ImplicitLocOpBuilder &b, Value j0, Value kvEnd) const;
  Value buildRunEnd(ImplicitLocOpBuilder &b, ValueRange run, Value end) const;
  SmallVector<Value> buildStep(ImplicitLocOpBuilder &b, Value j0, Value kvEnd, ValueRange run) const;

  const MaskDomain &domain;
  const TileSizes &tiles;
  TileClassRows rows;
  QueryTile tile;
};

} // namespace

Value RowWriter::buildClass(ImplicitLocOpBuilder &b, Value j0, Value kvEnd) const {
  IndexMath m(b);
  Value keys = m.min(m.minus(kvEnd, j0), m.number(tiles.kvTile));
  auto classify = flash::ClassifyTileOp::create(b, b.getI32Type(), tile.batch, tile.head, tile.i0, j0, tile.queries,
                                                keys, tiles.queries());
  IRMapping mapping;
  domain.region->cloneInto(&classify.getMaskRegion(), mapping);
  return classify.getResult();
}

/// Writes the run (number, first tile, class), unless it is of empty tiles, and returns the number of the next one.
Value RowWriter::buildRunEnd(ImplicitLocOpBuilder &b, ValueRange run, Value end) const {
  IndexMath m(b);
  auto write = [&](OpBuilder &nested, Location loc) {
    ImplicitLocOpBuilder b(loc, nested);
    IndexMath m(b);
    Value isFull = m.is(run[2], Predicate::eq, m.word(kFullTile));
    Value first = m.plus(m.times(run[1], m.number(2)), arith::IndexCastUIOp::create(b, b.getIndexType(), isFull));
    Value word = m.plus(m.times(run[0], m.number(2)), m.number(1));
    store(b, m.toWord(first), word);
    store(b, m.toWord(end), m.plus(word, m.number(1)));
    scf::YieldOp::create(b, m.plus(run[0], m.number(1)));
  };
  auto skip = [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, run[0]); };
  return scf::IfOp::create(b, m.is(run[2], Predicate::ne, m.word(kEmptyTile)), write, skip).getResult(0);
}

/// One kv tile: where its class differs from that of the run, the run ends and another begins.
SmallVector<Value> RowWriter::buildStep(ImplicitLocOpBuilder &b, Value j0, Value kvEnd, ValueRange run) const {
  Value tileClass = buildClass(b, j0, kvEnd);
  auto change = [&](OpBuilder &nested, Location loc) {
    ImplicitLocOpBuilder b(loc, nested);
    Value number = arith::DivUIOp::create(b, j0, arith::ConstantIndexOp::create(b, tiles.kvTile));
    scf::YieldOp::create(b, ValueRange{buildRunEnd(b, run, number), number, tileClass});
  };
  auto keep = [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, run); };
  auto next = scf::IfOp::create(b, IndexMath(b).is(tileClass, Predicate::ne, run[2]), change, keep);
  return next.getResults();
}

void RowWriter::build(ImplicitLocOpBuilder &b, const KvRange &range) const {
  IndexMath m(b);
  Value kvEnd = domain.kvEnd(b, tile.batch), zero = m.number(0);
  auto loop =
      scf::ForOp::create(b, range.first, range.end, m.number(tiles.kvTile), ValueRange{zero, zero, m.word(kEmptyTile)},
                         [&](OpBuilder &nested, Location loc, Value j0, ValueRange run) {
                           ImplicitLocOpBuilder b(loc, nested);
                           scf::YieldOp::create(b, buildStep(b, j0, kvEnd, run));
                         });
  // What is left open ends with the range; without a tile there is none.
  Value count = buildRunEnd(b, loop.getResults(), m.ceilDiv(range.end, tiles.kvTile));
  store(b, m.toWord(count), zero);
  Value used = m.plus(m.times(count, m.number(2)), m.number(1));
  scf::ForOp::create(b, used, getDimension(b, rows.memref, 3), m.number(1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value word, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       store(b, IndexMath(b).word(0), word);
                       scf::YieldOp::create(b);
                     });
}

void attn::buildClassification(ImplicitLocOpBuilder &b, const MaskDomain &domain, const MaskRanges &ranges,
                               const TileSizes &tiles, TileClassRows rows) {
  SmallVector<OpFoldResult> counts;
  for (int64_t dim = 0; dim < 3; ++dim)
    counts.push_back(getDimension(b, rows.memref, dim));
  Value work = buildClassificationWork(b, domain, tiles);
  OpBuilder::InsertionGuard guard(b);
  auto forall = scf::ForallOp::create(b, counts, ValueRange{}, std::nullopt);
  b.setInsertionPoint(forall.getBody()->getTerminator());
  flash::ItemWorkOp::create(b, work);
  QueryTile tile = buildQueryTile(b, forall.getInductionVars(), domain.queryLen, tiles.queries());
  RowWriter(domain, tiles, rows, tile).build(b, buildKvRange(b, domain, ranges, tile, tiles, /*isSplit=*/false));
}

//===----------------------------------------------------------------------===//
// Kept records
//===----------------------------------------------------------------------===//

/// The rows behind the header of a record, of batch x heads x query tiles. The record must have the size for them.
static TileClassRows viewRows(ImplicitLocOpBuilder &b, Value record, Value batch, Value heads, const MaskDomain &domain,
                              const TileSizes &tiles) {
  IndexMath m(b);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, record);
  Value stride = metadata.getStrides()[0];
  Value queryTiles = m.ceilDiv(domain.queryLen, tiles.queries()), words = rowWords(b, domain, tiles);
  Value offset = m.plus(metadata.getOffset(), m.times(stride, m.plus(m.number(kFirstLengthWord), batch)));
  Value rowStride = m.times(words, stride), headStride = m.times(rowStride, queryTiles);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> unknown(4, dynamic);
  auto type = MemRefType::get(unknown, b.getI32Type(), StridedLayoutAttr::get(b.getContext(), dynamic, unknown));
  SmallVector<OpFoldResult> sizes = {batch, heads, queryTiles, words};
  SmallVector<OpFoldResult> strides = {m.times(headStride, heads), headStride, rowStride, stride};
  return {memref::ReinterpretCastOp::create(b, type, metadata.getBaseBuffer(), OpFoldResult(offset), sizes, strides)};
}

/// Ends the call unless the record has the words that its sizes ask for.
static void requireSize(ImplicitLocOpBuilder &b, Value record, Value batch, Value heads, const MaskDomain &domain,
                        const TileSizes &tiles) {
  IndexMath m(b);
  // Each factor is at most 2^31, so that checking after each product keeps them all inside 64 bits.
  Value rows = m.times(batch, heads);
  requireAtMost(b, rows, kMaxRows, "batch * heads of a record of tile classes");
  rows = m.times(rows, m.ceilDiv(domain.queryLen, tiles.queries()));
  requireAtMost(b, rows, kMaxRows, "rows of a record of tile classes");
  Value words = m.plus(m.plus(m.number(kFirstLengthWord), batch), m.times(rows, rowWords(b, domain, tiles)));
  requireEqual(b, getDimension(b, record, 0), words, "expected a record of tile classes of {1} words, but got {0}");
}

/// A mask region that keeps every key.
static void keepEverything(Region &region, Location loc) {
  Block &block = region.emplaceBlock();
  block.addArguments(SmallVector<Type>(4, IndexType::get(region.getContext())), SmallVector<Location>(4, loc));
  ImplicitLocOpBuilder b(loc, &block, block.end());
  YieldOp::create(b, arith::ConstantOp::create(b, b.getBoolAttr(true)));
}

void attn::buildKeptClasses(ImplicitLocOpBuilder &b, ClassifyTilesOp op) {
  AttentionDims dims = op.getDims();
  if (op.getMaskRegion().empty())
    keepEverything(op.getMaskRegion(), op.getLoc());
  clampCapturedLoads(op.getMaskRegion(), dims);
  MaskRanges ranges = analyzeMaskOf(op.getMaskRegion(), dims);
  TileSizes tiles{int64_t(op.getQueryTile()), 0, int64_t(op.getKvTile()), 0};
  MaskDomain domain{&op.getMaskRegion(), op.getBatch(), op.getHeads(),
                    op.getQueryLen(),    op.getKvLen(), op.getKvLengths()};
  IndexMath m(b);
  if (op.getKvLengths())
    requireEqual(b, getDimension(b, op.getKvLengths(), 0), op.getBatch(),
                 "expected kv_lengths to have batch = {1} elements, but got {0}");
  domain.buildChecks(b);
  buildCaptureChecks(b, domain, domain.region);
  requireSize(b, op.getOut(), domain.batch, domain.heads, domain, tiles);
  auto store = [&](ImplicitLocOpBuilder &b, Value value, Value word) {
    memref::StoreOp::create(b, value, op.getOut(), word);
  };
  store(b, m.word(kTileRecordMark), m.number(kMarkWord));
  const std::pair<TileRecordWord, Value> header[] = {{kQueryTileWord, m.number(tiles.queryRows)},
                                                     {kKvTileWord, m.number(tiles.kvTile)},
                                                     {kBatchWord, domain.batch},
                                                     {kHeadsWord, domain.heads},
                                                     {kQueryLenWord, domain.queryLen},
                                                     {kKvLenWord, domain.kvLen}};
  for (auto [word, value] : header)
    store(b, m.toWord(value), m.number(word));
  scf::ForOp::create(b, m.number(0), domain.batch, m.number(1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value entry, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       IndexMath m(b);
                       store(b, m.toWord(domain.kvEnd(b, entry)), m.plus(entry, m.number(kFirstLengthWord)));
                       scf::YieldOp::create(b);
                     });
  buildClassification(b, domain, ranges, tiles, viewRows(b, op.getOut(), domain.batch, domain.heads, domain, tiles));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A size of the record beside the one of the op that reads it.
struct SizeRule {
  TileRecordWord word;
  Value expected;
  StringRef name;
  /// The record's size may be 1 instead.
  bool maybeOne;
};
} // namespace

static void requireHeader(ImplicitLocOpBuilder &b, Value record, ArrayRef<SizeRule> rules) {
  IndexMath m(b);
  for (const SizeRule &rule : rules) {
    Value got = m.toIndex(memref::LoadOp::create(b, record, m.number(rule.word)));
    Value holds = m.is(got, Predicate::eq, rule.expected);
    if (rule.maybeOne)
      holds = arith::OrIOp::create(b, holds, m.is(got, Predicate::eq, m.number(1)));
    std::string message =
        ("expected tiles to be classified for " + rule.name + " {1}" + (rule.maybeOne ? " or 1" : "") + ", but got {0}")
            .str();
    RequireOp::create(b, holds, b.getStringAttr(message), ValueRange{got, rule.expected});
  }
}

/// Each batch entry has the keys that it was classified for.
static void requireLengths(ImplicitLocOpBuilder &b, Value record, const TileClassRows &rows, const MaskDomain &domain) {
  IndexMath m(b);
  scf::ForOp::create(b, m.number(0), domain.batch, m.number(1), ValueRange{},
                     [&](OpBuilder &nested, Location loc, Value entry, ValueRange) {
                       ImplicitLocOpBuilder b(loc, nested);
                       IndexMath m(b);
                       Value of = m.min(entry, m.minus(getDimension(b, rows.memref, 0), m.number(1)));
                       Value got = m.toIndex(memref::LoadOp::create(b, record, m.plus(of, m.number(kFirstLengthWord))));
                       requireEqual(b, got, domain.kvEnd(b, entry),
                                    "expected tiles to be classified for kv_lengths of {1}, but got {0}");
                       scf::YieldOp::create(b);
                     });
}

TileClassRows attn::readKeptClasses(ImplicitLocOpBuilder &b, Value record, const MaskDomain &domain,
                                    const MaskPlan &plan, const TileSizes &tiles) {
  IndexMath m(b);
  Value size = getDimension(b, record, 0), least = m.number(kFirstLengthWord);
  RequireOp::create(b, m.is(size, Predicate::sge, least),
                    b.getStringAttr("expected tiles to be a record of at least {1} words, but got {0}"),
                    ValueRange{size, least});
  auto load = [&](TileRecordWord word) { return m.toIndex(memref::LoadOp::create(b, record, m.number(word))); };
  requireEqual(b, load(kMarkWord), m.number(kTileRecordMark),
               "expected tiles to be a record of attn.classify_tiles, which starts with {1}, but got {0}");
  requireHeader(b, record,
                {{kQueryTileWord, m.number(tiles.queryRows), "a query tile of", false},
                 {kKvTileWord, m.number(tiles.kvTile), "a kv tile of", false},
                 {kQueryLenWord, domain.queryLen, "queryLen", false},
                 {kKvLenWord, domain.kvLen, "kvLen", false},
                 {kBatchWord, domain.batch, "batch", !plan.dependsOnBatch},
                 {kHeadsWord, domain.heads, "heads", !plan.dependsOnHead}});
  Value batch = load(kBatchWord), heads = load(kHeadsWord);
  requireSize(b, record, batch, heads, domain, tiles);
  TileClassRows rows = viewRows(b, record, batch, heads, domain, tiles);
  requireLengths(b, record, rows, domain);
  return rows;
}

Value attn::readRunCount(ImplicitLocOpBuilder &b, const TileClassRows &rows, const QueryTile &tile) {
  IndexMath m(b);
  Value most = arith::DivUIOp::create(b, getDimension(b, rows.memref, 3), m.number(2));
  return m.min(rows.load(b, tile, m.number(0)), most);
}

TileRun attn::readRun(ImplicitLocOpBuilder &b, const TileClassRows &rows, const QueryTile &tile, Value number,
                      Value kvEnd, const TileSizes &tiles) {
  IndexMath m(b);
  Value at = m.plus(m.times(number, m.number(2)), m.number(1));
  Value word = memref::LoadOp::create(b, rows.memref, rowPosition(b, rows.memref, tile, at));
  // Unsigned, so that no word gives a tile in front of the first.
  Value first = arith::IndexCastUIOp::create(b, b.getIndexType(), arith::ShRUIOp::create(b, word, m.word(1)));
  Value end = rows.load(b, tile, m.plus(at, m.number(1)));
  return {m.times(first, m.number(tiles.kvTile)), m.min(m.times(end, m.number(tiles.kvTile)), kvEnd),
          arith::TruncIOp::create(b, b.getI1Type(), word)};
}
