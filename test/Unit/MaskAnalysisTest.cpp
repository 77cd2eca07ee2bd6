//===- MaskAnalysisTest.cpp - mask analysis against brute force --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every tile of rows the analysis must not lose a kept key (live) or call a dropped one full, and where it says
// that it is exact, live must be the smallest range that holds the kept keys. Two oracles: every mask is evaluated at
// every (i, j) of 64 x 64 by a small interpreter of scalars, and Presburger arithmetic proves it of an affine mask for
// all sizes, tiles and uniforms.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "PresburgerOracle.h"
#include "attn/Dialect/Attn/Analysis/RegionRanges.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;

namespace {

/// One mask region, with %n and %p as function arguments of type index and %len as one of i32.
struct Mask {
  explicit Mask(const std::string &body) {
    context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect, tensor::TensorDialect>();
    std::string text = R"(
func.func @f(%s: tensor<1x1x64x64xf32>, %o: tensor<1x1x64x64xf32>, %n: index, %p: index, %len: i32,
             %ids: tensor<64xi32>) -> tensor<1x1x64x64xf32> {
  %r = attn.mask %s where(%b, %h, %i, %j) {
)" + body + R"(
    attn.yield %keep : i1
  } : tensor<1x1x64x64xf32> outs(%o : tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32>
  return %r : tensor<1x1x64x64xf32>
})";
    module = parseSourceString<ModuleOp>(text, &context);
    module->walk([&](MaskOp op) { region = &op.getMaskRegion(); });
  }

  /// Values of the uniforms: %n, %p, %len, b and h.
  int64_t uniform(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner()->getParentOp() == *module->getOps<func::FuncOp>().begin()
                 ? arguments[argument.getArgNumber() - 2]
                 : 0;
    return evaluate(value, 0, 0);
  }

  int64_t evaluate(Value value, int64_t i, int64_t j) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (value.getParentRegion() != region)
        return uniform(value);
      return argument.getArgNumber() == 2 ? i : argument.getArgNumber() == 3 ? j : 0;
    }
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<IntegerType>(value.getType()) && value.getType().isInteger(1)
                 ? cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue()
                 : cast<IntegerAttr>(constant.getValue()).getInt();
    if (isa<tensor::ExtractOp>(op)) // document ids: runs of 10
      return evaluate(op->getOperand(1), i, j) / 10;
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(IntegerAttr::get(operand.getType(), evaluate(operand, i, j)));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.empty())
      return ADD_FAILURE() << "cannot evaluate " << op->getName().getStringRef().str(), 0;
    auto attribute = dyn_cast<Attribute>(results[0]);
    if (!attribute) // folded to an operand
      return evaluate(cast<Value>(results[0]), i, j);
    return value.getType().isInteger(1) ? cast<IntegerAttr>(attribute).getValue().getZExtValue()
                                        : cast<IntegerAttr>(attribute).getInt();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Region *region = nullptr;
  int64_t arguments[3] = {5, 9, 20};
};

constexpr int64_t kRows = 64, kKeys = 64;

/// Checks the analysis of a mask for tiles of every size and place among 64 x 64 scores.
void checkByBruteForce(const std::string &body, bool expectExact) {
  Mask mask(body);
  ASSERT_TRUE(mask.region) << body;
  MaskRanges ranges = analyzeMask(*mask.region, kRows, kKeys);
  EXPECT_EQ(ranges.isExact, expectExact) << body;
  std::vector<std::vector<bool>> keep(kRows, std::vector<bool>(kKeys));
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kKeys; ++j)
      keep[i][j] = mask.evaluate(mask.region->front().getTerminator()->getOperand(0), i, j);
  auto uniformOf = [&](Value value) { return mask.uniform(value); };
  for (int64_t first = 0; first < kRows; first += 3)
    for (int64_t size : {1, 2, 7, 16, 64}) {
      int64_t last = std::min(first + size, kRows) - 1, low = kKeys, high = 0;
      int64_t liveLow = std::max<int64_t>(ranges.live.lower.evaluate(first, last, uniformOf), 0);
      int64_t liveHigh = std::min(ranges.live.upper.evaluate(first, last, uniformOf), kKeys);
      int64_t fullLow = ranges.full.lower.evaluate(first, last, uniformOf);
      int64_t fullHigh = ranges.full.upper.evaluate(first, last, uniformOf);
      for (int64_t j = 0; j < kKeys; ++j) {
        bool any = false, all = true;
        for (int64_t i = first; i <= last; ++i)
          any |= keep[i][j], all &= keep[i][j];
        if (any)
          low = std::min(low, j), high = j + 1;
        EXPECT_TRUE(!any || (j >= liveLow && j < liveHigh))
            << body << "\nrows " << first << ".." << last << " key " << j << " is lost";
        EXPECT_TRUE(all || j < fullLow || j >= fullHigh)
            << body << "\nrows " << first << ".." << last << " key " << j << " is not full";
      }
      if (!expectExact)
        continue;
      if (low >= high) {
        EXPECT_GE(liveLow, liveHigh) << body << "\nrows " << first << ".." << last << " are empty";
      } else {
        EXPECT_EQ(std::pair(liveLow, liveHigh), std::pair(low, high)) << body << "\nrows " << first << ".." << last;
      }
    }
}

/// Whether Presburger formulas can say what the mask does.
enum class Kind { Affine, NotAffine };

void checkForAllSizes(const std::string &body, bool expectExact, Kind kind) {
  Mask mask(body);
  ASSERT_TRUE(mask.region) << body;
  MaskRanges ranges = analyzeMask(*mask.region, kMaxExtent, kMaxExtent);
  EXPECT_EQ(ranges.isExact, expectExact) << body;
  EXPECT_EQ(disprove(*mask.region, ranges, kMaxExtent), kind == Kind::Affine ? "" : "not affine") << body;
}

void checkMask(const std::string &body, bool expectExact, Kind kind = Kind::Affine) {
  checkByBruteForce(body, expectExact);
  checkForAllSizes(body, expectExact, kind);
}

} // namespace

TEST(MaskAnalysis, Causal) {
  checkMask("%keep = arith.cmpi sle, %j, %i : index", true);
  checkMask("%keep = arith.cmpi sge, %i, %j : index", true);
  checkMask("%keep = arith.cmpi ult, %j, %i : index", true);
  checkMask("%keep = arith.cmpi sgt, %j, %i : index", true);
}

TEST(MaskAnalysis, OffsetDiagonals) {
  checkMask("%e = arith.addi %i, %n : index\n%keep = arith.cmpi sle, %j, %e : index", true);
  checkMask("%d = arith.subi %p, %n : index\n%e = arith.addi %i, %d : index\n%keep = arith.cmpi sle, %j, %e : index",
            true);
  checkMask("%e = arith.subi %i, %n : index\n%keep = arith.cmpi sle, %j, %e : index", true);
}

TEST(MaskAnalysis, Windows) {
  checkMask("%d = arith.subi %j, %i : index\n%l = arith.constant -6 : index\n%r = arith.constant 3 : index\n"
            "%a = arith.cmpi sge, %d, %l : index\n%c = arith.cmpi sle, %d, %r : index\n"
            "%keep = arith.andi %a, %c : i1",
            true);
  // Ends so large that a sum with them would wrap.
  checkMask("%d = arith.subi %j, %i : index\n%l = arith.constant -9223372036854775807 : index\n"
            "%keep = arith.cmpi sge, %d, %l : index",
            true);
}

TEST(MaskAnalysis, PrefixAndLengths) {
  checkMask("%a = arith.cmpi sle, %j, %i : index\n%c = arith.cmpi slt, %j, %n : index\n%keep = arith.ori %a, %c : i1",
            true);
  checkMask("%l = arith.index_cast %len : i32 to index\n%keep = arith.cmpi slt, %j, %l : index", true);
  checkMask("%k = arith.index_cast %j : index to i32\n%keep = arith.cmpi slt, %k, %len : i32", true);
  checkMask("%a = arith.cmpi sge, %j, %n : index\n%c = arith.cmpi slt, %j, %p : index\n%keep = arith.andi %a, %c : i1",
            true);
}

TEST(MaskAnalysis, Chunks) {
  const std::string chunks = "%c8 = arith.constant 8 : index\n%x = arith.divui %i, %c8 : index\n"
                             "%y = arith.divui %j, %c8 : index\n";
  checkMask(chunks + "%keep = arith.cmpi eq, %x, %y : index", true);
  checkMask(chunks + "%keep = arith.cmpi sle, %y, %x : index", true);
  checkMask(chunks + "%keep = arith.cmpi slt, %y, %x : index", true);
  checkMask(chunks + "%a = arith.cmpi eq, %x, %y : index\n%c = arith.cmpi sle, %j, %i : index\n"
                     "%keep = arith.andi %a, %c : i1",
            true);
  checkMask("%c8 = arith.constant 8 : index\n%x = arith.floordivsi %i, %c8 : index\n"
            "%m = arith.muli %x, %c8 : index\n%keep = arith.cmpi sge, %j, %m : index",
            true);
}

/// A condition on rows is no range of keys; one that is the same for all rows is.
TEST(MaskAnalysis, RowsAlone) {
  checkMask("%keep = arith.cmpi slt, %i, %p : index", false);
  checkMask("%a = arith.cmpi slt, %i, %p : index\n%c = arith.cmpi sle, %j, %i : index\n%keep = arith.andi %a, %c : i1",
            false);
  checkMask("%z = arith.constant 0 : i32\n%a = arith.cmpi slt, %z, %len : i32\n"
            "%c = arith.cmpi sle, %j, %i : index\n%keep = arith.andi %a, %c : i1",
            true);
}

TEST(MaskAnalysis, MinMaxSelectNot) {
  checkMask("%m = arith.minsi %i, %p : index\n%keep = arith.cmpi sle, %j, %m : index", true);
  checkMask("%m = arith.maxsi %j, %n : index\n%keep = arith.cmpi sle, %m, %i : index", false);
  checkMask("%t = arith.constant true\n%a = arith.cmpi sle, %j, %i : index\n%keep = arith.xori %a, %t : i1", true);
  checkMask("%f = arith.constant false\n%a = arith.cmpi slt, %i, %p : index\n%c = arith.cmpi sle, %j, %i : index\n"
            "%keep = arith.select %a, %c, %f : i1",
            false);
  checkMask("%keep = arith.constant true", true);
  checkMask("%keep = arith.constant false", true);
}

/// Nothing is lost where the analysis gives up, and the conjuncts that it knows still bound the keys.
TEST(MaskAnalysis, BeyondTheAnalysis) {
  const std::string causal = "%a = arith.cmpi sle, %j, %i : index\n";
  checkMask(causal + "%x = tensor.extract %ids[%i] : tensor<64xi32>\n%y = tensor.extract %ids[%j] : tensor<64xi32>\n"
                     "%c = arith.cmpi eq, %x, %y : i32\n%keep = arith.andi %a, %c : i1",
            false, Kind::NotAffine);
  checkMask(causal + "%c3 = arith.constant 3 : index\n%m = arith.remui %j, %c3 : index\n"
                     "%c0 = arith.constant 0 : index\n%c = arith.cmpi eq, %m, %c0 : index\n"
                     "%keep = arith.andi %a, %c : i1",
            false);
  checkMask("%q = arith.muli %i, %j : index\n%keep = arith.cmpi sle, %q, %p : index", false, Kind::NotAffine);
  checkMask("%c4 = arith.constant 4 : index\n%g = arith.cmpi slt, %j, %c4 : index\n%d = arith.subi %i, %j : index\n"
            "%c6 = arith.constant 6 : index\n%w = arith.cmpi sle, %d, %c6 : index\n"
            "%p2 = arith.cmpi sle, %j, %i : index\n%v = arith.andi %w, %p2 : i1\n%keep = arith.ori %g, %v : i1",
            false);
  checkMask("%keep = arith.cmpi ne, %i, %j : index", false);
}

TEST(MaskAnalysis, CausalBoundsReadAsWritten) {
  Mask mask("%keep = arith.cmpi sle, %j, %i : index");
  MaskRanges ranges = analyzeMask(*mask.region, kRows, kKeys);
  SmallVector<Value> names;
  EXPECT_EQ(ranges.live.upper.str(names), "i1 + 1");
  EXPECT_EQ(ranges.full.upper.str(names), "i0 + 1");
  EXPECT_TRUE(ranges.live.lower.isMinusInfinity());
}

/// Whether the live range of a mask grows from tile to tile.
static bool grows(const std::string &body) {
  Mask mask(body);
  return growsWithRows(analyzeMask(*mask.region, kRows, kKeys).live);
}

TEST(MaskAnalysis, RangesThatGrowWithTheRows) {
  EXPECT_TRUE(grows("%keep = arith.cmpi sle, %j, %i : index"));
  // Causal from a diagonal that the run knows, twice as steep.
  EXPECT_TRUE(grows("%d = arith.addi %i, %i : index\n%e = arith.addi %d, %n : index\n"
                    "%keep = arith.cmpi slt, %j, %e : index"));
  // Causal or in a prefix; causal and in front of a length.
  EXPECT_TRUE(grows("%a = arith.cmpi sle, %j, %i : index\n%c = arith.cmpi slt, %j, %p : index\n"
                    "%keep = arith.ori %a, %c : i1"));
  EXPECT_TRUE(grows("%a = arith.cmpi sle, %j, %i : index\n%c = arith.cmpi slt, %j, %p : index\n"
                    "%keep = arith.andi %a, %c : i1"));
}

TEST(MaskAnalysis, RangesThatDoNotGrowWithTheRows) {
  // As many keys in each tile; fewer from tile to tile; an end that comes nearer.
  EXPECT_FALSE(grows("%w = arith.subi %i, %n : index\n%a = arith.cmpi sle, %j, %i : index\n"
                     "%c = arith.cmpi sge, %j, %w : index\n%keep = arith.andi %a, %c : i1"));
  EXPECT_FALSE(grows("%keep = arith.cmpi sge, %j, %i : index"));
  EXPECT_FALSE(grows("%e = arith.subi %n, %i : index\n%keep = arith.cmpi slt, %j, %e : index"));
  EXPECT_FALSE(grows("%keep = arith.cmpi slt, %j, %p : index"));
  EXPECT_FALSE(growsWithRows({Bound::minusInfinity(), Bound::plusInfinity()}));
}

TEST(MaskAnalysis, TrendsOfBounds) {
  using Trend = Bound::Trend;
  const Bound row = Bound::lastRow(), seven = Bound::constant(7);
  EXPECT_EQ(Bound::scale(row, -2).trend(), Trend::Falls);
  EXPECT_EQ(Bound::scale(Bound::scale(row, -2), -1).trend(), Trend::Grows);
  EXPECT_EQ(Bound::floorDiv(row, 3).trend(), Trend::Grows);
  EXPECT_EQ(Bound::min(row, seven).trend(), Trend::Grows);
  EXPECT_EQ(Bound::max(Bound::scale(row, -2), seven).trend(), Trend::Falls);
  EXPECT_EQ(Bound::add(row, Bound::scale(row, -2)).trend(), Trend::Unknown);
  EXPECT_EQ(Bound::choose(row, seven, Bound::constant(9)).trend(), Trend::Unknown);
}

/// i - n <= j <= i, after causal.
const char *const kUniformWindow = "%w = arith.subi %i, %n : index\n%v = arith.cmpi sge, %j, %w : index\n"
                                   "%u = arith.andi %v, %a : i1\n";

/// Slopes, shifts by uniforms, and conditions joined in every way.
TEST(MaskAnalysis, AffineCombinations) {
  const std::string causal = "%a = arith.cmpi sle, %j, %i : index\n";
  const std::string half = "%c2 = arith.constant 2 : index\n%x = arith.muli %j, %c2 : index\n"
                           "%y = arith.addi %i, %n : index\n%c = arith.cmpi sle, %x, %y : index\n";
  checkMask(half + "%keep = arith.andi %c, %c : i1", true);
  checkMask(causal + half + "%keep = arith.andi %a, %c : i1", true);
  checkMask(causal + half + "%keep = arith.ori %a, %c : i1", true);
  // The rest of a division keeps track of a row's place in its block: the last block of keys before it, and itself.
  checkMask(causal + "%c8 = arith.constant 8 : index\n%c1 = arith.constant 1 : index\n"
                     "%x = arith.divui %i, %c8 : index\n%y = arith.divui %j, %c8 : index\n"
                     "%z = arith.addi %y, %c1 : index\n%c = arith.cmpi sge, %z, %x : index\n"
                     "%keep = arith.andi %a, %c : i1",
            true);
  // What a window that starts at a uniform leaves out is two ranges.
  checkMask(causal + kUniformWindow + "%t = arith.constant true\n%keep = arith.xori %u, %t : i1", false);
  checkMask("%t = arith.constant true\n%a = arith.cmpi slt, %i, %j : index\n%c = arith.cmpi sge, %j, %n : index\n"
            "%x = arith.andi %a, %c : i1\n%keep = arith.xori %x, %t : i1",
            true);
  // The smaller of a length and a diagonal, past a start.
  checkMask("%l = arith.index_cast %len : i32 to index\n%m = arith.minsi %l, %p : index\n"
            "%e = arith.addi %i, %n : index\n%z = arith.minsi %m, %e : index\n%a = arith.cmpi slt, %j, %z : index\n"
            "%c3 = arith.constant 3 : index\n%c = arith.cmpi sge, %j, %c3 : index\n%keep = arith.andi %a, %c : i1",
            true);
}

/// Without a uniform that is not known, a bound errs on the one side that it is asked to.
TEST(MaskAnalysis, RelaxedBounds) {
  Mask mask("%keep = arith.constant true");
  func::FuncOp function = *mask.module->getOps<func::FuncOp>().begin();
  Value n = function.getArgument(2), p = function.getArgument(3);
  auto str = [&](const Bound &bound, Value known, bool isUpper) {
    SmallVector<Value> names;
    return bound.relaxed([&](Value value) { return value == known; }, isUpper).str(names);
  };
  Bound first = Bound::uniform(n, -100, 100), second = Bound::uniform(p, -100, 100), row = Bound::firstRow();
  EXPECT_EQ(str(Bound::min(first, row), p, true), "i0");
  EXPECT_EQ(str(Bound::min(first, row), p, false), "-inf");
  EXPECT_EQ(str(Bound::min(first, row), n, false), "min(n0, i0)");
  EXPECT_EQ(str(Bound::max(Bound::add(first, row), second), p, false), "n0");
  EXPECT_EQ(str(Bound::max(Bound::add(first, row), second), p, true), "inf");
  EXPECT_EQ(str(Bound::add(row, Bound::scale(Bound::min(first, second), -1)), n, false), "i0 - n0");
  EXPECT_EQ(str(Bound::add(row, Bound::scale(Bound::min(first, second), -1)), n, true), "inf");
  EXPECT_EQ(str(Bound::floorDiv(Bound::max(first, row), 4), p, false), "floor((i0) / 4)");
  EXPECT_EQ(str(Bound::choose(first, row, second), p, true), "max(i0, n0)");
  EXPECT_EQ(str(Bound::choose(second, row, first), p, true), "(n0 <= 0 ? i0 : inf)");
}

TEST(MaskAnalysis, NonNegativeBounds) {
  Mask mask("%keep = arith.constant true");
  func::FuncOp function = *mask.module->getOps<func::FuncOp>().begin();
  Bound any = Bound::uniform(function.getArgument(2), -4, 4), size = Bound::uniform(function.getArgument(2), 0, 4);
  Bound row = Bound::firstRow();
  EXPECT_GE(Bound::add(Bound::lastRow(), Bound::constant(1)).limits(kMaxExtent).first, 0);
  EXPECT_GE(Bound::max(any, row).limits(kMaxExtent).first, 0);
  EXPECT_GE(Bound::floorDiv(Bound::scale(Bound::min(size, row), 3), 2).limits(kMaxExtent).first, 0);
  EXPECT_GE(Bound::choose(any, row, Bound::plusInfinity()).limits(kMaxExtent).first, 0);
  EXPECT_LT(Bound::add(row, Bound::constant(-1)).limits(kMaxExtent).first, 0);
  EXPECT_LT(Bound::min(any, row).limits(kMaxExtent).first, 0);
  EXPECT_LT(Bound::scale(row, -1).limits(kMaxExtent).first, 0);
  EXPECT_LT(Bound::choose(row, row, any).limits(kMaxExtent).first, 0);
  EXPECT_LT(Bound::minusInfinity().limits(kMaxExtent).first, 0);
}

/// Two ends of a row that may cross, here where n is negative, are taken as if they did not: tiles are then visited
/// though they have no kept key.
TEST(MaskAnalysis, CrossedEndsAreVisited) {
  const std::string body =
      std::string("%a = arith.cmpi sle, %j, %i : index\n") + kUniformWindow + "%keep = arith.andi %u, %u : i1";
  checkByBruteForce(body, true);
  Mask mask(body);
  MaskRanges ranges = analyzeMask(*mask.region, kMaxExtent, kMaxExtent);
  EXPECT_EQ(disprove(*mask.region, ranges, kMaxExtent), "no row keeps the first key of the live range");
  ranges.isExact = false;
  EXPECT_EQ(disprove(*mask.region, ranges, kMaxExtent), "");
}

/// The symbolic oracle sees each kind of mistake.
TEST(MaskAnalysis, WrongRangesAreDisproved) {
  Mask mask("%keep = arith.cmpi sle, %j, %i : index");
  MaskRanges right = analyzeMask(*mask.region, kMaxExtent, kMaxExtent);
  auto wrong = [&](auto change) {
    MaskRanges ranges = right;
    change(ranges);
    return disprove(*mask.region, ranges, kMaxExtent);
  };
  EXPECT_EQ(wrong([](MaskRanges &) {}), "");
  EXPECT_EQ(wrong([](MaskRanges &ranges) { ranges.live.upper = Bound::lastRow(); }),
            "a kept key is not in the live range");
  EXPECT_EQ(wrong([](MaskRanges &ranges) { ranges.live.lower = Bound::constant(1); }),
            "a kept key is not in the live range");
  EXPECT_EQ(wrong([](MaskRanges &ranges) { ranges.full.upper = Bound::add(Bound::firstRow(), Bound::constant(2)); }),
            "a dropped key is in the full range");
  EXPECT_EQ(wrong([](MaskRanges &ranges) { ranges.live.upper = Bound::plusInfinity(); }),
            "no row keeps the last key of the live range");
  // Only for tiles behind row 2^29: no sample of small sizes would see it.
  auto farOff = [](MaskRanges &ranges) {
    Bound condition = Bound::add(Bound::firstRow(), Bound::constant(-(int64_t(1) << 29)));
    ranges.live.upper = Bound::choose(condition, ranges.live.upper, Bound::lastRow());
  };
  EXPECT_EQ(wrong(farOff), "a kept key is not in the live range");
}
