//===- Tiles.cpp - loading, updating and storing tiles on the CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loops.h"
#include "Patterns.h"
#include "VectorMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::flash;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A float (or a vector of them) in another precision.
static Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type to) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (value.getType() == to)
    return value;
  if (from < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

static Value loadRow(ImplicitLocOpBuilder &b, VectorType type, Value tile, Value row) {
  return vector::LoadOp::create(b, type, tile, ValueRange{row, constantIndex(b, 0)});
}

static void storeRow(ImplicitLocOpBuilder &b, Value vector, Value tile, Value row) {
  vector::StoreOp::create(b, vector, tile, ValueRange{row, constantIndex(b, 0)});
}

static Value isEqual(ImplicitLocOpBuilder &b, Value vector, double value) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, vector, splat(b, vector.getType(), value));
}

/// The maximum to subtract: 0 for rows without a key so far, where -inf - (-inf) would be NaN.
static Value finiteMax(ImplicitLocOpBuilder &b, Value max) {
  return arith::SelectOp::create(b, isEqual(b, max, -kInfinity), splat(b, max.getType(), 0), max);
}

/// numerator / sum, 0 where sum is 0.
static Value normalise(ImplicitLocOpBuilder &b, Value numerator, Value sum) {
  Value zero = splat(b, sum.getType(), 0);
  return arith::SelectOp::create(b, isEqual(b, sum, 0), zero, arith::DivFOp::create(b, numerator, sum));
}

/// dest[prefix..., i0 + r, at] = tile[row][r] for r < rows.
static void scatterRow(ImplicitLocOpBuilder &b, Value tile, Value row, Value dest, ArrayRef<Value> prefix, Value i0,
                       Value at, Value rows) {
  Type element = cast<MemRefType>(dest.getType()).getElementType();
  buildLoop(b, constantIndex(b, 0), rows, 1, [&](ImplicitLocOpBuilder &b, Value r) {
    Value value = convertFloat(b, memref::LoadOp::create(b, tile, ValueRange{row, r}), element);
    SmallVector<Value> indices(prefix);
    indices.append({plus(b, i0, r), at});
    memref::StoreOp::create(b, value, dest, indices);
  });
}

namespace {

template <typename OpTy>
struct TilePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  template <typename TypeTy>
  TypeTy convert(Type type) const {
    return cast<TypeTy>(this->getTypeConverter()->convertType(type));
  }
};

struct LoadQuery : TilePattern<LoadQueryOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(LoadQueryOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = convert<MemRefType>(op.getType());
    auto headDim = [&](ImplicitLocOpBuilder &b) { return getDimension(b, adaptor.getSource(), 3); };
    Value tile = createScratch(b, type, headDim), zero = constantIndex(b, 0), size = headDim(b);
    auto row = VectorType::get({type.getDimSize(1)}, type.getElementType());
    // Rows that do not exist are zero lanes: the products need no masks.
    buildLoop(b, zero, size, 1,
              [&](ImplicitLocOpBuilder &b, Value d) { storeRow(b, splat(b, row, 0), tile, d); });
    buildLoop(b, zero, adaptor.getRows(), 1, [&](ImplicitLocOpBuilder &b, Value r) {
      Value i = plus(b, adaptor.getI0(), r);
      buildLoop(b, zero, size, 1, [&](ImplicitLocOpBuilder &b, Value d) {
        Value element = memref::LoadOp::create(b, adaptor.getSource(),
                                               ValueRange{adaptor.getB(), adaptor.getH(), i, d});
        Value wide = convertFloat(b, element, type.getElementType());
        if (adaptor.getScale())
          wide = arith::MulFOp::create(b, wide, adaptor.getScale());
        memref::StoreOp::create(b, wide, tile, ValueRange{d, r});
      });
    });
    rewriter.replaceOp(op, tile);
    return success();
  }
};

struct Init : TilePattern<InitOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(InitOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = convert<MemRefType>(op.getAcc().getType());
    auto rows = convert<VectorType>(op.getMax().getType());
    Value acc = createScratch(b, type, [&](ImplicitLocOpBuilder &) { return adaptor.getValueDim(); });
    Value size = type.isDynamicDim(0) ? adaptor.getValueDim() : constantIndex(b, type.getDimSize(0));
    buildLoop(b, constantIndex(b, 0), size, 1,
              [&](ImplicitLocOpBuilder &b, Value e) { storeRow(b, splat(b, rows, 0), acc, e); });
    Value max = splat(b, rows, -kInfinity), sum = splat(b, rows, 0);
    if (Value sink = adaptor.getSink()) {
      max = vector::BroadcastOp::create(b, rows, sink);
      // A sink of -inf is none; NaN goes on as NaN in max.
      sum = arith::SelectOp::create(b, isEqual(b, max, -kInfinity), splat(b, rows, 0), splat(b, rows, 1));
    }
    rewriter.replaceOp(op, {max, sum, acc});
    return success();
  }
};

struct UpdateMax : TilePattern<UpdateMaxOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(UpdateMaxOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value max = vectorMax(b, adaptor.getOld(), adaptor.getTileMax());
    Value rescale = vectorExp(b, arith::SubFOp::create(b, adaptor.getOld(), finiteMax(b, max)));
    rewriter.replaceOp(op, {max, rescale});
    return success();
  }
};

struct Weights : TilePattern<WeightsOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(WeightsOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<VectorType>(adaptor.getMax().getType());
    Value max = finiteMax(b, adaptor.getMax()), tile = adaptor.getScores();
    Value start = arith::MulFOp::create(b, adaptor.getSum(), adaptor.getRescale());
    Value sum = buildCarryingLoop(
        b, constantIndex(b, 0), adaptor.getKeys(), 1, start,
        [&](ImplicitLocOpBuilder &b, Value k, ValueRange carried) -> SmallVector<Value> {
          Value weight = vectorExp(b, arith::SubFOp::create(b, loadRow(b, type, tile, k), max));
          storeRow(b, weight, tile, k);
          return {arith::AddFOp::create(b, carried[0], weight)};
        })[0];
    rewriter.replaceOp(op, {tile, sum});
    return success();
  }
};

struct Store : TilePattern<StoreOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(StoreOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value acc = adaptor.getAcc(), sum = adaptor.getSum();
    auto type = cast<VectorType>(sum.getType());
    buildLoop(b, constantIndex(b, 0), getDimension(b, acc, 0), 1, [&](ImplicitLocOpBuilder &b, Value e) {
      storeRow(b, normalise(b, loadRow(b, type, acc, e), sum), acc, e);
      scatterRow(b, acc, e, adaptor.getDest(), {adaptor.getB(), adaptor.getH()}, adaptor.getI0(), e,
                 adaptor.getRows());
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreLse : TilePattern<StoreLseOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(StoreLseOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<VectorType>(adaptor.getMax().getType());
    Value lse = arith::AddFOp::create(b, adaptor.getMax(), math::LogOp::create(b, adaptor.getSum()));
    Value line = createScratch(b, MemRefType::get({1, type.getDimSize(0)}, type.getElementType()), {});
    Value zero = constantIndex(b, 0);
    storeRow(b, lse, line, zero);
    buildLoop(b, zero, adaptor.getRows(), 1, [&](ImplicitLocOpBuilder &b, Value r) {
      Value value = memref::LoadOp::create(b, line, ValueRange{zero, r});
      memref::StoreOp::create(b, value, adaptor.getDest(),
                              ValueRange{adaptor.getB(), adaptor.getH(), plus(b, adaptor.getI0(), r)});
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreWeights : TilePattern<StoreWeightsOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(StoreWeightsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value tile = adaptor.getScores(), max = finiteMax(b, adaptor.getMax());
    auto type = cast<VectorType>(max.getType());
    auto scatter = [&](ImplicitLocOpBuilder &b, Value k) {
      scatterRow(b, tile, k, adaptor.getDest(), {adaptor.getB(), adaptor.getH()}, adaptor.getI0(),
                 plus(b, adaptor.getJ0(), k), adaptor.getRows());
    };
    buildLoop(b, constantIndex(b, 0), adaptor.getKeys(), 1, [&](ImplicitLocOpBuilder &b, Value k) {
      Value score = loadRow(b, type, tile, k);
      Value weight = normalise(b, vectorExp(b, arith::SubFOp::create(b, score, max)), adaptor.getSum());
      // A dropped key weighs 0 in a NaN row too.
      weight = arith::SelectOp::create(b, isEqual(b, score, -kInfinity), splat(b, type, 0), weight);
      storeRow(b, weight, tile, k);
      scatter(b, k);
    });
    buildLoop(b, adaptor.getKeys(), adaptor.getZeros(), 1, [&](ImplicitLocOpBuilder &b, Value k) {
      storeRow(b, splat(b, type, 0), tile, k);
      scatter(b, k);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::populateTilePatterns(const TileTypeConverter &converter, const CpuLowering &, RewritePatternSet &patterns) {
  patterns.add<LoadQuery, Init, UpdateMax, Weights, Store, StoreLse, StoreWeights>(converter, patterns.getContext());
}
