//===- KvSegmentsTest.cpp - keys in segments that are computed apart -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments of 16 keys, two kv tiles each, are forced on few queries, and results are compared with the reference at and
// around the ends of segments. A row's bits must depend on neither threads, batch nor what is skipped, and each kv tile
// must be computed in one segment.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using grid::Buffer;

namespace {

constexpr int64_t kTileKv = 8, kSegmentKeys = 16;
constexpr int64_t kHeads = 4, kKvHeads = 2, kHeadDim = 9, kValueDim = 5;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

/// An attention and its sizes; those below 0 are dynamic.
struct Program {
  /// Named masks and scores, regions; %qi and %ki are ids of queries and keys, tensor<?xi32>.
  std::string clauses;
  int64_t batch = 2, queryLen = 1, kvLen = -1;
  std::string type = "f32";
  bool hasLengths = false, hasSink = false, hasLse = true;
};

std::string shaped(std::initializer_list<int64_t> sizes, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

std::string textOf(const Program &p) {
  std::string wide = p.type == "f64" ? "f64" : "f32";
  std::string q = shaped({p.batch, kHeads, p.queryLen, kHeadDim}, p.type);
  std::string k = shaped({p.batch, kKvHeads, p.kvLen, kHeadDim}, p.type);
  std::string v = shaped({p.batch, kKvHeads, p.kvLen, kValueDim}, p.type);
  std::string out = shaped({p.batch, kHeads, p.queryLen, kValueDim}, p.type);
  std::string lse = shaped({p.batch, kHeads, p.queryLen}, wide), sink = shaped({kHeads}, wide);
  std::string results = out + (p.hasLse ? ", " + lse : "");
  std::string text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v +
                     ", %qi: tensor<?xi32>, %ki: tensor<?xi32>, %n: tensor<?xi32>, %sink: " + sink + ") -> (" +
                     results + ") {\n  %scale = arith.constant 0.75 : " + wide + "\n  %c0 = arith.constant 0 : index\n";
  std::string size = p.batch < 0 ? "%batch" : "";
  text += "  %batch = tensor.dim %q, %c0 : " + q + "\n  %out = tensor.empty(" + size + ") : " + out +
          "\n  %lse = tensor.empty(" + size + ") : " + lse + "\n";
  text += "  %r" + std::string(p.hasLse ? ":2" : "") + " = attn.attention %q, %k, %v scale(%scale" +
          (wide == "f64" ? " : f64) " : ") ") + p.clauses + (p.hasSink ? " sink(%sink : " + sink + ")" : "") +
          (p.hasLengths ? " kv_lengths(%n : tensor<?xi32>)" : "") + "\n    : " + q + ", " + k + ", " + v +
          " outs(%out : " + out + ")" + (p.hasLse ? " lse(%lse : " + lse + ")" : "") + " -> " + results + "\n";
  return text + "  return %r" + (p.hasLse ? "#0, %r#1" : "") + " : " + results + "\n}\n";
}

attn::Module parse(const Program &program) {
  auto module = attn::Module::parse(textOf(program), "segments.mlir");
  EXPECT_TRUE(module.ok()) << module.error().str() << "\n" << textOf(program);
  return std::move(module).value();
}

/// Kernels on GPUs do not count.
bool isGpu() { return grid::isGpu(grid::testTarget()); }

attn::CompileOptions options(int64_t segmentKeys = kSegmentKeys) {
  return attn::CompileOptions().tileKv(kTileKv).segmentKeys(segmentKeys).countKvTiles(!isGpu());
}

attn::Kernel compile(const attn::Module &module, const attn::CompileOptions &options) {
  auto kernel = module.compile("f", attn::Target::named(grid::testTarget()), options);
  EXPECT_TRUE(kernel.ok()) << kernel.error().str();
  return std::move(kernel).value();
}

attn::DType typeOf(const std::string &name) {
  return name == "f64"    ? attn::DType::F64
         : name == "f16"  ? attn::DType::F16
         : name == "bf16" ? attn::DType::BF16
                          : attn::DType::F32;
}

/// Inputs and outputs of one run; outputs are NaN until they are written.
class Trial {
public:
  Trial(const Program &p, int64_t kvLen, int64_t batch = 2)
      : p(p), batch(batch), kvLen(kvLen), q(typeOf(p.type), {batch, kHeads, p.queryLen, kHeadDim}),
        k(typeOf(p.type), {batch, kKvHeads, kvLen, kHeadDim}), v(typeOf(p.type), {batch, kKvHeads, kvLen, kValueDim}),
        queryIds(attn::DType::I32, {p.queryLen}), keyIds(attn::DType::I32, {kvLen}), lengths(attn::DType::I32, {batch}),
        sink(wide(), {kHeads}), out(typeOf(p.type), {batch, kHeads, p.queryLen, kValueDim}),
        lse(wide(), {batch, kHeads, p.queryLen}) {
    // The same values for a batch entry, whatever the batch.
    fill(q, kHeads * p.queryLen * kHeadDim, 3);
    fill(k, kKvHeads * kvLen * kHeadDim, 5);
    fill(v, kKvHeads * kvLen * kValueDim, 7);
    for (int64_t i = 0; i < p.queryLen; ++i)
      queryIds.setInteger(i, i % 3);
    for (int64_t j = 0; j < kvLen; ++j)
      keyIds.setInteger(j, j / 11 % 3);
    for (int64_t b = 0; b < batch; ++b)
      setLength(b, b % 2 ? kvLen * 2 / 3 : 0);
    for (int64_t h = 0; h < kHeads; ++h)
      sink.set(h, h == 2 ? -kInf : h - 1.5);
  }

  /// Keys behind a logical end must not be read.
  void setLength(int64_t b, int64_t length) {
    lengths.setInteger(b, length);
    if (!p.hasLengths)
      return;
    for (int64_t row = 0; row < kKvHeads; ++row)
      for (int64_t j = length; j < kvLen; ++j)
        setKey(b * kKvHeads + row, j, kNaN, kNaN);
  }

  /// Sets all elements of a key and its value; `row` is batch entry * kKvHeads + kv head.
  void setKey(int64_t row, int64_t j, double key, double value) {
    for (int64_t d = 0; d < kHeadDim; ++d)
      k.set((row * kvLen + j) * kHeadDim + d, key);
    for (int64_t e = 0; e < kValueDim; ++e)
      v.set((row * kvLen + j) * kValueDim + e, value);
  }

  attn::RunReport run(const attn::Kernel &kernel, int64_t threads = 1) {
    std::vector<attn::MutableTensorView> outputs{out.view()};
    if (p.hasLse)
      outputs.push_back(lse.view());
    auto report = kernel.run(inputs(), outputs, attn::RunOptions().threads(threads).leastWork(1));
    EXPECT_TRUE(report.ok()) << report.error().str();
    for (Buffer *buffer : {&q, &k, &v, &queryIds, &keyIds, &lengths, &sink, &out, &lse})
      EXPECT_TRUE(buffer->guardsIntact());
    return report.ok() ? *report : attn::RunReport();
  }

  void check(const attn::Module &module) {
    std::vector<attn::TensorView> outputs{out.view()};
    if (p.hasLse)
      outputs.push_back(lse.view());
    auto comparisons = module.check("f", inputs(), outputs);
    ASSERT_TRUE(comparisons.ok()) << comparisons.error().str();
    for (size_t n = 0; n < comparisons->size(); ++n)
      EXPECT_TRUE((*comparisons)[n].pass) << "result " << n << ": " << (*comparisons)[n].message;
  }

  /// The bytes of the results of the first `entries` batch entries.
  std::string bits(int64_t entries) {
    auto bytes = [&](Buffer &buffer) {
      attn::MutableTensorView view = buffer.view();
      int64_t width = view.dtype == attn::DType::F64 ? 8 : view.dtype == attn::DType::F32 ? 4 : 2;
      return std::string(static_cast<const char *>(view.data), buffer.count() / batch * entries * width);
    };
    return bytes(out) + (p.hasLse ? bytes(lse) : "");
  }

  Program p;
  int64_t batch, kvLen;
  Buffer q, k, v, queryIds, keyIds, lengths, sink, out, lse;

private:
  attn::DType wide() const { return p.type == "f64" ? attn::DType::F64 : attn::DType::F32; }
  std::vector<attn::Argument> inputs() {
    return {q.view(), k.view(), v.view(), queryIds.view(), keyIds.view(), lengths.view(), sink.view()};
  }
  /// Values in [-1, 1] that repeat after `period` elements.
  static void fill(Buffer &buffer, int64_t period, int64_t factor) {
    for (int64_t n = 0; n < buffer.count(); ++n)
      buffer.set(n, static_cast<double>(n % period * factor * 37 % 65 - 32) / 32);
  }
};

const char *const kNoRowKeeps = "where(%b, %h, %i, %j) { %keep = arith.constant false\n attn.yield %keep : i1 }";
/// Queries before the second keep nothing; the others the keys of one tile and some of another segment.
const char *const kIslands = R"(where(%b, %h, %i, %j) {
    %one = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c35 = arith.constant 35 : index
    %any = arith.cmpi sge, %i, %one : index
    %low = arith.cmpi sge, %j, %c8 : index
    %high = arith.cmpi slt, %j, %c16 : index
    %first = arith.andi %low, %high : i1
    %second = arith.cmpi sge, %j, %c35 : index
    %either = arith.ori %first, %second : i1
    %keep = arith.andi %any, %either : i1
    attn.yield %keep : i1 })";

/// j in [i + 5, i + 20], written so that full tiles are worth a loop without the mask.
std::string expensive() {
  std::string text = "where(%b, %h, %i, %j) {\n  %c5 = arith.constant 5 : index\n  %low = arith.addi %i, %c5 : index\n"
                     "  %keep0 = arith.cmpi sge, %j, %low : index\n";
  for (int n = 0; n < 6; ++n) {
    std::string k = std::to_string(n);
    text += "  %c" + k + "x = arith.constant " + std::to_string(20 + n) + " : index\n  %high" + k +
            " = arith.addi %i, %c" + k + "x : index\n  %below" + k + " = arith.cmpi sle, %j, %high" + k +
            " : index\n  %keep" + std::to_string(n + 1) + " = arith.andi %keep" + k + ", %below" + k + " : i1\n";
  }
  return text + "  attn.yield %keep6 : i1 }";
}

struct Case {
  const char *name;
  std::string clauses;
  bool hasLengths = false;
};

std::vector<Case> cases() {
  return {{"plain", ""},
          {"causal_top_left", "masks(causal<top_left>)"},
          {"causal_bottom_right", "masks(causal<bottom_right>)"},
          {"window", "masks(window<left = 20, right = 3, bottom_right>)"},
          {"narrow_window", "masks(window<left = 2, right = 0, bottom_right>)"},
          {"lengths", "", true},
          {"lengths_and_causal", "masks(causal<bottom_right>)", true},
          {"documents", "masks(document(%qi : tensor<?xi32>, %ki : tensor<?xi32>))"},
          {"documents_and_lengths", "masks(document(%qi : tensor<?xi32>, %ki : tensor<?xi32>))", true},
          {"no_row_keeps", kNoRowKeeps},
          {"expensive", expensive()},
          {"islands", kIslands},
          {"softcap", "scores(softcap<3.0>) masks(causal<bottom_right>)"}};
}

class KvSegments : public testing::TestWithParam<Case> {
protected:
  Program program() const {
    Program p;
    p.clauses = GetParam().clauses;
    p.hasLengths = GetParam().hasLengths;
    return p;
  }
};

const int64_t kLengths[] = {0, 1, 7, kSegmentKeys - 1, kSegmentKeys, kSegmentKeys + 1, 3 * kSegmentKeys, 61};

} // namespace

TEST_P(KvSegments, AgreeWithTheReference) {
  Program p = program();
  for (p.queryLen = 1; p.queryLen <= 4; ++p.queryLen) {
    p.hasSink = p.queryLen % 2 == 0;
    attn::Module module = parse(p);
    attn::Kernel kernel = compile(module, options().checkBounds(!isGpu() && p.queryLen % 2 == 0));
    for (int64_t kvLen : kLengths) {
      SCOPED_TRACE(std::to_string(p.queryLen) + " x " + std::to_string(kvLen));
      Trial trial(p, kvLen);
      trial.run(kernel, /*threads=*/1 + kvLen % 3);
      trial.check(module);
    }
  }
}

TEST_P(KvSegments, OfStaticLengthsAgreeWithTheReference) {
  Program p = program();
  p.queryLen = 3;
  for (int64_t kvLen : {int64_t(0), kSegmentKeys, kSegmentKeys + 1, int64_t(61)}) {
    SCOPED_TRACE(kvLen);
    p.kvLen = kvLen;
    attn::Module module = parse(p);
    Trial trial(p, kvLen);
    attn::RunReport report = trial.run(compile(module, options()), /*threads=*/2);
    trial.check(module);
    if (GetParam().name == std::string("plain")) {
      // One segment is no split: there is nothing to merge, and no memory for it.
      EXPECT_EQ(report.allocations == 0, kvLen <= kSegmentKeys) << report.allocations;
    }
  }
}

TEST_P(KvSegments, ThreadsBatchAndSkippingChangeNoBit) {
  Program p = program();
  p.batch = -1;
  p.queryLen = 2;
  attn::Module module = parse(p);
  attn::Kernel kernel = compile(module, options()),
               computing = compile(module, options().skipTiles(false).checkBounds(!isGpu()));
  const int64_t kvLen = 61;
  auto bitsOf = [&](const attn::Kernel &kernel, int64_t batch, int64_t threads) {
    Trial trial(p, kvLen, batch);
    trial.run(kernel, threads);
    return trial.bits(/*entries=*/std::min<int64_t>(batch, 2));
  };
  std::string expected = bitsOf(kernel, 2, 1);
  for (int64_t threads = 2; threads <= 8; ++threads)
    EXPECT_EQ(bitsOf(kernel, 2, threads), expected) << threads;
  EXPECT_EQ(bitsOf(kernel, 64, 3), expected);
  EXPECT_EQ(bitsOf(computing, 2, 2), expected);
  Trial first(p, kvLen, 2), alone(p, kvLen, 1);
  first.run(kernel);
  alone.run(kernel);
  EXPECT_EQ(alone.bits(1), first.bits(1));
}

/// The tiles that one loop over all keys visits, each in one segment.
TEST_P(KvSegments, EachTileIsComputedOnce) {
  Program p = program();
  p.queryLen = 4;
  attn::Module module = parse(p);
  attn::Kernel segments = compile(module, options()), whole = compile(module, options(/*segmentKeys=*/1 << 20));
  for (int64_t kvLen : kLengths) {
    Trial trial(p, kvLen);
    EXPECT_EQ(trial.run(segments, 2).kvTiles, trial.run(whole).kvTiles) << kvLen;
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, KvSegments, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(KvSegmentsOfTypes, AgreeWithTheReference) {
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (const char *clauses : {"", "scores(softcap<3.0>) masks(window<left = 20, right = 3, bottom_right>)"})
      for (bool hasLse : {false, true}) {
        SCOPED_TRACE(std::string(type) + " " + clauses);
        Program p;
        p.type = type;
        p.clauses = clauses;
        p.hasLse = hasLse;
        p.queryLen = 3;
        attn::Module module = parse(p);
        Trial trial(p, 61);
        trial.run(compile(module, options()), 2);
        trial.check(module);
      }
}

/// NaN and +inf in a kept score make that row NaN, and no other; -inf drops a key.
TEST(KvSegmentsOfOddScores, SpoilTheirRowAlone) {
  const std::string score = R"(score(%s, %b, %h, %i, %j) {
    %odd = arith.constant VALUE : f32
    %i1 = arith.constant 1 : index
    %j1 = arith.constant FIRST : index
    %j2 = arith.constant LAST : index
    %row = arith.cmpi eq, %i, %i1 : index
    %low = arith.cmpi sge, %j, %j1 : index
    %high = arith.cmpi sle, %j, %j2 : index
    %keys = arith.andi %low, %high : i1
    %here = arith.andi %row, %keys : i1
    %t = arith.select %here, %odd, %s : f32
    attn.yield %t : f32 })";
  auto replace = [](std::string text, const std::string &from, const std::string &to) {
    return text.replace(text.find(from), from.size(), to);
  };
  for (const char *value : {"0x7FC00000", "0x7F800000", "0xFF800000", "-3.4028234e38", "3.4028234e38"})
    // The first key, a whole segment in the middle, the last key, all keys.
    for (auto [first, last] : {std::pair(0, 0), {16, 31}, {60, 60}, {0, 60}})
      for (bool hasSink : {false, true}) {
        SCOPED_TRACE(std::string(value) + " " + std::to_string(first) + " to " + std::to_string(last));
        Program p;
        p.queryLen = 3;
        p.hasSink = hasSink;
        p.clauses = replace(replace(replace(score, "VALUE", value), "FIRST", std::to_string(first)), "LAST",
                            std::to_string(last));
        attn::Module module = parse(p);
        Trial trial(p, 61);
        trial.run(compile(module, options()), 2);
        trial.check(module);
      }
}

/// The same for keys and values: the inputs hold them, where segments begin and end.
TEST(KvSegmentsOfOddKeys, AgreeWithTheReference) {
  Program p;
  p.queryLen = 2;
  attn::Module module = parse(p);
  attn::Kernel kernel = compile(module, options());
  for (double odd : {kNaN, kInf, -kInf})
    for (int64_t j : {0, 15, 16, 31, 60}) {
      SCOPED_TRACE(std::to_string(odd) + " at " + std::to_string(j));
      Trial trial(p, 61);
      trial.setKey(/*row=*/1, j, odd, 1);
      trial.run(kernel, 2);
      trial.check(module);
    }
}

/// More tiles of queries than one, and queries that only the run knows.
TEST(KvSegmentsOfManyQueries, AgreeWithTheReference) {
  Program p;
  p.queryLen = 37;
  p.clauses = "masks(causal<bottom_right>)";
  attn::Module module = parse(p);
  attn::Kernel kernel = compile(module, options().tileQ(16));
  for (int64_t kvLen : kLengths) {
    SCOPED_TRACE(kvLen);
    Trial trial(p, kvLen);
    trial.run(kernel, 2);
    trial.check(module);
  }
}

/// The cost model splits long keys of few queries, and says so.
TEST(KvSegmentsOfTheModel, AreOfLongKeys) {
  auto parallelLoops = [](int64_t queryLen, int64_t staticLen, int64_t kvLen, bool isSplit) {
    Program p;
    p.queryLen = queryLen;
    p.kvLen = staticLen;
    attn::Module module = parse(p);
    attn::Kernel kernel = compile(module, attn::CompileOptions());
    EXPECT_EQ(kernel.describe().find("segments of ") != std::string::npos, isSplit) << kernel.describe();
    Trial trial(p, kvLen);
    int64_t loops = trial.run(kernel, 2).parallelLoops;
    trial.check(module);
    return loops;
  };
  EXPECT_EQ(parallelLoops(1, 2000, 2000, false), 1);
  EXPECT_EQ(parallelLoops(1, 2500, 2500, true), 2);
  EXPECT_EQ(parallelLoops(4, -1, 2500, true), 2);
  EXPECT_EQ(parallelLoops(4, -1, 5, true), 2);
  EXPECT_EQ(parallelLoops(1, 2200, 2200, true), 2);
  EXPECT_EQ(parallelLoops(100, 2500, 2500, false), 1);
}
