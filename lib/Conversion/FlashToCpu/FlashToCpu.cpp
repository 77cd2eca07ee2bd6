//===- FlashToCpu.cpp - flash tiles to vector code with queries as lanes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect conversion: tile types become scratch buffers of the transposed tile and of its rows (the table in
// ConversionPasses.td), each flash op becomes loops of vector code (Tiles.cpp, Products.cpp) over chunks of lanes.
// Tiles are linear, so every op updates in place. Speed work belongs here: block shapes and tile sizes come from
// attn/Target/TileModel.h.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Regions.h"
#include "Patterns.h"
#include "TileAccess.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Target/TargetDescription.h"
#include "attn/Target/TileModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "convert-flash-to-cpu"

namespace attn {
#define GEN_PASS_DEF_CONVERTFLASHTOCPUPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;
using namespace attn::flash;

/// f16 and bf16 are widened as they are loaded: the tiles of this target hold f32 (f64 for f64).
static Type tileElement(Type element) {
  return element.isF64() ? element : Type(Float32Type::get(element.getContext()));
}

TileTypeConverter::TileTypeConverter(int64_t lanes) {
  addConversion([](Type type) { return type; });
  addConversion([=](QueryType type) -> Type {
    return tileType(type.getRows(), type.getHeadDim(), lanes, tileElement(type.getElement()));
  });
  addConversion(
      [=](ScoresType type) -> Type { return tileType(type.getRows(), type.getKeys(), lanes, type.getElement()); });
  addConversion(
      [=](AccType type) -> Type { return tileType(type.getRows(), type.getValueDim(), lanes, type.getElement()); });
  addConversion([](RowsType type) -> Type { return MemRefType::get({type.getRows()}, type.getElement()); });
}

Value cpu::createScratch(ImplicitLocOpBuilder &b, MemRefType type,
                         llvm::function_ref<Value(ImplicitLocOpBuilder &)> dynamicSize) {
  OpBuilder::InsertionGuard guard(b);
  Operation *inside = nullptr, *parent = b.getInsertionBlock()->getParentOp();
  for (; !isa<scf::ForallOp, FunctionOpInterface>(parent); parent = parent->getParentOp())
    inside = parent;
  // A size that is known in front of a parallel loop may be used anywhere in it; in a function it has its place.
  if (isa<scf::ForallOp>(parent) || type.hasStaticShape())
    b.setInsertionPointToStart(&parent->getRegion(0).front());
  else if (inside)
    b.setInsertionPoint(inside);
  SmallVector<Value> sizes;
  if (!type.hasStaticShape())
    sizes.push_back(dynamicSize(b));
  return memref::AllocOp::create(b, type, sizes, b.getI64IntegerAttr(64));
}

FailureOr<CpuTiles> cpu::tilesOf(Operation *function, StringRef target) {
  TileQuery query;
  function->walk([&](ScoresOp op) { query.scoreBits = op.getRowMax().getType().getElement().getIntOrFloatBitWidth(); });
  llvm::Expected<TargetDescription> description = describeTarget(target.str());
  if (!description)
    return function->emitError() << llvm::toString(description.takeError()), failure();
  return CpuTiles{*description, query.scoreBits, chooseTiles(*description, query)};
}

/// The conversion works on chunks of `lanes` rows: ranges must be those of the same chunks.
static LogicalResult checkChunks(Operation *root, int64_t lanes) {
  auto check = [&](Operation *op, Value ranges, RowsType rows) {
    int64_t expected = llvm::divideCeil(rows.getRows(), std::min(lanes, rows.getRows()));
    bool isRight = !ranges || cast<MemRefType>(ranges.getType()).getDimSize(0) == expected;
    if (!isRight)
      op->emitOpError("expects chunk_keys of ") << expected << " chunks, but got " << ranges.getType();
    return success(isRight);
  };
  auto walked = root->walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto scores = dyn_cast<ScoresOp>(op))
      result = check(op, scores.getChunkKeys(), scores.getRowMax().getType());
    else if (auto weights = dyn_cast<WeightsOp>(op))
      result = check(op, weights.getChunkKeys(), weights.getMax().getType());
    else if (auto accumulate = dyn_cast<AccumulateOp>(op))
      result = check(op, accumulate.getChunkKeys(), accumulate.getRescale().getType());
    return WalkResult(result);
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct ConvertFlashToCpuPass : attn::impl::ConvertFlashToCpuPassBase<ConvertFlashToCpuPass> {
  using Base::Base;

  /// The type that scores are computed in decides the block; f32 if the function has no scores.
  LogicalResult chooseBlocks(CpuLowering &lowering) {
    if (blockRows < 0 || blockRows > 16)
      return getOperation().emitError("expects block-rows to be in 0 to 16, but got ") << int64_t(blockRows), failure();
    FailureOr<CpuTiles> tiles = tilesOf(getOperation(), target);
    if (failed(tiles))
      return failure();
    lowering.blockRows = [tiles = *tiles, asked = int64_t(blockRows)](int64_t lanes) {
      return asked ? asked : blockRowsFor(tiles.target, tiles.sizes, tiles.scoreBits, lanes);
    };
    lowering.lanes = tiles->sizes.lanes;
    return checkChunks(getOperation(), lowering.lanes);
  }

  void runOnOperation() override {
    CpuLowering lowering;
    if (failed(chooseBlocks(lowering)))
      return signalPassFailure();
    guardDivisions(getOperation());
    TileTypeConverter converter(lowering.lanes);
    ConversionTarget legal(getContext());
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    legal.addIllegalDialect<FlashDialect>();
    legal.addLegalOp<RequireOp, CountKvTilesOp, ItemWorkOp, ParallelForOp>();
    RewritePatternSet patterns(&getContext());
    populateTilePatterns(converter, lowering, patterns);
    populateProductPatterns(converter, lowering, patterns);
    populateClassifyPatterns(converter, lowering, patterns);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legal);
    if (failed(applyPartialConversion(getOperation(), legal, std::move(patterns), attn::withoutFolding())))
      signalPassFailure();
  }
};

} // namespace
