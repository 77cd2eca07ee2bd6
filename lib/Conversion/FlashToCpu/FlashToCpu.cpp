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

/// Scores ops have memory fetch what comes next while they work on their keys: the values of the same keys, and later
/// keys. Without, a tile of few rows would wait for every row, since the walk along several at once is none that the
/// hardware foresees, and other tiles for the start of each tile of keys that is not in the second-level cache.
static void placePrefetches(Operation *root, CpuLowering &lowering) {
  root->walk([&](AccumulateOp accumulate) {
    auto weights = accumulate.getWeights().getDefiningOp<WeightsOp>();
    auto scores = weights ? weights.getScores().getDefiningOp<ScoresOp>() : ScoresOp();
    if (scores)
      lowering.valuesToPrefetch[scores] = accumulate.getValue();
  });
}

namespace {

struct ConvertFlashToCpuPass : attn::impl::ConvertFlashToCpuPassBase<ConvertFlashToCpuPass> {
  using Base::Base;

  /// The type that scores are computed in decides the block; f32 if the function has no scores.
  LogicalResult chooseBlocks(CpuLowering &lowering) {
    if (blockRows < 0 || blockRows > 16)
      return getOperation().emitError("expects block-rows to be in 0 to 16, but got ") << int64_t(blockRows), failure();
    TileQuery query;
    getOperation().walk(
        [&](ScoresOp op) { query.scoreBits = op.getRowMax().getType().getElement().getIntOrFloatBitWidth(); });
    llvm::Expected<TargetDescription> description = describeTarget(target);
    if (!description)
      return getOperation().emitError() << llvm::toString(description.takeError()), failure();
    TileSizes sizes = chooseTiles(*description, query);
    lowering.blockRows = [=, target = *description, asked = int64_t(blockRows)](int64_t lanes) {
      return asked ? asked : blockRowsFor(target, sizes, query.scoreBits, lanes);
    };
    lowering.lanes = sizes.lanes;
    lowering.fewRows = 2 * description->vectorBits / query.scoreBits;
    return success();
  }

  void runOnOperation() override {
    CpuLowering lowering;
    if (failed(chooseBlocks(lowering)))
      return signalPassFailure();
    placePrefetches(getOperation(), lowering);
    if (skipKeys)
      placeChunkKeys(getOperation(), lowering);
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
