//===- Tiles.cpp - loading, updating and storing tiles in registers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../FlashLanes/Loops.h"
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;
using namespace attn::flash;

static constexpr double kLog2E = 1.4426950408889634074;
static constexpr double kLn2 = 0.69314718055994530942;

static Value number(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}
static Value minusInfinity(ImplicitLocOpBuilder &b) { return number(b, -std::numeric_limits<double>::infinity()); }

static Value isEqual(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y);
}

/// The maximum to subtract: 0 for rows without a key so far, where -inf - (-inf) would be NaN.
static Value finiteMax(ImplicitLocOpBuilder &b, Value max) {
  return arith::SelectOp::create(b, isEqual(b, max, minusInfinity(b)), number(b, 0), max);
}

/// 1 / sum, 0 where sum is 0. A sum counts 1 for the largest score, so that neither it nor its reciprocal overflows; a
/// product with it is as good as the quotient but for one more rounding.
static Value reciprocal(ImplicitLocOpBuilder &b, Value sum) {
  Value inverse = arith::DivFOp::create(b, number(b, 1), sum);
  return arith::SelectOp::create(b, isEqual(b, sum, number(b, 0)), number(b, 0), inverse);
}

Value NvvmLowering::fragmentRow(ImplicitLocOpBuilder &b, int64_t m) const {
  return add(b, add(b, times(b, place.warp, shape.warpRows), place.g), 16 * m);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FragmentTypeConverter::FragmentTypeConverter(const KernelShape &shape) {
  auto values = [](MLIRContext *context, int64_t count, SmallVectorImpl<Type> &types) {
    types.append(count, Float32Type::get(context));
    return success();
  };
  const int64_t m = shape.rowFragments();
  addConversion([](Type type) { return type; });
  addConversion([](QueryType, SmallVectorImpl<Type> &) { return success(); });
  addConversion([=](ScoresType type, SmallVectorImpl<Type> &types) {
    if (type.getElement().isF32())
      return values(type.getContext(), m * type.getKeys() / 8 * 4, types);
    types.append(m * type.getKeys() / 8 * 2, IntegerType::get(type.getContext(), 32));
    return success();
  });
  addConversion([=, columns = shape.valueColumns](AccType type, SmallVectorImpl<Type> &types) {
    return values(type.getContext(), m * columns / 8 * 4, types);
  });
  addConversion([=](RowsType type, SmallVectorImpl<Type> &types) { return values(type.getContext(), 2 * m, types); });
}

namespace {

//===----------------------------------------------------------------------===//
// The base of the patterns
//===----------------------------------------------------------------------===//

template <typename OpTy> struct FragmentPattern : OpConversionPattern<OpTy> {
  using Adaptor = typename OpTy::template GenericAdaptor<ArrayRef<ValueRange>>;
  using Results = SmallVector<SmallVector<Value>>;

  FragmentPattern(const TypeConverter &converter, MLIRContext *context, const NvvmLowering &lowering)
      : OpConversionPattern<OpTy>(converter, context), lowering(lowering) {}

  /// Builds the op's code and returns what takes the place of its results. Failure after a diagnostic.
  virtual FailureOr<Results> lower(ImplicitLocOpBuilder &b, OpTy op, Adaptor adaptor) const = 0;

  LogicalResult matchAndRewrite(OpTy op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<Results> results = lower(b, op, adaptor);
    if (failed(results))
      return failure();
    rewriter.replaceOpWithMultiple(op, SmallVector<ValueRange>(results->begin(), results->end()));
    return success();
  }

  int64_t rowFragments() const { return lowering.shape.rowFragments(); }
  int64_t rowSlots() const { return 2 * rowFragments(); }

  /// A weight before it is divided by the sum; `max` is finite.
  static Value weightOf(ImplicitLocOpBuilder &b, OpTy op, Value score, Value max) {
    Value factor = number(b, op.getUnit().convertToDouble() * kLog2E);
    return exp2(b, arith::MulFOp::create(b, arith::SubFOp::create(b, score, max), factor));
  }

  /// Calls `body` with each value of a tile of `columns` columns: its number, row slot and column.
  void forValues(ImplicitLocOpBuilder &b, int64_t columns,
                 llvm::function_ref<void(int64_t number, int64_t slot, Value column)> body) const {
    for (int64_t m = 0; m < rowFragments(); ++m)
      for (int64_t n = 0; n < columns / 8; ++n)
        for (int64_t e = 0; e < 4; ++e)
          body(4 * (m * (columns / 8) + n) + e, rowSlot(m, e), add(b, times(b, lowering.place.t, 2), 8 * n + e % 2));
  }

  /// Where the row of a slot exists, for the one of four threads that writes what they all hold.
  void forRowOnce(ImplicitLocOpBuilder &b, const TileRows &rows, Value entry, int64_t slot,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange place)> body) const {
    FragmentRow row = buildRow(b, lowering, rows, entry, slot);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.t, i32(b, 0));
    scf::IfOp::create(b, arith::AndIOp::create(b, isFirst, row.exists), [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      body(b, row.place);
      scf::YieldOp::create(b);
    });
  }

  const NvvmLowering &lowering;
};

/// The rows of the tile that an op works on.
template <typename Adaptor> TileRows rowsOf(Adaptor adaptor) {
  return {adaptor.getH()[0], adaptor.getI0()[0], adaptor.getRows()[0], int64_t(adaptor.getGroup())};
}

SmallVector<Value> list(ValueRange values) { return SmallVector<Value>(values); }

/// The size of a view's last dimension.
Value columnsOf(ImplicitLocOpBuilder &b, Value view) { return b.createOrFold<memref::DimOp>(view, 3); }

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

struct LoadQuery : FragmentPattern<LoadQueryOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, LoadQueryOp op, Adaptor adaptor) const override {
    // Without products nobody reads it, and it has no place.
    if (lowering.shape.kvTile == 0)
      return Results{{}};
    buildCopy(b, lowering, lowering.shape.query, i32(b, 0), adaptor.getSource()[0], adaptor.getB()[0], rowsOf(adaptor));
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (lowering.shape.consumers)
      finishQueryCopy(b, lowering);
    return Results{{}};
  }
};

struct Init : FragmentPattern<InitOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, InitOp op, Adaptor adaptor) const override {
    Value max = minusInfinity(b), sum = number(b, 0);
    if (ValueRange sink = adaptor.getSink(); !sink.empty()) {
      max = sink[0];
      // Once for the row, so in one of its threads. A sink of -inf is none; NaN goes on as NaN in max.
      Value isMine = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.t, i32(b, 0));
      Value isNone = isEqual(b, max, minusInfinity(b));
      sum = arith::SelectOp::create(b, isMine, arith::SelectOp::create(b, isNone, sum, number(b, 1)), sum);
    }
    int64_t values = rowFragments() * lowering.shape.valueColumns / 8 * 4;
    return Results{SmallVector<Value>(rowSlots(), max), SmallVector<Value>(rowSlots(), sum),
                   SmallVector<Value>(values, number(b, 0))};
  }
};

/// Scores of products, and the maximum of each row.
template <typename OpTy> struct ScoresPattern : FragmentPattern<OpTy> {
  using FragmentPattern<OpTy>::FragmentPattern;
  using typename FragmentPattern<OpTy>::Adaptor;
  using typename FragmentPattern<OpTy>::Results;

  FailureOr<Results> finish(ImplicitLocOpBuilder &b, OpTy op, Adaptor adaptor, SmallVector<Value> scores) const {
    const NvvmLowering &lowering = this->lowering;
    if (op.getScale())
      for (Value &score : scores)
        score = arith::MulFOp::create(b, score, adaptor.getScale()[0]);
    ScorePlace place{op.getScoreRegion(), op.getMaskRegion(),   adaptor.getB()[0],
                     adaptor.getJ0()[0],  adaptor.getKeys()[0], rowsOf(adaptor)};
    if (failed(applyRegions(b, lowering, place, scores)))
      return failure();
    SmallVector<Value> max(this->rowSlots());
    this->forValues(b, lowering.shape.kvTile, [&](int64_t number, int64_t slot, Value) {
      max[slot] = max[slot] ? arith::MaxNumFOp::create(b, max[slot], scores[number]) : scores[number];
    });
    for (Value &value : max)
      value = quadMax(b, value);
    return Results{scores, max};
  }
};

struct Scores : ScoresPattern<ScoresOp> {
  using ScoresPattern::ScoresPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, ScoresOp op, Adaptor adaptor) const override {
    return finish(b, op, adaptor, buildScoreProducts(b, lowering, adaptor.getStage()[0]));
  }
};

struct BeginScores : FragmentPattern<BeginScoresOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, BeginScoresOp op, Adaptor) const override {
    return Results{beginWarpgroupScores(b, lowering, op)};
  }
};

struct FinishScores : ScoresPattern<FinishScoresOp> {
  using ScoresPattern::ScoresPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, FinishScoresOp op, Adaptor adaptor) const override {
    finishWarpgroupProducts(b, lowering, lowering.role.keys, op.getLater());
    return finish(b, op, adaptor, list(adaptor.getProducts()));
  }
};

struct UpdateMax : FragmentPattern<UpdateMaxOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, UpdateMaxOp op, Adaptor adaptor) const override {
    SmallVector<Value> max, rescale;
    for (auto [old, tileMax] : llvm::zip(adaptor.getOld(), adaptor.getTileMax())) {
      max.push_back(arith::MaxNumFOp::create(b, old, tileMax));
      rescale.push_back(weightOf(b, op, old, finiteMax(b, max.back())));
    }
    return Results{max, rescale};
  }
};

struct Weights : FragmentPattern<WeightsOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, WeightsOp op, Adaptor adaptor) const override {
    SmallVector<Value> weights = list(adaptor.getScores()), max, sum;
    for (auto [value, part, rescale] : llvm::zip(adaptor.getMax(), adaptor.getSum(), adaptor.getRescale())) {
      max.push_back(finiteMax(b, value));
      sum.push_back(arith::MulFOp::create(b, part, rescale));
    }
    forValues(b, lowering.shape.kvTile, [&](int64_t number, int64_t slot, Value) {
      weights[number] = weightOf(b, op, weights[number], max[slot]);
      sum[slot] = arith::AddFOp::create(b, sum[slot], weights[number]);
    });
    return Results{weights, sum};
  }
};

/// Pairs of weights, as they lie in the left operand of a product.
struct RoundWeights : FragmentPattern<RoundWeightsOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, RoundWeightsOp op, Adaptor adaptor) const override {
    ValueRange weights = adaptor.getWeights();
    SmallVector<Value> pairs;
    for (size_t k = 0; k < weights.size(); k += 2)
      pairs.push_back(pack(b, op.getType().getElement(), weights[k], weights[k + 1]));
    return Results{pairs};
  }
};

template <typename OpTy> struct AccumulatePattern : FragmentPattern<OpTy> {
  using FragmentPattern<OpTy>::FragmentPattern;

  SmallVector<Value> rescaled(ImplicitLocOpBuilder &b, ValueRange acc, ValueRange rescale) const {
    SmallVector<Value> result = list(acc);
    this->forValues(b, this->lowering.shape.valueColumns, [&](int64_t number, int64_t slot, Value) {
      result[number] = arith::MulFOp::create(b, result[number], rescale[slot]);
    });
    return result;
  }
};

struct Accumulate : AccumulatePattern<AccumulateOp> {
  using AccumulatePattern::AccumulatePattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, AccumulateOp op, Adaptor adaptor) const override {
    SmallVector<Value> acc = rescaled(b, adaptor.getAcc(), adaptor.getRescale());
    buildValueProducts(b, lowering, adaptor.getStage()[0], adaptor.getWeights(), acc);
    return Results{acc};
  }
};

struct BeginAccumulate : AccumulatePattern<BeginAccumulateOp> {
  using AccumulatePattern::AccumulatePattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, BeginAccumulateOp op, Adaptor adaptor) const override {
    SmallVector<Value> acc = rescaled(b, adaptor.getAcc(), adaptor.getRescale());
    beginWarpgroupValues(b, lowering, op, adaptor.getWeights(), acc);
    return Results{acc};
  }
};

struct FinishAccumulate : FragmentPattern<FinishAccumulateOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, FinishAccumulateOp, Adaptor adaptor) const override {
    finishWarpgroupProducts(b, lowering, lowering.role.values, 0);
    return Results{list(adaptor.getAcc())};
  }
};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

struct Store : FragmentPattern<StoreOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, StoreOp op, Adaptor adaptor) const override {
    SmallVector<Value> factor, out = list(adaptor.getAcc());
    for (Value sum : adaptor.getSum())
      factor.push_back(reciprocal(b, quadSum(b, sum)));
    forValues(b, lowering.shape.valueColumns, [&](int64_t number, int64_t slot, Value) {
      out[number] = arith::MulFOp::create(b, out[number], factor[slot]);
    });
    Value view = adaptor.getDest()[0];
    buildStore(b, lowering, {view, adaptor.getB()[0], rowsOf(adaptor), Value(), columnsOf(b, view)},
               lowering.shape.valueColumns, out);
    return Results{};
  }
};

struct StoreLse : FragmentPattern<StoreLseOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, StoreLseOp op, Adaptor adaptor) const override {
    for (int64_t slot = 0; slot < rowSlots(); ++slot) {
      Value sum = quadSum(b, adaptor.getSum()[slot]);
      Value max = arith::MulFOp::create(b, adaptor.getMax()[slot], number(b, op.getUnit().convertToDouble()));
      Value lse = arith::AddFOp::create(b, max, arith::MulFOp::create(b, log2(b, sum), number(b, kLn2)));
      forRowOnce(b, rowsOf(adaptor), adaptor.getB()[0], slot, [&](ImplicitLocOpBuilder &b, ValueRange place) {
        memref::StoreOp::create(b, lse, adaptor.getDest()[0], place);
      });
    }
    return Results{};
  }
};

struct StoreWeights : FragmentPattern<StoreWeightsOp> {
  using FragmentPattern::FragmentPattern;

  /// The final weight of a score; a dropped key weighs 0 in a NaN row too.
  Value finalWeight(ImplicitLocOpBuilder &b, StoreWeightsOp op, Value score, Value max, Value factor) const {
    Value weight = arith::MulFOp::create(b, weightOf(b, op, score, max), factor);
    return arith::SelectOp::create(b, isEqual(b, score, minusInfinity(b)), number(b, 0), weight);
  }

  FailureOr<Results> lower(ImplicitLocOpBuilder &b, StoreWeightsOp op, Adaptor adaptor) const override {
    SmallVector<Value> weights = list(adaptor.getScores()), max, factor;
    for (auto [value, sum] : llvm::zip(adaptor.getMax(), adaptor.getSum())) {
      max.push_back(finiteMax(b, value));
      factor.push_back(reciprocal(b, quadSum(b, sum)));
    }
    forValues(b, lowering.shape.kvTile, [&](int64_t number, int64_t slot, Value) {
      weights[number] = finalWeight(b, op, weights[number], max[slot], factor[slot]);
    });
    // Scores behind the keys are -inf, so that their weights are the zeros that are asked for.
    Value end = arith::MaxSIOp::create(b, adaptor.getKeys()[0], adaptor.getZeros()[0]);
    buildStore(b, lowering, {adaptor.getDest()[0], adaptor.getB()[0], rowsOf(adaptor), adaptor.getJ0()[0], end},
               lowering.shape.kvTile, weights);
    return Results{};
  }
};

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

struct StorePartial : FragmentPattern<StorePartialOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, StorePartialOp op, Adaptor adaptor) const override {
    TileRows rows = rowsOf(adaptor);
    Value entry = adaptor.getP()[0], view = adaptor.getAccDest()[0];
    for (int64_t slot = 0; slot < rowSlots(); ++slot) {
      Value sum = quadSum(b, adaptor.getSum()[slot]);
      forRowOnce(b, rows, entry, slot, [&](ImplicitLocOpBuilder &b, ValueRange place) {
        memref::StoreOp::create(b, adaptor.getMax()[slot], adaptor.getMaxDest()[0], place);
        memref::StoreOp::create(b, sum, adaptor.getSumDest()[0], place);
      });
    }
    buildStore(b, lowering, {view, entry, rows, Value(), columnsOf(b, view)}, lowering.shape.valueColumns,
               adaptor.getAcc());
    return Results{};
  }
};

struct LoadPartial : FragmentPattern<LoadPartialOp> {
  using FragmentPattern::FragmentPattern;

  /// Reads where `exists`, else 0.
  Value loadIf(ImplicitLocOpBuilder &b, Value exists, Value source, ValueRange place) const {
    auto load = [&](OpBuilder &nested, Location loc) {
      scf::YieldOp::create(nested, loc, Value(memref::LoadOp::create(nested, loc, source, place)));
    };
    auto zero = [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      scf::YieldOp::create(b, number(b, 0));
    };
    return scf::IfOp::create(b, exists, load, zero).getResult(0);
  }

  FailureOr<Results> lower(ImplicitLocOpBuilder &b, LoadPartialOp op, Adaptor adaptor) const override {
    TileRows rows = rowsOf(adaptor);
    Value size = memref::DimOp::create(b, adaptor.getAccSource()[0], 3), end = toI32(b, size);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lowering.place.t, i32(b, 0));
    SmallVector<Value> max, sum;
    SmallVector<FragmentRow> held;
    for (int64_t slot = 0; slot < rowSlots(); ++slot) {
      const FragmentRow &row = held.emplace_back(buildRow(b, lowering, rows, adaptor.getP()[0], slot));
      max.push_back(loadIf(b, row.exists, adaptor.getMaxSource()[0], row.place));
      // One of the row's threads has the sum.
      Value isMine = arith::AndIOp::create(b, row.exists, isFirst);
      sum.push_back(loadIf(b, isMine, adaptor.getSumSource()[0], row.place));
    }
    SmallVector<Value> acc(rowFragments() * lowering.shape.valueColumns / 8 * 4);
    forValues(b, lowering.shape.valueColumns, [&](int64_t number, int64_t slot, Value column) {
      Value inRow = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, end);
      SmallVector<Value> place = held[slot].place;
      place.push_back(toIndex(b, column));
      Value exists = arith::AndIOp::create(b, held[slot].exists, inRow);
      acc[number] = loadIf(b, exists, adaptor.getAccSource()[0], place);
    });
    return Results{max, sum, acc};
  }
};

struct Merge : FragmentPattern<MergeOp> {
  using FragmentPattern::FragmentPattern;
  FailureOr<Results> lower(ImplicitLocOpBuilder &b, MergeOp op, Adaptor adaptor) const override {
    SmallVector<Value> max, mine, theirs, sum;
    auto combine = [&](Value value, Value other, int64_t slot) -> Value {
      Value scaled = arith::MulFOp::create(b, value, mine[slot]);
      return arith::AddFOp::create(b, scaled, arith::MulFOp::create(b, other, theirs[slot]));
    };
    for (int64_t slot = 0; slot < rowSlots(); ++slot) {
      Value one = adaptor.getMax()[slot], other = adaptor.getOtherMax()[slot];
      max.push_back(arith::MaxNumFOp::create(b, one, other));
      Value base = finiteMax(b, max[slot]);
      mine.push_back(weightOf(b, op, one, base));
      theirs.push_back(weightOf(b, op, other, base));
      sum.push_back(combine(adaptor.getSum()[slot], adaptor.getOtherSum()[slot], slot));
    }
    SmallVector<Value> acc(adaptor.getAcc().size());
    forValues(b, lowering.shape.valueColumns, [&](int64_t number, int64_t slot, Value) {
      acc[number] = combine(adaptor.getAcc()[number], adaptor.getOtherAcc()[number], slot);
    });
    return Results{max, sum, acc};
  }
};

} // namespace

void nvvm::populateFragmentPatterns(const FragmentTypeConverter &converter, const NvvmLowering &lowering,
                                    RewritePatternSet &patterns) {
  patterns.add<LoadQuery, Init, Scores, BeginScores, FinishScores, UpdateMax, Weights, RoundWeights, Accumulate,
               BeginAccumulate, FinishAccumulate, Store, StoreLse, StoreWeights, StorePartial, LoadPartial, Merge>(
      converter, patterns.getContext(), lowering);
}
