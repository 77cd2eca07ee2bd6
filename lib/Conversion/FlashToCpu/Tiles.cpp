//===- Tiles.cpp - loading, updating and storing tiles on the CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../FlashLanes/Lanes.h"
#include "../FlashLanes/Loops.h"
#include "../FlashLanes/VectorMath.h"
#include "Patterns.h"
#include "TileAccess.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

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

/// The rows of the tile that an op works on.
template <typename Adaptor> static TileRows rowsOf(Adaptor adaptor) {
  return {adaptor.getH(), adaptor.getI0(), adaptor.getRows(), int64_t(adaptor.getGroup())};
}

/// [entry, h(row), i(row), first + column]; `first` may be null.
static auto indicesOf(const TileRows &rows, Value entry, Value first) {
  return [rows, entry, first](ImplicitLocOpBuilder &b, Value row, Value column) -> SmallVector<Value> {
    return {entry, rows.head(b, row), rows.query(b, row), first ? plus(b, first, column) : column};
  };
}

/// Calls `body` with each row that exists, and where memory has it: [entry, head, query].
static void forRowsInMemory(ImplicitLocOpBuilder &b, const TileRows &rows, Value entry,
                            llvm::function_ref<void(ImplicitLocOpBuilder &, Value, ValueRange)> body) {
  buildLoop(b, constantIndex(b, 0), rows.rows, 1,
            [&](ImplicitLocOpBuilder &b, Value r) { body(b, r, {entry, rows.head(b, r), rows.query(b, r)}); });
}

/// Makes a tile zero.
static void fillTile(ImplicitLocOpBuilder &b, Value tile, int64_t rows) {
  auto type = cast<MemRefType>(tile.getType());
  auto chunk = VectorType::get({type.getDimSize(2)}, type.getElementType());
  buildLoop(
      b, constantIndex(b, 0), constantIndex(b, rows), type.getDimSize(2), [&](ImplicitLocOpBuilder &b, Value lane) {
        buildLoop(b, constantIndex(b, 0), getDimension(b, tile, 1), 1, [&](ImplicitLocOpBuilder &b, Value column) {
          storeLanes(b, splat(b, chunk, 0), tile, column, lane);
        });
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

  /// A weight before it is divided by the sum.
  static Value weightOf(ImplicitLocOpBuilder &b, OpTy op, Value score, Value max) {
    return vectorExp(b, arith::SubFOp::create(b, score, max), op.getUnit().convertToDouble());
  }

  const CpuLowering &lowering;
};

struct LoadQuery : TilePattern<LoadQueryOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, LoadQueryOp op, OpAdaptor adaptor) const override {
    MemRefType type = convert(op.getType());
    Value tile =
        createScratch(b, type, [&](ImplicitLocOpBuilder &b) { return getDimension(b, adaptor.getSource(), 3); });
    // Rows that do not exist are zero lanes: the products need no masks.
    int64_t tileRows = op.getType().getRows();
    Value isPartial = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, adaptor.getRows(), constantIndex(b, tileRows));
    scf::IfOp::create(b, isPartial, [&](OpBuilder &nested, Location loc) {
      ImplicitLocOpBuilder b(loc, nested);
      fillTile(b, tile, tileRows);
      scf::YieldOp::create(b);
    });
    TileWindow window{adaptor.getRows(), constantIndex(b, 0), getDimension(b, tile, 1)};
    copyToTile(b, adaptor.getSource(), indicesOf(rowsOf(adaptor), adaptor.getB(), Value()), window, tile);
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
    fillTile(b, acc, rows.getDimSize(0));
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
      storeRows(b, weightOf(b, op, old, finiteMax(b, max)), rescale, lane);
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
      ChunkKeys keys = loadChunkKeys(b, adaptor.getChunkKeys(), chunk.getDimSize(0), lane, adaptor.getKeys());
      Value sum = buildCarryingLoop(b, keys.first, keys.end, 1, start,
                                    [&](ImplicitLocOpBuilder &b, Value k, ValueRange carried) -> SmallVector<Value> {
                                      Value score = loadLanes(b, chunk, tile, k, lane);
                                      Value weight = weightOf(b, op, score, max);
                                      storeLanes(b, weight, tile, k, lane);
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
    Value acc = adaptor.getAcc(), size = getDimension(b, acc, 1);
    VectorType chunk = chunkOf(op.getSum());
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value sum = loadRows(b, chunk, adaptor.getSum(), lane);
      buildLoop(b, constantIndex(b, 0), size, 1, [&](ImplicitLocOpBuilder &b, Value e) {
        storeLanes(b, normalise(b, loadLanes(b, chunk, acc, e, lane), sum), acc, e, lane);
      });
    });
    TileWindow window{adaptor.getRows(), constantIndex(b, 0), size};
    copyFromTile(b, acc, window, adaptor.getDest(), indicesOf(rowsOf(adaptor), adaptor.getB(), Value()));
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
      Value max = loadRows(b, chunk, adaptor.getMax(), lane), unit = splat(b, chunk, op.getUnit().convertToDouble());
      storeRows(b, vector::FMAOp::create(b, max, unit, log), line, lane);
    });
    forRowsInMemory(b, rowsOf(adaptor), adaptor.getB(), [&](ImplicitLocOpBuilder &b, Value r, ValueRange at) {
      memref::StoreOp::create(b, memref::LoadOp::create(b, line, r), adaptor.getDest(), at);
    });
    return {};
  }
};

struct StorePartial : TilePattern<StorePartialOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, StorePartialOp op, OpAdaptor adaptor) const override {
    TileRows rows = rowsOf(adaptor);
    forRowsInMemory(b, rows, adaptor.getP(), [&](ImplicitLocOpBuilder &b, Value r, ValueRange at) {
      memref::StoreOp::create(b, memref::LoadOp::create(b, adaptor.getMax(), r), adaptor.getMaxDest(), at);
      memref::StoreOp::create(b, memref::LoadOp::create(b, adaptor.getSum(), r), adaptor.getSumDest(), at);
    });
    Value acc = adaptor.getAcc();
    TileWindow window{adaptor.getRows(), constantIndex(b, 0), getDimension(b, acc, 1)};
    copyFromTile(b, acc, window, adaptor.getAccDest(), indicesOf(rows, adaptor.getP(), Value()));
    return {};
  }
};

struct LoadPartial : TilePattern<LoadPartialOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, LoadPartialOp op, OpAdaptor adaptor) const override {
    MemRefType lines = convert(op.getMax().getType());
    Value max = createScratch(b, lines, {}), sum = createScratch(b, lines, {});
    Value acc = createScratch(b, convert(op.getAcc().getType()),
                              [&](ImplicitLocOpBuilder &b) { return getDimension(b, adaptor.getAccSource(), 3); });
    TileRows rows = rowsOf(adaptor);
    forRowsInMemory(b, rows, adaptor.getP(), [&](ImplicitLocOpBuilder &b, Value r, ValueRange at) {
      memref::StoreOp::create(b, memref::LoadOp::create(b, adaptor.getMaxSource(), at), max, r);
      memref::StoreOp::create(b, memref::LoadOp::create(b, adaptor.getSumSource(), at), sum, r);
    });
    TileWindow window{adaptor.getRows(), constantIndex(b, 0), getDimension(b, acc, 1)};
    copyToTile(b, adaptor.getAccSource(), indicesOf(rows, adaptor.getP(), Value()), window, acc);
    return {max, sum, acc};
  }
};

struct Merge : TilePattern<MergeOp> {
  using TilePattern::TilePattern;
  SmallVector<Value> lower(ImplicitLocOpBuilder &b, MergeOp op, OpAdaptor adaptor) const override {
    VectorType chunk = chunkOf(op.getMax());
    Value acc = adaptor.getAcc();
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value max = loadRows(b, chunk, adaptor.getMax(), lane);
      Value otherMax = loadRows(b, chunk, adaptor.getOtherMax(), lane);
      Value newMax = vectorMax(b, max, otherMax), base = finiteMax(b, newMax);
      Value rescale = weightOf(b, op, max, base), otherRescale = weightOf(b, op, otherMax, base);
      auto combine = [&](ImplicitLocOpBuilder &b, Value value, Value other) -> Value {
        Value mine = arith::MulFOp::create(b, value, rescale);
        return arith::AddFOp::create(b, mine, arith::MulFOp::create(b, other, otherRescale));
      };
      Value sum = loadRows(b, chunk, adaptor.getSum(), lane),
            otherSum = loadRows(b, chunk, adaptor.getOtherSum(), lane);
      storeRows(b, newMax, adaptor.getMax(), lane);
      storeRows(b, combine(b, sum, otherSum), adaptor.getSum(), lane);
      buildLoop(b, constantIndex(b, 0), getDimension(b, acc, 1), 1, [&](ImplicitLocOpBuilder &b, Value e) {
        Value mine = loadLanes(b, chunk, acc, e, lane), other = loadLanes(b, chunk, adaptor.getOtherAcc(), e, lane);
        storeLanes(b, combine(b, mine, other), acc, e, lane);
      });
    });
    return {adaptor.getMax(), adaptor.getSum(), acc};
  }
};

struct StoreWeights : TilePattern<StoreWeightsOp> {
  using TilePattern::TilePattern;

  /// The final weight of a score.
  Value finalWeight(ImplicitLocOpBuilder &b, StoreWeightsOp op, Value score, Value max, Value sum) const {
    Value weight = normalise(b, weightOf(b, op, score, max), sum);
    // A dropped key weighs 0 in a NaN row too.
    return arith::SelectOp::create(b, isEqual(b, score, -kInfinity), splat(b, score.getType(), 0), weight);
  }

  SmallVector<Value> lower(ImplicitLocOpBuilder &b, StoreWeightsOp op, OpAdaptor adaptor) const override {
    VectorType chunk = chunkOf(op.getMax());
    Value tile = adaptor.getScores();
    forChunks(b, chunk, adaptor.getRows(), [&](ImplicitLocOpBuilder &b, Value lane) {
      Value max = finiteMax(b, loadRows(b, chunk, adaptor.getMax(), lane));
      Value sum = loadRows(b, chunk, adaptor.getSum(), lane);
      buildLoop(b, constantIndex(b, 0), adaptor.getKeys(), 1, [&](ImplicitLocOpBuilder &b, Value k) {
        storeLanes(b, finalWeight(b, op, loadLanes(b, chunk, tile, k, lane), max, sum), tile, k, lane);
      });
      buildLoop(b, adaptor.getKeys(), adaptor.getZeros(), 1,
                [&](ImplicitLocOpBuilder &b, Value k) { storeLanes(b, splat(b, chunk, 0), tile, k, lane); });
    });
    Value written = arith::MaxSIOp::create(b, adaptor.getKeys(), adaptor.getZeros());
    TileWindow window{adaptor.getRows(), constantIndex(b, 0), written};
    copyFromTile(b, tile, window, adaptor.getDest(), indicesOf(rowsOf(adaptor), adaptor.getB(), adaptor.getJ0()));
    return {};
  }
};

} // namespace

void cpu::populateTilePatterns(const TileTypeConverter &converter, const CpuLowering &lowering,
                               RewritePatternSet &patterns) {
  patterns.add<LoadQuery, Init, UpdateMax, Weights, Store, StoreLse, StoreWeights, StorePartial, LoadPartial, Merge>(
      converter, patterns.getContext(), lowering);
}
