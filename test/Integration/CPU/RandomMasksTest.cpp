//===- RandomMasksTest.cpp - random predicates and random boolean masks ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask regions drawn from a grammar, and boolean tensors of every density with tiles and rows emptied. Each result
// (out, lse, weights) must agree with the reference, and skipping tiles must change no bit of it. On this CPU, and on
// the emulator for a GPU of each kind. ATTN_MASK_SEED chooses other masks, ATTN_MASK_SAMPLE=N takes N regions in place
// of the default number.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"
#include "test/Unit/SuiteTarget.h"
#include "test/lib/SplitMix64.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <iostream>

using grid::Buffer;

namespace {

uint64_t fromEnvironment(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : fallback;
}

/// splitmix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// From 0 to below `limit`.
  uint64_t next(uint64_t limit) { return nextSplitMix64(state) % limit; }
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(next(high - low + 1)); }
  template <size_t N> const char *pick(const char *const (&choices)[N]) { return choices[next(N)]; }

private:
  uint64_t state;
};

//===----------------------------------------------------------------------===//
// Random regions
//===----------------------------------------------------------------------===//

/// Writes a random mask region. It may use the indices, %n (index), %w (i32), and the tables %rows and %columns
/// (tensor<?xi32>), which are read at any index.
class RegionWriter {
public:
  explicit RegionWriter(uint64_t seed) : random(seed) {}

  /// Half of the masks are about positions, so that the compiler finds bounds; the others are anything.
  std::string write() {
    std::string keep = random.next(2) ? positions() : flag(3);
    return "where(%b, %h, %i, %j) {\n" + body + "  attn.yield " + keep + " : i1\n}";
  }

private:
  /// Defines a value and returns its name.
  std::string define(const std::string &operation) {
    std::string name = "%v" + std::to_string(count++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }
  std::string constant(int64_t value) { return define("arith.constant " + std::to_string(value) + " : index"); }
  std::string binary(const std::string &op, const std::string &a, const std::string &b, const std::string &type) {
    return define("arith." + op + " " + a + ", " + b + " : " + type);
  }
  std::string cast(const std::string &value, const std::string &from, const std::string &to) {
    return define("arith.index_cast " + value + " : " + from + " to " + to);
  }
  std::string load(const std::string &index) {
    std::string table = random.pick({"%rows", "%columns"});
    return cast(define("tensor.extract " + table + "[" + index + "] : tensor<?xi32>"), "i32", "index");
  }

  /// An index, an argument or a constant.
  std::string leaf() {
    switch (random.next(isRowForm ? 6 : 9)) {
    case 0:
    case 1:
      return "%i";
    case 2:
      return random.pick({"%b", "%h"});
    case 3:
      return "%n";
    case 4:
      return cast("%w", "i32", "index");
    case 5:
      return constant(random.between(-20, 60));
    case 6:
      return load(random.pick({"%i", "%j", "%h"}));
    default:
      return "%j";
    }
  }

  /// An integer of type index, small enough that 32 bits hold it.
  std::string integer(int depth) {
    if (depth == 0 || random.next(4) == 0)
      return leaf();
    // Operands first, each in a statement of its own: the order of arguments is the compiler's.
    uint64_t kind = random.next(isRowForm ? 6 : 9);
    std::string a = kind == 6 ? random.pick({"%i", "%j"}) : integer(depth - 1);
    switch (kind) {
    case 0:
    case 1:
      return binary("addi", a, integer(depth - 1), "index");
    case 2:
      return binary("subi", a, integer(depth - 1), "index");
    case 3:
      return binary(random.pick({"minsi", "maxsi"}), a, integer(depth - 1), "index");
    case 4:
      return binary("muli", a, constant(random.between(-3, 3)), "index");
    case 5:
      return isRowForm ? binaryByConstant({"floordivsi"}, a)
                       : binaryByConstant({"floordivsi", "divsi", "ceildivsi", "remsi"}, a);
    case 6: // of what is not negative
      return binaryByConstant({"divui", "remui"}, a);
    case 7: {
      std::string c = flag(depth - 1), b = integer(depth - 1);
      return define("arith.select " + c + ", " + a + ", " + b + " : index");
    }
    default:
      return load(a);
    }
  }
  template <size_t N> std::string binaryByConstant(const char *const (&ops)[N], const std::string &a) {
    const char *op = random.pick(ops);
    return binary(op, a, constant(random.between(1, 17)), "index");
  }

  std::string comparison(int depth) {
    std::string predicate = random.pick({"sle", "slt", "sge", "sgt", "sle", "sge", "eq", "ne", "ult", "uge"});
    std::string a = integer(depth), b = integer(depth), type = "index";
    if (random.next(3) == 0) {
      type = "i32";
      a = cast(a, "index", type);
      b = cast(b, "index", type);
    }
    return binary("cmpi " + predicate + ",", a, b, type);
  }

  /// The key, a multiple or its block, compared with a form of the row and of uniforms.
  std::string position() {
    const char *predicate = random.pick({"sle", "slt", "sge", "sgt", "sle", "sge", "eq"});
    std::string key = "%j";
    if (uint64_t kind = random.next(6); kind < 2)
      key = binary(kind ? "muli" : "divui", key, constant(random.between(2, 9)), "index");
    isRowForm = true;
    std::string row = integer(2);
    isRowForm = false;
    return binary(std::string("cmpi ") + predicate + ",", key, row, "index");
  }

  /// A condition on uniforms that always holds, of so many operations that full tiles get a loop without the mask.
  std::string truth() {
    std::string sum = "%n";
    for (int k = 0; k < 8; ++k) {
      const char *op = random.pick({"addi", "subi", "minsi", "maxsi"}), *other = random.pick({"%b", "%h"});
      sum = binary(op, sum, k % 2 ? constant(random.between(2, 60)) : other, "index");
    }
    return binary("cmpi slt,", sum, constant(100000), "index");
  }

  /// One to four comparisons of positions, and sometimes any other condition beside them.
  std::string positions() {
    std::string keep = position();
    for (uint64_t more = random.next(4); more > 0; --more) {
      const char *op = random.pick({"andi", "andi", "ori"});
      keep = binary(op, keep, position(), "i1");
    }
    if (random.next(2))
      keep = binary("andi", keep, truth(), "i1");
    return random.next(4) ? keep : binary("andi", keep, flag(2), "i1");
  }

  std::string flag(int depth) {
    if (depth == 0 || random.next(3) == 0)
      return comparison(depth);
    std::string a = flag(depth - 1);
    switch (random.next(5)) {
    case 0:
      return binary("andi", a, flag(depth - 1), "i1");
    case 1:
      return binary("ori", a, flag(depth - 1), "i1");
    case 2:
      return binary("xori", a, define("arith.constant true"), "i1");
    case 3:
      return binary("xori", a, flag(depth - 1), "i1");
    default: {
      std::string b = flag(depth - 1), c = flag(depth - 1);
      return define("arith.select " + a + ", " + b + ", " + c + " : i1");
    }
    }
  }

  Random random;
  std::string body;
  unsigned count = 0;
  /// Integers are written without the key and loads.
  bool isRowForm = false;
};

//===----------------------------------------------------------------------===//
// Attention under a mask
//===----------------------------------------------------------------------===//

constexpr int64_t kBatch = 2, kHeads = 2, kHeadDim = 4, kValueDim = 3;

/// What a program is compiled for, and the type of its query, key, value and out. A GPU is told the head sizes.
struct Setting {
  std::string target = grid::testTarget();
  bool isHalf = false;

  bool isGpu() const { return grid::isGpu(target); }
  std::string element() const { return isHalf ? "bf16" : "f32"; }
  attn::DType dtype() const { return isHalf ? attn::DType::BF16 : attn::DType::F32; }
};

/// out, lse and weights on dynamic sizes; the mask reads %n, %w, %rows, %columns and %mask.
std::string program(const std::string &mask, const Setting &setting) {
  std::string open = "tensor<?x?x?x", element = "x" + setting.element() + ">\n";
  return "!t = " + open + (setting.isGpu() ? std::to_string(kHeadDim) : "?") + element + "!o = " + open +
         (setting.isGpu() ? std::to_string(kValueDim) : "?") + element + R"(!p = tensor<?x?x?x?xf32>
!l = tensor<?x?x?xf32>
func.func @f(%q: !t, %k: !t, %v: !o, %n: index, %w: i32, %rows: tensor<?xi32>, %columns: tensor<?xi32>,
             %mask: tensor<?x?x?x?xi1>) -> (!o, !l, !p) {
  %scale = arith.constant 0.75 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %nb = tensor.dim %q, %c0 : !t
  %nh = tensor.dim %q, %c1 : !t
  %ni = tensor.dim %q, %c2 : !t
  %nj = tensor.dim %k, %c2 : !t
  %ne = tensor.dim %v, %c3 : !o
  %o = tensor.empty(%nb, %nh, %ni)" +
         (setting.isGpu() ? "" : ", %ne") + R"() : !o
  %l = tensor.empty(%nb, %nh, %ni) : !l
  %p = tensor.empty(%nb, %nh, %ni, %nj) : !p
  %r:3 = attn.attention %q, %k, %v scale(%scale) )" +
         mask + R"(
    : !t, !t, !o outs(%o : !o) lse(%l : !l) weights(%p : !p) -> !o, !l, !p
  return %r#0, %r#1, %r#2 : !o, !l, !p
})";
}

/// The arguments of the program, and its results.
struct Data {
  Data(int64_t queryLen, int64_t kvLen, Random &random, attn::DType dtype = attn::DType::F32)
      : dtype(dtype), queryLen(queryLen), kvLen(kvLen), n(random.between(-5, kvLen)), w(random.between(-5, queryLen)),
        q(dtype, {kBatch, kHeads, queryLen, kHeadDim}), k(dtype, {kBatch, 1, kvLen, kHeadDim}),
        v(dtype, {kBatch, 1, kvLen, kValueDim}), rows(attn::DType::I32, {std::max<int64_t>(queryLen, 1)}),
        columns(attn::DType::I32, {std::max<int64_t>(kvLen, 1)}),
        mask(attn::DType::I1, {kBatch, kHeads, queryLen, kvLen}) {
    for (Buffer *buffer : {&q, &k, &v})
      for (int64_t e = 0; e < buffer->count(); ++e)
        buffer->set(e, static_cast<double>(random.between(-64, 63)) / 64);
    // A table of runs, as of documents, and one without order.
    for (int64_t e = 0; e < rows.count(); ++e)
      rows.setInteger(e, e / 9);
    for (int64_t e = 0; e < columns.count(); ++e)
      columns.setInteger(e, random.between(-10, 50));
    for (int64_t e = 0; e < mask.count(); ++e)
      mask.setInteger(e, 1);
  }

  std::vector<attn::Argument> inputs() {
    return {q.view(), k.view(), v.view(), n, w, rows.view(), columns.view(), mask.view()};
  }

  attn::DType dtype;
  int64_t queryLen, kvLen;
  int64_t n, w;
  Buffer q, k, v, rows, columns, mask;
};

/// Buffers for out, lse and weights, full of NaN.
struct Results {
  explicit Results(const Data &data)
      : out(data.dtype, {kBatch, kHeads, data.queryLen, kValueDim}),
        lse(attn::DType::F32, {kBatch, kHeads, data.queryLen}),
        weights(attn::DType::F32, {kBatch, kHeads, data.queryLen, data.kvLen}) {}

  std::vector<Buffer *> all() { return {&out, &lse, &weights}; }
  std::vector<attn::MutableTensorView> views() { return {out.view(), lse.view(), weights.view()}; }

  Buffer out, lse, weights;
};

/// One mask, compiled with and without skipping.
class Kernels {
public:
  Kernels(const std::string &mask, int64_t tileQ, int64_t tileKv, const Setting &setting = {})
      : text(program(mask, setting)) {
    auto parsed = attn::Module::parse(text, "mask.mlir");
    if (!parsed) {
      ADD_FAILURE() << parsed.error().str() << "\n" << text;
      return;
    }
    auto options = attn::CompileOptions().tileQ(tileQ).tileKv(tileKv).countKvTiles(!setting.isGpu());
    auto target = attn::Target::named(setting.target);
    // One of the two checks its accesses, and computes the same bits.
    const bool checks = !setting.isGpu(), checksFast = checks && mask.size() % 2 == 0;
    auto fast = parsed->compile("f", target, options.checkBounds(checksFast));
    auto slow = parsed->compile("f", target, options.skipTiles(false).checkBounds(checks && !checksFast));
    if (!fast || !slow) {
      ADD_FAILURE() << (fast ? slow : fast).error().str() << "\n" << text;
      return;
    }
    module = *parsed;
    skipping = *fast;
    computing = *slow;
  }

  explicit operator bool() const { return skipping.has_value(); }

  /// kv tiles that the two kernels computed.
  struct Counts {
    int64_t skipping = 0, computing = 0;
  };

  /// Runs both kernels on one or two threads and compares.
  Counts check(Data &data, int64_t threads) const {
    Results fast(data), slow(data);
    Counts counts{run(*skipping, data, fast, threads), run(*computing, data, slow, threads)};
    EXPECT_LE(counts.skipping, counts.computing);
    for (size_t k = 0; k < 3; ++k) {
      attn::TensorView a = fast.all()[k]->view(), b = slow.all()[k]->view();
      EXPECT_EQ(std::memcmp(a.data, b.data, fast.all()[k]->count() * attn::byteSize(a.dtype)), 0)
          << "skipping changes result " << k << where(data);
      EXPECT_TRUE(fast.all()[k]->guardsIntact()) << "memory around result " << k << " was written" << where(data);
    }
    std::vector<attn::TensorView> outputs;
    for (Buffer *buffer : fast.all())
      outputs.push_back(buffer->view());
    auto comparisons = module->check("f", data.inputs(), outputs);
    if (!comparisons)
      return ADD_FAILURE() << comparisons.error().str() << where(data), counts;
    for (size_t k = 0; k < comparisons->size(); ++k)
      EXPECT_TRUE((*comparisons)[k].pass) << "result " << k << ": " << (*comparisons)[k].message << where(data);
    return counts;
  }

private:
  static int64_t run(const attn::Kernel &kernel, Data &data, Results &results, int64_t threads) {
    // Pools are kept from run to run: starting one takes longer than a run.
    static const attn::RunOptions one = attn::RunOptions().threads(1), two = attn::RunOptions().threads(2).leastWork(1);
    auto report = kernel.run(data.inputs(), results.views(), threads == 1 ? one : two);
    if (!report)
      return ADD_FAILURE() << report.error().str(), 0;
    return report->kvTiles;
  }
  std::string where(const Data &data) const {
    return " for " + std::to_string(data.queryLen) + " x " + std::to_string(data.kvLen) +
           ", n = " + std::to_string(data.n) + ", w = " + std::to_string(data.w) + " of\n" + text;
  }

  std::string text;
  std::optional<attn::Module> module;
  std::optional<attn::Kernel> skipping, computing;
};

class RandomRegions : public testing::TestWithParam<unsigned> {};
class BooleanMasks : public testing::TestWithParam<unsigned> {};

} // namespace

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// The masks in this many parts, so that lit can run them side by side.
static constexpr unsigned kParts = 4;

static constexpr std::pair<int64_t, int64_t> kLengths[] = {{37, 53}, {53, 37}};

/// Draws a mask and compares it on three pairs of lengths; returns the tiles of all.
static Kernels::Counts checkRegion(uint64_t seed, uint64_t mask, const Setting &setting) {
  SCOPED_TRACE("ATTN_MASK_SEED=" + std::to_string(seed) + ", region " + std::to_string(mask) + " on " + setting.target);
  Random random(seed * 1000003 + mask);
  std::string region = RegionWriter(random.next(uint64_t(1) << 60)).write();
  // A GPU has rows for a warp at least, and whole fragments of keys.
  int64_t tileQ = (setting.isGpu() ? 16 : 8) << random.next(3);
  int64_t tileKv = setting.isGpu() ? 16 * random.between(1, 3) : random.between(3, 24);
  Kernels kernels(region, tileQ, tileKv, setting);
  if (!kernels)
    return {};
  std::vector<std::pair<int64_t, int64_t>> lengths(std::begin(kLengths), std::end(kLengths));
  int64_t queryLen = random.between(1, 20), kvLen = random.between(0, 90);
  lengths.emplace_back(queryLen, kvLen);
  Kernels::Counts total;
  for (auto [queries, keys] : lengths) {
    Data data(queries, keys, random, setting.dtype());
    Kernels::Counts counts = kernels.check(data, /*threads=*/setting.isGpu() ? 1 : 1 + mask % 2);
    total.skipping += counts.skipping;
    total.computing += counts.computing;
  }
  return total;
}

TEST_P(RandomRegions, AgreeWithTheReferenceAndSkipTheSameBits) {
  const uint64_t seed = fromEnvironment("ATTN_MASK_SEED", 7), count = fromEnvironment("ATTN_MASK_SAMPLE", 20);
  std::cout << "seed " << seed << ", " << count << " regions, part " << GetParam() << " of " << kParts << "\n";
  const Setting setting;
  Kernels::Counts total;
  for (uint64_t mask = GetParam(); mask < count; mask += kParts) {
    Kernels::Counts counts = checkRegion(seed, mask, setting);
    total.skipping += counts.skipping;
    total.computing += counts.computing;
  }
  std::cout << total.skipping << " of " << total.computing << " kv tiles were computed\n";
  // A part of a few masks may have none that skips anything. Tiles are not counted on GPUs.
  EXPECT_TRUE(count < 20 || setting.isGpu() || total.skipping < total.computing);
}

class EmulatedRegions : public testing::TestWithParam<const char *> {};

/// Other masks than on the CPU, of f32 and of bf16, where sm_90a has another kernel, in turn.
TEST_P(EmulatedRegions, AgreeWithTheReferenceAndSkipTheSameBits) {
  const uint64_t seed = fromEnvironment("ATTN_MASK_SEED", 8), count = fromEnvironment("ATTN_MASK_SAMPLE", 8);
  std::cout << "seed " << seed << ", " << count << " regions\n";
  for (uint64_t mask = 0; mask < count; ++mask)
    checkRegion(seed, mask, {std::string("emulator:") + GetParam(), /*isHalf=*/mask % 2 == 1});
}

INSTANTIATE_TEST_SUITE_P(Sample, EmulatedRegions, testing::Values("sm_80", "sm_90a"));
INSTANTIATE_TEST_SUITE_P(Sample, RandomRegions, testing::Range(0u, kParts));

namespace {

/// A boolean mask of a density in percent.
class BooleanMask {
public:
  BooleanMask(Data &data, int64_t density, Random &random) : data(data), keep(data.mask.count()) {
    for (size_t e = 0; e < keep.size(); ++e)
      keep[e] = static_cast<int64_t>(random.next(100)) < density;
  }

  /// Drops the scores of rows [i0, i1) and keys [j0, j1) everywhere.
  void empty(int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
    for (int64_t entry = 0; entry < kBatch * kHeads; ++entry)
      for (int64_t i = i0; i < std::min(i1, data.queryLen); ++i)
        for (int64_t j = j0; j < std::min(j1, data.kvLen); ++j)
          keep[(entry * data.queryLen + i) * data.kvLen + j] = false;
  }
  void store() {
    for (size_t e = 0; e < keep.size(); ++e)
      data.mask.setInteger(e, keep[e]);
  }
  /// Tiles with a kept score, over all entries.
  int64_t countTiles(int64_t tileQ, int64_t tileKv) const {
    int64_t tiles = 0;
    for (int64_t entry = 0; entry < kBatch * kHeads; ++entry)
      for (int64_t i0 = 0; i0 < data.queryLen; i0 += tileQ)
        for (int64_t j0 = 0; j0 < data.kvLen; j0 += tileKv)
          tiles += hasKept(entry, i0, std::min(i0 + tileQ, data.queryLen), j0, std::min(j0 + tileKv, data.kvLen));
    return tiles;
  }

private:
  bool hasKept(int64_t entry, int64_t i0, int64_t i1, int64_t j0, int64_t j1) const {
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t j = j0; j < j1; ++j)
        if (keep[(entry * data.queryLen + i) * data.kvLen + j])
          return true;
    return false;
  }

  Data &data;
  std::vector<bool> keep;
};

} // namespace

/// The first, a middle and the last kv tile of the first three query tiles are emptied, one each, and some rows.
TEST_P(BooleanMasks, AgreeWithTheReferenceAndSkipEmptyTiles) {
  const uint64_t seed = fromEnvironment("ATTN_MASK_SEED", 7);
  std::cout << "seed " << seed << "\n";
  const std::pair<int64_t, int64_t> tiles[] = {{8, 12}, {16, 7}, {32, 24}};
  auto [tileQ, tileKv] = tiles[GetParam()];
  Kernels kernels("masks(boolean(%mask : tensor<?x?x?x?xi1>))", tileQ, tileKv, {suiteCpu()});
  ASSERT_TRUE(kernels);
  Random random(seed + GetParam());
  for (int64_t density : {2, 10, 50, 90, 98})
    for (auto [queryLen, kvLen] :
         {std::pair<int64_t, int64_t>(3 * tileQ + 5, 4 * tileKv + 3), {tileQ - 1, 2 * tileKv}}) {
      Data data(queryLen, kvLen, random);
      BooleanMask mask(data, density, random);
      mask.empty(0, tileQ, 0, tileKv);
      mask.empty(tileQ, 2 * tileQ, tileKv, 2 * tileKv);
      mask.empty(2 * tileQ, 3 * tileQ, (kvLen - 1) / tileKv * tileKv, kvLen);
      mask.empty(3, 5, 0, kvLen);
      mask.empty(queryLen - 1, queryLen, 0, kvLen);
      mask.store();
      EXPECT_EQ(kernels.check(data, /*threads=*/2).skipping, mask.countTiles(tileQ, tileKv)) << density << " %";
    }
}

INSTANTIATE_TEST_SUITE_P(Tiles, BooleanMasks, testing::Range(0u, 3u));

/// A range of keys that ends in front of the first key: the loop of full tiles started there, at key -2 of these.
TEST(MaskRegression, RangeInFrontOfTheKeysIsEmpty) {
  std::string body = "  %m = arith.constant -1 : index\n  %d = arith.addi %i, %n : index\n"
                     "  %e = arith.muli %d, %m : index\n  %a = arith.cmpi sle, %j, %e : index\n"
                     "  %c = arith.cmpi sge, %j, %n : index\n  %k0 = arith.andi %a, %c : i1\n"
                     "  %s0 = arith.addi %n, %h : index\n";
  // So many operations that full tiles have a loop of their own.
  for (int k = 0; k < 12; ++k)
    body += "  %s" + std::to_string(k + 1) + " = arith.maxsi %s" + std::to_string(k) + ", " + (k % 2 ? "%h" : "%b") +
            " : index\n";
  body += "  %t = arith.constant 100000 : index\n  %z = arith.cmpi slt, %s12, %t : index\n"
          "  %keep = arith.andi %k0, %z : i1\n  attn.yield %keep : i1\n";
  Kernels kernels("where(%b, %h, %i, %j) {\n" + body + "}", /*tileQ=*/8, /*tileKv=*/8, {suiteCpu()});
  ASSERT_TRUE(kernels);
  Random random(1);
  Data data(9, 24, random);
  data.n = 3;
  EXPECT_EQ(kernels.check(data, /*threads=*/1).skipping, 0);
}
