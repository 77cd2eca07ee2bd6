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

/// A chunk of a row of a tile: type.size lanes from `lane`.
static Value loadRow(ImplicitLocOpBuilder &b, VectorType type, Value tile, Value row, Value lane) {
  return vector::LoadOp::create(b, type, tile, ValueRange{row, lane});
}

static void storeRow(ImplicitLocOpBuilder &b, Value vector, Value tile, Value row, Value lane) {
  vector::StoreOp::create(b, vector, tile, ValueRange{row, lane});
}

/// A chunk of a rows value.
static Value loadRows(ImplicitLocOpBuilder &b, VectorType type, Value rows, Value lane) {
  return vector::LoadOp::create(b, type, rows, lane);
}

static void storeRows(ImplicitLocOpBuilder &b, Value vector, Value rows, Value lane) {
  vector::StoreOp::create(b, vector, rows, lane);
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

template <typename OpTy> struct TilePattern : OpConversionPattern<OpTy> {
  using OpAdaptor = typename OpTy::Adaptor;

  TilePattern(const TypeConverter &converter, MLIRContext *context, const CpuLowering &lowering)
      : OpConversionPattern<OpTy>(converter, context), lowering(lowering) {}

  /// Builds the op's code and returns what takes the place of its results.
  virtual SmallVector<Value> lower(ImplicitLocOpBuilder &b, OpTy op, OpAdaptor adaptor) const = 0;

  LogicalResult matchAndRewrite(OpTy op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, lower(b, op, adaptor));
    return success();
  }

  MemRefType convert(Type type) const { return cast<MemRefType>(this->getTypeConverter()->convertType(type)); }

  /// The vector of one chunk of a rows value.
  VectorType chunkOf(Value rows) const { return chunkType(lowering, convert(rows.getType())); }

  /// Calls `body` with the first lane of each chunk that has one of the first `rows` rows.
  static void forChunks(ImplicitLocOpBuilder &b, VectorType chunk, Value rows,
                        llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
    buildLoop(b, constantIndex(b, 0), rows, chunk.getDimSize(0), body);
  }

  /// The same for each chunk of the tile.
  static void forAllChunks(ImplicitLocOpBuilder &b, VectorType chunk, MemRefType tileRows,
                           llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
    forChunks(b, chunk, constantIndex(b, tileRows.getDimSize(0)), body);
  }

  const CpuLowering &lowering;
};

struct LoadQuery : TilePattern<LoadQueryOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, LoadQueryOp op, OpAdaptor adaptor) const override {
    MemRefType type = convert(op.getType());
    auto headDim = [&](ImplicitLocOpBuilder &b) { return getDimension(b, adaptor.getSource(), 3); };
    Value tile = createScratch(b, type, headDim), zero = constantIndex(b, 0), size = headDim(b);
    auto row = VectorType::get({type.getDimSize(1)}, type.getElementType());
    // Rows that do not exist are zero lanes: the products need no masks.
    Value isPartial =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, adaptor.getRows(), constantIndex(b, type.getDimSize(1)));
    scf::IfOp::create(b, isPartial, [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      buildLoop(b, zero, size, 1,
                [&](ImplicitLocOpBuilder &b, Value d) { storeRow(b, splat(b, row, 0), tile, d, constantIndex(b, 0)); });
      scf::YieldOp::create(b);
    });
    buildLoop(b, zero, adaptor.getRows(), 1, [&](ImplicitLocOpBuilder &b, Value r) {
      Value i = plus(b, adaptor.getI0(), r);
      buildLoop(b, zero, size, 1, [&](ImplicitLocOpBuilder &b, Value d) {
        Value element =
            memref::LoadOp::create(b, adaptor.getSource(), ValueRange{adaptor.getB(), adaptor.getH(), i, d});
        Value wide = convertFloat(b, element, type.getElementType());
        if (adaptor.getScale())
          wide = arith::MulFOp::create(b, wide, adaptor.getScale());
        memref::StoreOp::create(b, wide, tile, ValueRange{d, r});
      });
    });
    return {tile};
  }
};

struct Init : TilePattern<InitOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, InitOp op, OpAdaptor adaptor) const override {
    MemRefType type = convert(op.getAcc().getType()), rows = convert(op.getMax().getType());
    Value acc = createScratch(b, type, [&](ImplicitLocOpBuilder &) { return adaptor.getValueDim(); });
    Value max = createScratch(b, rows, {}), sum = createScratch(b, rows, {});
    VectorType chunk = chunkType(lowering, rows);
    forAllChunks(b, chunk, rows, [&](ImplicitLocOpBuilder &b, Value lane) {
      Value first = splat(b, chunk, -kInfinity), count = splat(b, chunk, 0);
      if (Value sink = adaptor.getSink()) {
        first = vector::BroadcastOp::create(b, chunk, sink);
        // A sink of -inf is none; NaN goes on as NaN in max.
        count = arith::SelectOp::create(b, isEqual(b, first, -kInfinity), count, splat(b, chunk, 1));
      }
      storeRows(b, first, max, lane);
      storeRows(b, count, sum, lane);
    });
    buildLoop(b, constantIndex(b, 0), getDimension(b, acc, 0), 1, [&](ImplicitLocOpBuilder &b, Value e) {
      forAllChunks(b, chunk, rows,
                   [&](ImplicitLocOpBuilder &b, Value lane) { storeRow(b, splat(b, chunk, 0), acc, e, lane); });
    });
    return {max, sum, acc};
  }
};

struct UpdateMax : TilePattern<UpdateMaxOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, UpdateMaxOp op, OpAdaptor adaptor) const override {
    MemRefType rows = convert(op.getOld().getType());
    VectorType chunk = chunkType(lowering, rows);
    Value rescale = createScratch(b, rows, {});
    forAllChunks(b, chunk, rows, [&](ImplicitLocOpBuilder &b, Value lane) {
      Value old = loadRows(b, chunk, adaptor.getOld(), lane);
      Value max = vectorMax(b, old, loadRows(b, chunk, adaptor.getTileMax(), lane));
      storeRows(b, vectorExp(b, arith::SubFOp::create(b, old, finiteMax(b, max))), rescale, lane);
      storeRows(b, max, adaptor.getOld(), lane);
    });
    return {adaptor.getOld(), rescale};
  }
};

struct Weights : TilePattern<WeightsOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, WeightsOp op, OpAdaptor adaptor) const override {
    VectorType chunk = chunkOf(op.getMax());
    Value tile = adaptor.getScores();
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value max = finiteMax(b, loadRows(b, chunk, adaptor.getMax(), lane));
      Value start = arith::MulFOp::create(b, loadRows(b, chunk, adaptor.getSum(), lane),
                                          loadRows(b, chunk, adaptor.getRescale(), lane));
      Value sum = buildCarryingLoop(b, constantIndex(b, 0), adaptor.getKeys(), 1, start,
                                    [&](ImplicitLocOpBuilder &b, Value k, ValueRange carried) -> SmallVector<Value> {
                                      Value score = loadRow(b, chunk, tile, k, lane);
                                      Value weight = vectorExp(b, arith::SubFOp::create(b, score, max));
                                      storeRow(b, weight, tile, k, lane);
                                      return {arith::AddFOp::create(b, carried[0], weight)};
                                    })[0];
      storeRows(b, sum, adaptor.getSum(), lane);
    });
    return {tile, adaptor.getSum()};
  }
};

struct Store : TilePattern<StoreOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, StoreOp op, OpAdaptor adaptor) const override {
    Value acc = adaptor.getAcc();
    VectorType chunk = chunkOf(op.getSum());
    buildLoop(b, constantIndex(b, 0), getDimension(b, acc, 0), 1, [&](ImplicitLocOpBuilder &b, Value e) {
      forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
        Value sum = loadRows(b, chunk, adaptor.getSum(), lane);
        storeRow(b, normalise(b, loadRow(b, chunk, acc, e, lane), sum), acc, e, lane);
      });
      scatterRow(b, acc, e, adaptor.getDest(), {adaptor.getB(), adaptor.getH()}, adaptor.getI0(), e, adaptor.getRows());
    });
    return {};
  }
};

struct StoreLse : TilePattern<StoreLseOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, StoreLseOp op, OpAdaptor adaptor) const override {
    VectorType chunk = chunkOf(op.getMax());
    Value line = createScratch(b, convert(op.getMax().getType()), {});
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value log = math::LogOp::create(b, loadRows(b, chunk, adaptor.getSum(), lane));
      storeRows(b, arith::AddFOp::create(b, loadRows(b, chunk, adaptor.getMax(), lane), log), line, lane);
    });
    buildLoop(b, constantIndex(b, 0), adaptor.getRows(), 1, [&](ImplicitLocOpBuilder &b, Value r) {
      Value value = memref::LoadOp::create(b, line, r);
      memref::StoreOp::create(b, value, adaptor.getDest(),
                              ValueRange{adaptor.getB(), adaptor.getH(), plus(b, adaptor.getI0(), r)});
    });
    return {};
  }
};

struct StoreWeights : TilePattern<StoreWeightsOp> {
  using TilePattern::TilePattern;

  /// scores[k] becomes the final weights of one key, over all chunks.
  static void finishKey(ImplicitLocOpBuilder &b, OpAdaptor adaptor, VectorType chunk, Value k) {
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value score = loadRow(b, chunk, adaptor.getScores(), k, lane);
      Value max = finiteMax(b, loadRows(b, chunk, adaptor.getMax(), lane));
      Value sum = loadRows(b, chunk, adaptor.getSum(), lane);
      Value weight = normalise(b, vectorExp(b, arith::SubFOp::create(b, score, max)), sum);
      // A dropped key weighs 0 in a NaN row too.
      weight = arith::SelectOp::create(b, isEqual(b, score, -kInfinity), splat(b, chunk, 0), weight);
      storeRow(b, weight, adaptor.getScores(), k, lane);
    });
  }

  SmallVector<Value> lower(ImplicitLocOpBuilder &b, StoreWeightsOp op, OpAdaptor adaptor) const override {
    VectorType chunk = chunkOf(op.getMax());
    auto scatter = [&](ImplicitLocOpBuilder &b, Value k) {
      scatterRow(b, adaptor.getScores(), k, adaptor.getDest(), {adaptor.getB(), adaptor.getH()}, adaptor.getI0(),
                 plus(b, adaptor.getJ0(), k), adaptor.getRows());
    };
    buildLoop(b, constantIndex(b, 0), adaptor.getKeys(), 1, [&](ImplicitLocOpBuilder &b, Value k) {
      finishKey(b, adaptor, chunk, k);
      scatter(b, k);
    });
    buildLoop(b, adaptor.getKeys(), adaptor.getZeros(), 1, [&](ImplicitLocOpBuilder &b, Value k) {
      forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
        storeRow(b, splat(b, chunk, 0), adaptor.getScores(), k, lane);
      });
      scatter(b, k);
    });
    return {};
  }
};

} // namespace

void attn::populateTilePatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                                RewritePatternSet &patterns) {
  patterns.add<LoadQuery, Init, UpdateMax, Weights, Store, StoreLse, StoreWeights>(converter, patterns.getContext(),
                                                                                   lowering);
}
