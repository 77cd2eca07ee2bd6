//===- TileMapTest.cpp - tile maps against brute force -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over all scores says which tiles are empty and which are whole; maps of many sizes must agree.
//
//===----------------------------------------------------------------------===//

#include "attn/Inspection/TileMap.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <functional>

using namespace mlir;
using namespace attn;

namespace {

constexpr int64_t kBatch = 2, kHeads = 3;

/// A score's place and the sizes.
struct Place {
  int64_t b, h, i, j, queryLen, kvLen;
};

struct Mask {
  const char *name;
  /// Operations that yield %keep; %n is an index argument, %ids and %spans are tensor<?xi32>.
  const char *body;
  std::function<bool(const Place &)> keep;
};

int64_t documentOf(int64_t position) { return position / 11; }
constexpr int64_t kScalar = 13;

std::vector<Mask> masks() {
  return {
      {"causal", "%keep = arith.cmpi sle, %j, %i : index", [](const Place &p) { return p.j <= p.i; }},
      {"bottom_right",
       "%d = arith.subi %m, %l : index\n%e = arith.addi %i, %d : index\n%keep = arith.cmpi sle, %j, %e : index",
       [](const Place &p) { return p.j <= p.i + p.kvLen - p.queryLen; }},
      {"window",
       "%d = arith.subi %j, %i : index\n%a = arith.constant -9 : index\n%z = arith.constant 4 : index\n"
       "%x = arith.cmpi sge, %d, %a : index\n%y = arith.cmpi sle, %d, %z : index\n%keep = arith.andi %x, %y : i1",
       [](const Place &p) { return p.j - p.i >= -9 && p.j - p.i <= 4; }},
      {"prefix",
       "%x = arith.cmpi sle, %j, %i : index\n%y = arith.cmpi slt, %j, %n : index\n%keep = arith.ori %x, %y : i1",
       [](const Place &p) { return p.j <= p.i || p.j < kScalar; }},
      {"by_head_and_batch",
       "%x = arith.addi %b, %h : index\n%y = arith.addi %x, %i : index\n%keep = arith.cmpi sle, %j, %y : index",
       [](const Place &p) { return p.j <= p.i + p.b + p.h; }},
      {"global",
       "%c4 = arith.constant 4 : index\n%g = arith.cmpi slt, %j, %c4 : index\n%d = arith.subi %i, %j : index\n"
       "%c9 = arith.constant 9 : index\n%w = arith.cmpi sle, %d, %c9 : index\n%a = arith.cmpi sle, %j, %i : index\n"
       "%u = arith.andi %w, %a : i1\n%keep = arith.ori %g, %u : i1",
       [](const Place &p) { return p.j < 4 || (p.j <= p.i && p.i - p.j <= 9); }},
      {"periodic",
       "%c30 = arith.constant 30 : index\n%c9 = arith.constant 9 : index\n%r = arith.remui %j, %c30 : index\n"
       "%keep = arith.cmpi slt, %r, %c9 : index",
       [](const Place &p) { return p.j % 30 < 9; }},
      {"document",
       "%x = tensor.extract %ids[%i] : tensor<?xi32>\n%y = tensor.extract %ids[%j] : tensor<?xi32>\n"
       "%keep = arith.cmpi eq, %x, %y : i32",
       [](const Place &p) { return documentOf(p.i) == documentOf(p.j); }},
      {"span_of_batch",
       "%x = tensor.extract %spans[%b] : tensor<?xi32>\n%y = arith.index_cast %x : i32 to index\n"
       "%keep = arith.cmpi slt, %j, %y : index",
       [](const Place &p) { return p.j < 10 + 5 * p.b; }},
  };
}

/// An attention on tensors of dynamic sizes with a mask; %l and %m are queryLen and kvLen.
struct Program {
  explicit Program(const std::string &body, const std::string &clauses = "") {
    DialectRegistry registry;
    registerPipelineDialects(registry);
    context.appendDialectRegistry(registry);
    std::string text = R"(!t = tensor<?x?x?x8xf32>
func.func @f(%q: !t, %k: !t, %n: index, %ids: tensor<?xi32>, %spans: tensor<?xi32>, %lengths: tensor<?xi64>) -> !t {
  %scale = arith.constant 1.0 : f32
  %c2 = arith.constant 2 : index
  %l = tensor.dim %q, %c2 : !t
  %m = tensor.dim %k, %c2 : !t
  %r = attn.attention %q, %k, %k scale(%scale) )" +
                       (body.empty() ? "" : "where(%b, %h, %i, %j) {\n" + body + "\nattn.yield %keep : i1 } ") +
                       clauses + R"( : !t, !t, !t outs(%q : !t) -> !t
  return %r : !t
})";
    module = parseSourceString<ModuleOp>(text, &context);
    module->walk([&](AttentionOp found) { op = found; });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  AttentionOp op;
};

TileMapInputs inputsFor(int64_t queryLen, int64_t kvLen, int64_t queryTile, int64_t kvTile) {
  TileMapInputs inputs;
  inputs.sizes = {{"batch", kBatch}, {"heads", kHeads}, {"queryLen", queryLen}, {"kvLen", kvLen}};
  inputs.queryTile = queryTile;
  inputs.kvTile = kvTile;
  inputs.values[2] = {kScalar};
  for (int64_t n = 0; n < std::max<int64_t>({queryLen, kvLen, 1}); ++n)
    inputs.values[3].push_back(documentOf(n));
  for (int64_t b = 0; b < kBatch; ++b)
    inputs.values[4].push_back(10 + 5 * b);
  return inputs;
}

/// What brute force says of a tile.
struct Tile {
  int64_t kept = 0, all = 0;
  /// Scores of its rows up to the last kept key: the key loop may end there.
  int64_t upToLastKept = 0;
};

Tile countTile(const Mask &mask, Place first, int64_t queryTile, int64_t kvTile) {
  Tile tile;
  int64_t rows = std::min(queryTile, first.queryLen - first.i);
  for (int64_t j = first.j; j < std::min(first.j + kvTile, first.kvLen); ++j)
    for (int64_t i = first.i; i < first.i + rows; ++i, ++tile.all)
      if (mask.keep({first.b, first.h, i, j, first.queryLen, first.kvLen})) {
        ++tile.kept;
        tile.upToLastKept = rows * (j + 1 - first.j);
      }
  return tile;
}

/// Compares one map with brute force. At the ragged end of the keys a full tile may be in the masked loop, and at the
/// end of the key loop what lies behind it takes no part.
void checkMap(const Mask &mask, const TileMap &map, Place where, int64_t queryTile, int64_t kvTile) {
  for (int64_t row = 0; row < map.queryTiles; ++row)
    for (int64_t column = 0; column < map.kvTiles; ++column) {
      where.i = row * queryTile, where.j = column * kvTile;
      Tile wanted = countTile(mask, where, queryTile, kvTile);
      TileClass tile = map.at(row, column);
      auto at = [&] {
        return ::testing::Message() << mask.name << " " << where.queryLen << " x " << where.kvLen << " in " << queryTile
                                    << " x " << kvTile << ", entry " << where.b << " " << where.h << ", tile " << row
                                    << " " << column;
      };
      EXPECT_EQ(tile == TileClass::Skipped, wanted.kept == 0) << at();
      bool isRagged = where.j + kvTile > where.kvLen;
      bool isLast = column + 1 == map.kvTiles || map.at(row, column + 1) == TileClass::Skipped;
      bool mayBeFull = wanted.kept == wanted.all || (isLast && wanted.kept == wanted.upToLastKept);
      EXPECT_TRUE(tile != TileClass::Full || mayBeFull) << at();
      EXPECT_TRUE(wanted.kept != wanted.all || tile == TileClass::Full || (isRagged && tile == TileClass::Partial))
          << at();
      EXPECT_NE(tile, TileClass::RunTime) << at();
    }
}

/// The entries of a map, each checked; every entry has one map.
void checkMaps(const Mask &mask, const AttentionTileMap &maps) {
  int64_t entries = 0;
  for (auto &[map, ranges] : maps.maps)
    for (const EntryRange &range : ranges)
      for (int64_t b = range.firstBatch; b <= range.lastBatch; ++b)
        for (int64_t h = range.firstHead; h <= range.lastHead; ++h, ++entries)
          checkMap(mask, map, {b, h, 0, 0, maps.queryLen, maps.kvLen}, maps.queryTile, maps.kvTile);
  EXPECT_EQ(entries, kBatch * kHeads);
}

class TileMaps : public testing::TestWithParam<Mask> {};

} // namespace

TEST_P(TileMaps, AgreeWithBruteForce) {
  Program program(GetParam().body);
  ASSERT_TRUE(program.op);
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1},   {1, 33},  {33, 1},  {16, 24}, {17, 40}, {40, 17},
                                               {50, 50}, {64, 96}, {65, 97}, {0, 9},   {9, 0}};
  const std::pair<int64_t, int64_t> tiles[] = {{8, 8}, {16, 24}, {64, 5}};
  for (auto [queryLen, kvLen] : sizes)
    for (auto [queryTile, kvTile] : tiles) {
      auto maps = mapTiles(program.op, inputsFor(queryLen, kvLen, queryTile, kvTile));
      ASSERT_TRUE(succeeded(maps));
      checkMaps(GetParam(), *maps);
    }
}

INSTANTIATE_TEST_SUITE_P(Masks, TileMaps, testing::ValuesIn(masks()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(TileMap, EntriesWithOneMapShareIt) {
  auto entries = [](const AttentionTileMap &maps) {
    std::vector<std::array<int64_t, 4>> all;
    for (auto &[map, ranges] : maps.maps)
      for (const EntryRange &range : ranges)
        all.push_back({range.firstBatch, range.lastBatch, range.firstHead, range.lastHead});
    return all;
  };
  using Entries = std::vector<std::array<int64_t, 4>>;
  Program causal("%keep = arith.cmpi sle, %j, %i : index");
  EXPECT_EQ(entries(*mapTiles(causal.op, inputsFor(40, 40, 8, 8))), (Entries{{0, 1, 0, 2}}));
  // Heads 0 and 1 keep 4 keys, head 2 keeps 8; the batch entries only look different.
  Program byHead("%two = arith.constant 2 : index\n%c4 = arith.constant 4 : index\n%x = arith.divui %h, %two : index\n"
                 "%y = arith.muli %x, %c4 : index\n%z = arith.addi %y, %b : index\n%u = arith.subi %j, %c4 : index\n"
                 "%v = arith.addi %u, %b : index\n%keep = arith.cmpi slt, %v, %z : index");
  EXPECT_EQ(entries(*mapTiles(byHead.op, inputsFor(4, 12, 4, 4))), (Entries{{0, 1, 0, 1}, {0, 1, 2, 2}}));
}

TEST(TileMap, LengthsEndTheKeys) {
  Program program("", "kv_lengths(%lengths : tensor<?xi64>)");
  TileMapInputs inputs = inputsFor(10, 40, 8, 8);
  inputs.values[5] = {9, 40};
  auto maps = mapTiles(program.op, inputs);
  ASSERT_TRUE(succeeded(maps));
  ASSERT_EQ(maps->maps.size(), 2u);
  EXPECT_EQ(maps->maps[0].first.count(TileClass::Full), 4);
  EXPECT_EQ(maps->maps[0].first.visitedScores, 10 * 9);
  EXPECT_EQ(maps->maps[1].first.count(TileClass::Full), 10);
  EXPECT_EQ(maps->maps[1].first.visitedScores, 10 * 40);
}

/// Unknown content leaves a tile to the run, unless the rest of the mask decides it.
TEST(TileMap, UnknownContentIsDecidedAtRunTime) {
  Program program(
      "%x = tensor.extract %ids[%j] : tensor<?xi32>\n%z = arith.constant 0 : i32\n"
      "%p = arith.cmpi eq, %x, %z : i32\n%c = arith.cmpi sle, %j, %i : index\n%keep = arith.andi %p, %c : i1");
  TileMapInputs inputs = inputsFor(16, 16, 8, 8);
  inputs.values.erase(3);
  auto maps = mapTiles(program.op, inputs);
  ASSERT_TRUE(succeeded(maps));
  EXPECT_EQ(maps->maps[0].first.tiles,
            (std::vector<TileClass>{TileClass::RunTime, TileClass::Skipped, TileClass::RunTime, TileClass::RunTime}));
}

TEST(TileMap, RowsFollowTheEndsOfTheLoops) {
  std::vector<TileClass> row(6);
  decideTileRow({4, 8, 16, 18}, 4, nullptr, row);
  EXPECT_EQ(row, (std::vector<TileClass>{TileClass::Skipped, TileClass::Partial, TileClass::Full, TileClass::Full,
                                         TileClass::Partial, TileClass::Skipped}));
  std::vector<std::pair<int64_t, int64_t>> asked;
  auto classify = [&](int64_t j0, int64_t keys) { return asked.push_back({j0, keys}), TileClass::Full; };
  decideTileRow({4, 8, 8, 10}, 4, classify, row);
  EXPECT_EQ(asked, (std::vector<std::pair<int64_t, int64_t>>{{4, 4}, {8, 2}}));
  decideTileRow({10, 10, 10, 10}, 4, nullptr, row);
  EXPECT_EQ(llvm::count(row, TileClass::Skipped), 6);
}

/// Entries without tiles count as well: there may be 2^60 of them.
TEST(TileMap, ManyEntriesWithoutTilesAreRefused) {
  Program program("%x = arith.addi %b, %h : index\n%keep = arith.cmpi sle, %j, %x : index");
  TileMapInputs inputs = inputsFor(0, 16, 8, 8);
  inputs.sizes["batch"] = inputs.sizes["heads"] = int64_t(1) << 30;
  std::string message;
  ScopedDiagnosticHandler handler(&program.context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(mapTiles(program.op, inputs)));
  EXPECT_EQ(message, "'attn.attention' op expects at most 1000000 tiles in a map, but got 0 x 2 for each of "
                     "1152921504606846976 batch entries and heads; give smaller sizes or larger tiles");
}
