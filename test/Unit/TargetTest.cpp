//===- TargetTest.cpp - target descriptions and the tile model ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/TargetDescription.h"
#include "attn/Target/TileModel.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include "gtest/gtest.h"

using namespace attn;

namespace {

bool isX86Host() { return llvm::Triple(llvm::sys::getProcessTriple()).isX86(); }

TargetDescription describe(llvm::StringRef name) {
  llvm::Expected<TargetDescription> target = describeTarget(name);
  if (target)
    return *target;
  ADD_FAILURE() << llvm::toString(target.takeError());
  return {};
}

TEST(TargetDescription, LevelsOfX86) {
  if (!isX86Host())
    GTEST_SKIP() << "CPU names are those of the host's architecture";
  TargetDescription v2 = describe("x86-64-v2"), v3 = describe("x86-64-v3"), v4 = describe("x86-64-v4");
  EXPECT_EQ(v2.vectorBits, 128u);
  EXPECT_EQ(v2.vectorRegisters, 16u);
  EXPECT_FALSE(v2.hasFma);
  EXPECT_EQ(v3.vectorBits, 256u);
  EXPECT_EQ(v3.vectorRegisters, 16u);
  EXPECT_TRUE(v3.hasFma);
  EXPECT_EQ(v4.vectorBits, 512u);
  EXPECT_EQ(v4.vectorRegisters, 32u);
}

TEST(TargetDescription, HostRunsItsOwnCode) {
  TargetDescription host = describe("host");
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GT(host.l1Bytes, 0);
  EXPECT_FALSE(static_cast<bool>(checkSupportedByHost(host)));
  EXPECT_EQ(describe("native").cpu, host.cpu);
}

TEST(TargetDescription, UnknownNameListsWhatIsAccepted) {
  for (const char *name : {"pentium-9000", "", "help"}) {
    llvm::Expected<TargetDescription> target = describeTarget(name);
    ASSERT_FALSE(static_cast<bool>(target)) << name;
    std::string message = llvm::toString(target.takeError());
    EXPECT_NE(message.find("unknown target CPU '" + std::string(name) + "'; use host, x86-64-v3, x86-64-v4"),
              std::string::npos)
        << message;
  }
}

TEST(TargetDescription, CpuWithout64BitModeIsRefused) {
  if (!isX86Host())
    GTEST_SKIP() << "a rule of x86";
  llvm::Expected<TargetDescription> target = describeTarget("i486");
  ASSERT_FALSE(static_cast<bool>(target));
  EXPECT_EQ(llvm::toString(target.takeError()), "target CPU 'i486' has no 64-bit mode; use x86-64 or a later CPU");
}

TEST(TargetDescription, InstructionSetsThatTheHostLacksAreRefused) {
  if (!isX86Host())
    GTEST_SKIP() << "CPU names are those of the host's architecture";
  // No CPU has both AMD's FMA4 and AVX-512, so one of the two is always missing.
  TargetDescription target = describe("x86-64-v4");
  target.features = "+fma4,+avx512f";
  llvm::Error error = checkSupportedByHost(target);
  ASSERT_TRUE(static_cast<bool>(error));
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("this machine cannot run code for target CPU 'x86-64-v4': it lacks "), std::string::npos)
      << message;
  EXPECT_TRUE(message.find("fma4") != std::string::npos || message.find("avx512f") != std::string::npos) << message;
}

TargetDescription registers(unsigned bits, unsigned count, bool hasFma) {
  TargetDescription target;
  target.vectorBits = bits;
  target.vectorRegisters = count;
  target.hasFma = hasFma;
  return target;
}

TileSizes choose(const TargetDescription &target, int64_t headDim, int64_t valueDim, unsigned scoreBits = 32) {
  return chooseTiles(target, {scoreBits, headDim, valueDim});
}

/// Tiles for some queries of a group of heads.
TileSizes chooseFew(const TargetDescription &target, int64_t queryLen, int64_t group, unsigned scoreBits = 32) {
  return chooseTiles(target, {scoreBits, 64, 64, queryLen, group});
}

TEST(TileModel, FewQueriesAreOneTileOfWholeVectors) {
  TargetDescription avx2 = registers(256, 16, true);
  for (auto [queryLen, group, rows, together] : {std::tuple(1, 1, 8, 1),
                                                 {1, 4, 8, 4},
                                                 {1, 8, 8, 8},
                                                 {3, 3, 16, 3},
                                                 {2, 7, 16, 7},
                                                 {1, 64, 64, 64},
                                                 {64, 1, 64, 1},
                                                 {0, 4, 8, 4},
                                                 {33, 2, 64, 1},
                                                 {1, 65, 8, 1},
                                                 {65, 1, 64, 1},
                                                 {100, 8, 64, 1}}) {
    TileSizes tiles = chooseFew(avx2, queryLen, group);
    EXPECT_EQ(tiles.queryRows, rows) << queryLen << " x " << group;
    EXPECT_EQ(tiles.group, together) << queryLen << " x " << group;
    EXPECT_EQ(tiles.queryRows % tiles.lanes, 0);
    EXPECT_LE(tiles.lanes, 16);
  }
  EXPECT_EQ(chooseFew(avx2, 1, 1, 64).queryRows, 4);
  EXPECT_EQ(chooseFew(registers(512, 32, true), 1, 4).queryRows, 16);
  // Only the run knows: the tile of many queries.
  EXPECT_EQ(chooseFew(avx2, -1, 4).queryRows, 64);
  EXPECT_EQ(chooseFew(avx2, -1, 4).group, 1);
}

TEST(TileModel, LongKeysOfFewQueriesAreSplit) {
  auto segments = [](int64_t queryLen, int64_t kvLen, int64_t group = 4) {
    TileQuery query{32, 128, 128, queryLen, group, kvLen};
    return chooseSegmentTiles(query, chooseTiles(registers(256, 16, true), query));
  };
  // Tiles have 60 keys: 2048 are 35 of them, which have 2100 keys.
  for (int64_t queryLen : {1, 4, 64}) {
    EXPECT_EQ(segments(queryLen, 4096), 35) << queryLen;
    EXPECT_EQ(segments(queryLen, 2101), 35) << queryLen;
    EXPECT_EQ(segments(queryLen, -1), 35) << queryLen;
    for (int64_t kvLen : {0, 1, 2048, 2100})
      EXPECT_EQ(segments(queryLen, kvLen), 0) << queryLen << " x " << kvLen;
  }
  // Heads that are too many for one tile do not matter; queries that are, or that only the run knows, do.
  EXPECT_EQ(segments(1, 4096, 100), 35);
  for (int64_t queryLen : {-1, 65, 4096})
    EXPECT_EQ(segments(queryLen, 1 << 20), 0) << queryLen;
  TileSizes tiles = choose(registers(512, 32, true), 64, 64);
  tiles.kvTile = 4096;
  EXPECT_EQ(chooseSegmentTiles({32, 64, 64, 1}, tiles), 1);
}

TEST(TileModel, BlocksOfFewerVectorsHaveMoreRows) {
  TargetDescription avx2 = registers(256, 16, true), avx512 = registers(512, 32, true);
  auto rows = [](const TargetDescription &target, int64_t lanes, unsigned scoreBits = 32) {
    return blockRowsFor(target, choose(target, 64, 64, scoreBits), scoreBits, lanes);
  };
  EXPECT_EQ(rows(avx2, 16), 6);
  EXPECT_EQ(rows(avx2, 8), 12);
  EXPECT_EQ(rows(avx2, 4), 12); // no more accumulators than registers
  EXPECT_EQ(rows(avx2, 4, 64), 12);
  EXPECT_EQ(rows(avx512, 64), 4);
  EXPECT_EQ(rows(avx512, 32), 8);
  EXPECT_EQ(rows(avx512, 16), 16);
  EXPECT_EQ(rows(avx512, 8), 16);
}

TEST(TileModel, Avx512) {
  TileSizes tiles = choose(registers(512, 32, true), 64, 64);
  EXPECT_EQ(tiles.lanes, 4 * 512 / 32);
  EXPECT_EQ(tiles.queryRows, 64);
  EXPECT_EQ(tiles.blockRows, 4);
  EXPECT_EQ(tiles.kvTile, 128);
}

TEST(TileModel, Avx2) {
  TileSizes tiles = choose(registers(256, 16, true), 64, 64);
  EXPECT_EQ(tiles.lanes, 2 * 256 / 32);
  EXPECT_EQ(tiles.queryRows, 64);
  EXPECT_EQ(tiles.blockRows, 6);
  EXPECT_EQ(tiles.kvTile, 120);
  EXPECT_EQ(choose(registers(256, 16, true), 128, 64).kvTile, 60);
}

TEST(TileModel, F64HasHalfTheLanes) {
  EXPECT_EQ(choose(registers(512, 32, true), 64, 64, 64).lanes, 32);
  EXPECT_EQ(choose(registers(128, 16, false), 64, 64, 64).lanes, 4);
}

TEST(TileModel, LargeOrDynamicHeadsGetSmallerTiles) {
  TargetDescription target = registers(512, 32, true);
  for (auto [headDim, valueDim] : {std::pair(65, 64), std::pair(64, 65), std::pair(-1, 64), std::pair(64, -1)})
    EXPECT_EQ(choose(target, headDim, valueDim).kvTile, 64) << headDim << " " << valueDim;
}

TEST(TileModel, BlocksFitTheRegisters) {
  for (unsigned bits : {128, 256, 512})
    for (unsigned count : {16, 32})
      for (bool hasFma : {false, true})
        for (unsigned scoreBits : {32, 64}) {
          TileSizes tiles = choose(registers(bits, count, hasFma), 64, 64, scoreBits);
          int64_t vectors = tiles.lanes * scoreBits / bits;
          EXPECT_LE(tiles.blockRows * vectors + vectors + 1 + !hasFma, count) << bits << " " << count << " " << hasFma;
          EXPECT_EQ(tiles.kvTile % tiles.blockRows, 0);
          EXPECT_EQ(tiles.queryRows % tiles.lanes, 0);
        }
}

} // namespace

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

static GpuTarget gpu(llvm::StringRef chip) {
  llvm::Expected<GpuTarget> target = describeGpu(chip);
  if (target)
    return *target;
  ADD_FAILURE() << llvm::toString(target.takeError());
  return {};
}

TEST(GpuTarget, Chips) {
  EXPECT_EQ(gpu("sm_86").version, 86u);
  EXPECT_FALSE(gpu("sm_90").hasWarpgroups);
  EXPECT_TRUE(gpu("sm_90a").hasWarpgroups);
  // wgmma is sm_90a's alone.
  EXPECT_FALSE(gpu("sm_100a").hasWarpgroups);
  for (auto [chip, kibibytes] : {std::pair("sm_80", 163),
                                 {"sm_86", 99},
                                 {"sm_87", 163},
                                 {"sm_89", 99},
                                 {"sm_90", 227},
                                 {"sm_90a", 227},
                                 {"sm_100", 227},
                                 {"sm_120", 99}})
    EXPECT_EQ(gpu(chip).sharedBytes, kibibytes << 10) << chip;
  for (const char *name : {"sm_70", "sm_", "sm_90b", "sm_a", "host", ""})
    EXPECT_FALSE(llvm::errorToBool(describeGpu("sm_80").takeError()) ||
                 !llvm::errorToBool(describeGpu(name).takeError()))
        << name;
}

TEST(TileModel, WarpgroupsMultiplySixtyFourRowsOf16Bits) {
  for (auto [bits, rows, expected] :
       {std::tuple(16, 64, 1), {16, 128, 2}, {16, 32, 0}, {16, 96, 0}, {16, 256, 0}, {32, 128, 0}})
    EXPECT_EQ(gpuWarpgroups(gpu("sm_90a"), bits, rows), expected) << bits << " bits, " << rows << " rows";
  EXPECT_EQ(gpuWarpgroups(gpu("sm_80"), 16, 128), 0);
}

TEST(TileModel, GpuTilesFitSharedMemoryAndRegisters) {
  for (const char *chip : {"sm_80", "sm_86", "sm_90a"})
    for (unsigned bits : {16u, 32u})
      for (int64_t headDim = 16; headDim <= 256; headDim += 16) {
        TileQuery query{32, headDim, headDim};
        query.elementBits = bits;
        TileSizes tiles = chooseGpuTiles(gpu(chip), query);
        const int64_t warpgroups = gpuWarpgroups(gpu(chip), bits, tiles.queryRows);
        // A query tile, two stages of keys and of values; a block of sm_86 may have 99 KiB, of sm_90 227.
        const int64_t row = warpgroups ? (headDim * 2 + 127) / 128 * 128 : headDim * bits / 8;
        EXPECT_LE((tiles.queryRows + 4 * tiles.kvTile) * row, gpu(chip).sharedBytes)
            << chip << " " << bits << " " << headDim;
        // Accumulators and scores of a thread leave some of its registers for all else.
        const int64_t rows = warpgroups ? 16 : tiles.lanes;
        EXPECT_LE(rows * (headDim + tiles.kvTile) / 32, 200) << chip << " " << bits << " " << headDim;
        EXPECT_EQ(checkGpuTiles(query, tiles), "");
      }
}
