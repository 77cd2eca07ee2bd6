//===- TileClassesTest.cpp - classes of tiles that the caller keeps ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A record of attn.classify_tiles is compared, word by word, with one that a loop over all pairs writes. Attention with
// the record must give the bits of attention without, visit the tiles with a kept key alone, refuse a record that was
// made for something else, and stay inside its buffers whatever the record holds.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "test/Unit/AttentionText.h"
#include "test/Unit/SuiteTarget.h"
#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <random>

namespace {

constexpr int64_t kTileQ = 16, kTileKv = 24, kHeaderWords = 7;

struct Sizes {
  int64_t batch, heads, queryLen, kvLen;
};

struct Data {
  /// [batch, queryLen], [batch, kvLen], [batch].
  std::vector<int32_t> queryIds, keyIds, lengths;
};

struct Mask {
  const char *name;
  /// The clauses of both ops; %qi and %ki are the ids.
  const char *clauses;
  bool hasLengths;
  std::function<bool(const Data &data, const Sizes &sizes, int64_t b, int64_t h, int64_t i, int64_t j)> keep;
};

int32_t queryId(const Data &data, const Sizes &sizes, int64_t b, int64_t i) {
  return data.queryIds[b * sizes.queryLen + i];
}
int32_t keyId(const Data &data, const Sizes &sizes, int64_t b, int64_t j) { return data.keyIds[b * sizes.kvLen + j]; }

const char *const kHeadWindow = R"(where(%bb, %hh, %i, %j) {
    %c9 = arith.constant 9 : index
    %reach = arith.muli %hh, %c9 : index
    %x = tensor.extract %qi[%bb, %i] : tensor<?x?xi32>
    %y = tensor.extract %ki[%bb, %j] : tensor<?x?xi32>
    %same = arith.cmpi eq, %x, %y : i32
    %last = arith.addi %i, %reach : index
    %near = arith.cmpi sle, %j, %last : index
    %keep = arith.andi %same, %near : i1
    attn.yield %keep : i1 })";

std::vector<Mask> masks() {
  return {
      {"document_causal", "masks(document(%qi : tensor<?x?xi32>, %ki : tensor<?x?xi32>), causal<top_left>)", false,
       [](const Data &d, const Sizes &s, int64_t b, int64_t, int64_t i, int64_t j) {
         return queryId(d, s, b, i) == keyId(d, s, b, j) && j <= i;
       }},
      {"document_with_lengths",
       "masks(document(%qi : tensor<?x?xi32>, %ki : tensor<?x?xi32>)) kv_lengths(%l : tensor<?xi32>)", true,
       [](const Data &d, const Sizes &s, int64_t b, int64_t, int64_t i, int64_t j) {
         return queryId(d, s, b, i) == keyId(d, s, b, j);
       }},
      {"heads_differ", kHeadWindow, false,
       [](const Data &d, const Sizes &s, int64_t b, int64_t h, int64_t i, int64_t j) {
         return queryId(d, s, b, i) == keyId(d, s, b, j) && j <= i + 9 * h;
       }},
      {"causal", "masks(causal<bottom_right>)", false,
       [](const Data &, const Sizes &s, int64_t, int64_t, int64_t i, int64_t j) {
         return j <= i + s.kvLen - s.queryLen;
       }},
      {"dilated", "masks(dilated<left = 90, right = 0, step = 30, top_left>)", false,
       [](const Data &, const Sizes &, int64_t, int64_t, int64_t i, int64_t j) {
         return j <= i && i - j <= 90 && (i - j) % 30 == 0;
       }},
  };
}

std::string classifyText(const Mask &mask) {
  return std::string(
             R"(func.func @f(%b: index, %h: index, %n: index, %m: index, %qi: tensor<?x?xi32>, %ki: tensor<?x?xi32>,
                          %l: tensor<?xi32>) -> tensor<?xi32> {
  %words = attn.tile_classes_size 16 x 24 sizes(%b, %h, %n, %m)
  %o = tensor.empty(%words) : tensor<?xi32>
  %r = attn.classify_tiles 16 x 24 sizes(%b, %h, %n, %m) )") +
         mask.clauses + R"( : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
})";
}

std::string attentionText(const Mask &mask, const std::string &tiles) {
  AttentionText text;
  text.clauses = mask.clauses + tiles;
  text.arguments = "%qi: tensor<?x?xi32>, %ki: tensor<?x?xi32>, %l: tensor<?xi32>, %t: tensor<?xi32>";
  return dynamicAttention(text);
}

/// Document ids that change now and then; keys beyond the logical end of each batch entry.
Data makeData(const Sizes &sizes, unsigned seed) {
  std::mt19937 random(seed);
  Data data;
  auto fill = [&](std::vector<int32_t> &ids, int64_t length) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      int32_t id = 0;
      for (int64_t n = 0; n < length; ++n)
        ids.push_back(id += random() % 31 == 0);
    }
  };
  fill(data.queryIds, sizes.queryLen);
  fill(data.keyIds, sizes.kvLen);
  for (int64_t b = 0; b < sizes.batch; ++b)
    data.lengths.push_back(static_cast<int32_t>(random() % (sizes.kvLen + 1)));
  return data;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The record by its definition; counts the tiles with a kept key over `heads` heads.
std::vector<int32_t> recordByHand(const Mask &mask, const Data &data, const Sizes &sizes, int64_t *kept = nullptr) {
  std::vector<int32_t> record = {0x41545443,
                                 kTileQ,
                                 kTileKv,
                                 static_cast<int32_t>(sizes.batch),
                                 static_cast<int32_t>(sizes.heads),
                                 static_cast<int32_t>(sizes.queryLen),
                                 static_cast<int32_t>(sizes.kvLen)};
  auto kvEnd = [&](int64_t b) { return mask.hasLengths ? data.lengths[b] : sizes.kvLen; };
  for (int64_t b = 0; b < sizes.batch; ++b)
    record.push_back(static_cast<int32_t>(kvEnd(b)));
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (int64_t h = 0; h < sizes.heads; ++h)
      for (int64_t i0 = 0; i0 < sizes.queryLen; i0 += kTileQ) {
        std::vector<int32_t> row(1 + 2 * ceilDiv(sizes.kvLen, kTileKv));
        int previous = 0;
        for (int64_t j0 = 0; j0 < kvEnd(b); j0 += kTileKv) {
          bool any = false, all = true;
          for (int64_t i = i0; i < std::min(i0 + kTileQ, sizes.queryLen); ++i)
            for (int64_t j = j0; j < std::min<int64_t>(j0 + kTileKv, kvEnd(b)); ++j) {
              bool keep = mask.keep(data, sizes, b, h, i, j);
              any |= keep;
              all &= keep;
            }
          int now = any ? (all ? 2 : 1) : 0;
          if (now && now != previous) {
            row[1 + 2 * row[0]] = static_cast<int32_t>(j0 / kTileKv * 2 + (now == 2));
            ++row[0];
          }
          if (now)
            row[2 * row[0]] = static_cast<int32_t>(j0 / kTileKv + 1);
          previous = now;
          if (kept)
            *kept += now != 0;
        }
        record.insert(record.end(), row.begin(), row.end());
      }
  return record;
}

/// With keys in segments of two tiles, or as the cost model has it.
attn::Kernel compile(const std::string &text, bool hasSegments = false) {
  auto module = attn::Module::parse(text, "test.mlir");
  EXPECT_TRUE(module.ok()) << module.error().str();
  auto options = attn::CompileOptions().tileQ(kTileQ).tileKv(kTileKv).countKvTiles(true).segmentKeys(
      hasSegments ? 2 * kTileKv : 0);
  auto kernel = module->compile("f", attn::Target::named(suiteCpu()), options);
  EXPECT_TRUE(kernel.ok()) << kernel.error().str();
  return *kernel;
}

attn::Kernel compileClassify(const Mask &mask) { return compile(classifyText(mask)); }
/// Attention with a pre-pass of its own.
attn::Kernel compileAttend(const Mask &mask, bool hasSegments = false) {
  return compile(attentionText(mask, ""), hasSegments);
}
/// Attention that is given a record.
attn::Kernel compileAttendKept(const Mask &mask, bool hasSegments = false) {
  return compile(attentionText(mask, " tiles(%t : tensor<?xi32> of 16 x 24)"), hasSegments);
}

attn::Result<attn::RunReport> runClassify(const attn::Kernel &kernel, const Sizes &sizes, Data &data,
                                          std::vector<int32_t> &record) {
  int64_t entries = static_cast<int64_t>(data.lengths.size());
  return kernel.run(
      {sizes.batch, sizes.heads, sizes.queryLen, sizes.kvLen, attn::view(data.queryIds, {entries, sizes.queryLen}),
       attn::view(data.keyIds, {entries, sizes.kvLen}), attn::view(data.lengths, {entries})},
      {attn::view(record, {static_cast<int64_t>(record.size())})}, attn::RunOptions().threads(2).leastWork(1));
}

struct Outcome {
  std::vector<float> out;
  int64_t kvTiles = 0;
  std::string error;
};

/// Guards of this many elements lie in front of and behind the output.
constexpr size_t kGuard = 64;
constexpr float kGuardValue = 12345;

Outcome runAttention(const attn::Kernel &kernel, const Sizes &sizes, Data &data, std::vector<int32_t> &record) {
  const int64_t size = 4;
  std::vector<float> q(sizes.batch * sizes.heads * sizes.queryLen * size),
      k(sizes.batch * sizes.heads * sizes.kvLen * size), v(k.size());
  for (size_t n = 0; n < q.size(); ++n)
    q[n] = static_cast<float>((n * 37) % 17) / 8 - 1;
  for (size_t n = 0; n < k.size(); ++n) {
    k[n] = static_cast<float>((n * 53) % 19) / 9 - 1;
    v[n] = static_cast<float>((n * 29) % 23) / 11 - 1;
  }
  std::vector<float> guarded(q.size() + 2 * kGuard, kGuardValue);
  auto report = kernel.run(
      {attn::view(q, {sizes.batch, sizes.heads, sizes.queryLen, size}),
       attn::view(k, {sizes.batch, sizes.heads, sizes.kvLen, size}),
       attn::view(v, {sizes.batch, sizes.heads, sizes.kvLen, size}),
       attn::view(data.queryIds, {sizes.batch, sizes.queryLen}), attn::view(data.keyIds, {sizes.batch, sizes.kvLen}),
       attn::view(data.lengths, {sizes.batch}), attn::view(record, {static_cast<int64_t>(record.size())})},
      {attn::view(guarded.data() + kGuard, {sizes.batch, sizes.heads, sizes.queryLen, size})},
      attn::RunOptions().threads(2).leastWork(1));
  Outcome outcome;
  if (report.ok())
    outcome.kvTiles = report->kvTiles;
  else
    outcome.error = report.error().str();
  for (size_t n = 0; n < kGuard; ++n) {
    EXPECT_EQ(guarded[n], kGuardValue);
    EXPECT_EQ(guarded[guarded.size() - 1 - n], kGuardValue);
  }
  outcome.out.assign(guarded.begin() + kGuard, guarded.end() - kGuard);
  return outcome;
}

const Sizes kSizes[] = {{1, 1, 1, 1},     {2, 3, 17, 17},   {2, 2, 64, 96}, {1, 2, 65, 97}, {3, 1, 40, 100},
                        {2, 2, 131, 250}, {2, 2, 100, 100}, {2, 1, 7, 0},   {2, 1, 0, 7},   {0, 2, 5, 5}};

std::string text(const Sizes &sizes) {
  return std::to_string(sizes.batch) + " x " + std::to_string(sizes.heads) + " x " + std::to_string(sizes.queryLen) +
         " x " + std::to_string(sizes.kvLen);
}

class TileClasses : public testing::TestWithParam<Mask> {};

} // namespace

TEST_P(TileClasses, RecordIsWhatTheDefinitionSays) {
  const Mask &mask = GetParam();
  attn::Kernel classify = compileClassify(mask);
  for (const Sizes &sizes : kSizes) {
    Data data = makeData(sizes, 3);
    std::vector<int32_t> want = recordByHand(mask, data, sizes), got(want.size(), -1);
    auto report = runClassify(classify, sizes, data, got);
    ASSERT_TRUE(report.ok()) << report.error().str();
    EXPECT_EQ(got, want) << text(sizes);
  }
}

static void checkKept(const Mask &mask, bool hasSegments) {
  SCOPED_TRACE(hasSegments ? "in segments" : "in one loop");
  attn::Kernel attendKept = compileAttendKept(mask, hasSegments), attend = compileAttend(mask, hasSegments);
  for (const Sizes &sizes : kSizes) {
    Data data = makeData(sizes, 5);
    int64_t kept = 0;
    std::vector<int32_t> record = recordByHand(mask, data, sizes, &kept);
    Outcome own = runAttention(attend, sizes, data, record);
    Outcome given = runAttention(attendKept, sizes, data, record);
    ASSERT_EQ(own.error + given.error, "") << text(sizes);
    EXPECT_EQ(std::memcmp(own.out.data(), given.out.data(), own.out.size() * sizeof(float)), 0) << text(sizes);
    EXPECT_EQ(given.kvTiles, kept) << text(sizes);
    EXPECT_EQ(own.kvTiles, kept) << text(sizes);
  }
}

TEST_P(TileClasses, KeptOnesChangeNoBitAndLeaveNoEmptyTile) {
  for (bool hasSegments : {false, true})
    checkKept(GetParam(), hasSegments);
}

/// Whatever is behind the header, the kernel reads and writes its own operands alone.
TEST_P(TileClasses, GarbageStaysInside) {
  const Mask &mask = GetParam();
  attn::Kernel attendKept = compileAttendKept(mask), inSegments = compileAttendKept(mask, /*hasSegments=*/true);
  Sizes sizes = {2, 2, 65, 97};
  Data data = makeData(sizes, 7);
  std::vector<int32_t> record = recordByHand(mask, data, sizes);
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    for (size_t n = kHeaderWords + sizes.batch; n < record.size(); ++n)
      record[n] = round == 0 ? INT32_MAX : round == 1 ? INT32_MIN : static_cast<int32_t>(random() >> (random() % 32));
    EXPECT_EQ(runAttention(attendKept, sizes, data, record).error, "");
    EXPECT_EQ(runAttention(inSegments, sizes, data, record).error, "");
  }
}

TEST_P(TileClasses, RecordOfAnotherProblemIsRefused) {
  const Mask &mask = GetParam();
  attn::Kernel attendKept = compileAttendKept(mask);
  Sizes sizes = {2, 3, 65, 97};
  Data data = makeData(sizes, 9);
  const std::vector<int32_t> record = recordByHand(mask, data, sizes);
  auto refusal = [&](std::vector<int32_t> other) { return runAttention(attendKept, sizes, data, other).error; };
  const char *const names[] = {"a record of attn.classify_tiles",
                               "a query tile of 16",
                               "a kv tile of 24",
                               "batch 2",
                               "heads 3",
                               "queryLen 65",
                               "kvLen 97",
                               "kv_lengths of"};
  for (auto [word, name] :
       {std::pair(0, names[0]), std::pair(1, names[1]), std::pair(2, names[2]), std::pair(3, names[3]),
        std::pair(4, names[4]), std::pair(5, names[5]), std::pair(6, names[6]), std::pair(8, names[7])}) {
    std::vector<int32_t> other = record;
    other[word] += 5;
    EXPECT_NE(refusal(other).find(name), std::string::npos) << name << ": " << refusal(other);
  }
  std::vector<int32_t> shorter(record.begin(), record.end() - 1), empty;
  EXPECT_NE(refusal(shorter).find("words, but got " + std::to_string(shorter.size())), std::string::npos);
  EXPECT_NE(refusal(empty).find("at least 7 words, but got 0"), std::string::npos) << refusal(empty);
}

INSTANTIATE_TEST_SUITE_P(Masks, TileClasses, testing::ValuesIn(masks()),
                         [](const auto &info) { return std::string(info.param.name); });

/// One entry of a record serves all heads where the mask does not tell them apart.
TEST(TileClassesShared, OneHeadServesAllUnlessTheMaskDependsOnIt) {
  for (const Mask &mask : masks()) {
    attn::Kernel classify = compileClassify(mask), attendKept = compileAttendKept(mask), attend = compileAttend(mask);
    Sizes sizes = {2, 3, 65, 97}, oneHead = {2, 1, 65, 97};
    Data data = makeData(sizes, 13);
    std::vector<int32_t> record = recordByHand(mask, data, sizes), shared(recordByHand(mask, data, oneHead).size());
    ASSERT_TRUE(runClassify(classify, oneHead, data, shared).ok());
    Outcome own = runAttention(attend, sizes, data, record);
    Outcome given = runAttention(attendKept, sizes, data, shared);
    if (std::string(mask.name) == "heads_differ") {
      EXPECT_NE(given.error.find("to be classified for heads 3, but got 1"), std::string::npos) << given.error;
      continue;
    }
    ASSERT_EQ(given.error, "") << mask.name;
    EXPECT_EQ(std::memcmp(own.out.data(), given.out.data(), own.out.size() * sizeof(float)), 0) << mask.name;
  }
}

/// Lengths that have changed since are found out.
TEST(TileClassesShared, StaleLengthsAreRefused) {
  Mask mask = masks()[1];
  attn::Kernel attendKept = compileAttendKept(mask);
  Sizes sizes = {2, 1, 30, 60};
  Data data = makeData(sizes, 15);
  data.lengths = {40, 50};
  std::vector<int32_t> record = recordByHand(mask, data, sizes);
  data.lengths[1] = 51;
  EXPECT_NE(runAttention(attendKept, sizes, data, record).error.find("kv_lengths of 51, but got 50"),
            std::string::npos);
}

TEST(TileClassesShared, SizesAreChecked) {
  attn::Kernel classify = compileClassify(masks()[0]);
  Sizes sizes = {1, 1, 30, 60};
  Data data = makeData(sizes, 17);
  std::vector<int32_t> record = recordByHand(masks()[0], data, sizes);
  auto refusal = [&](const Sizes &asked, std::vector<int32_t> record) {
    auto report = runClassify(classify, asked, data, record);
    return report.ok() ? std::string() : report.error().str();
  };
  EXPECT_EQ(refusal(sizes, record), "");
  EXPECT_NE(refusal({-1, 1, 30, 60}, record), "");
  EXPECT_NE(refusal({1, 1, 30, int64_t(1) << 40}, record), "");
  EXPECT_NE(refusal({int64_t(1) << 30, int64_t(1) << 30, 30, 60}, record), "");
  record.push_back(0);
  EXPECT_NE(refusal(sizes, record), "");
}
