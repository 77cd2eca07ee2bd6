//===- PrintTileMap.cpp - print what masks do to tiles ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of the module goes through the graph level of the pipeline, as it would be compiled; every attention in it is
// mapped (TileMap.h), and all maps are printed together.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/TileChoice.h"
#include "attn/Inspection/Passes.h"
#include "attn/Inspection/TileMap.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"

namespace attn {
#define GEN_PASS_DEF_PRINTTILEMAPPASS
#include "Inspection/InspectionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Names of maps
//===----------------------------------------------------------------------===//

/// Discardable attribute that holds the masks as written; the pipeline expands them.
static constexpr StringLiteral kMaskTextAttr = "mask_text";

/// `causal<top_left>, window<...>, where region, kv_lengths`; `no mask`.
static std::string maskText(AttentionOp op) {
  SmallVector<std::string> parts;
  if (op.getMasks())
    for (Attribute mask : op.getMasksAttr()) {
      std::string text;
      llvm::raw_string_ostream os(text);
      mask.print(os);
      parts.push_back(StringRef(text).split('.').second.str());
    }
  if (!op.getMaskRegion().empty())
    parts.push_back("where region");
  if (op.getKvLengths())
    parts.push_back("kv_lengths");
  return parts.empty() ? "no mask" : llvm::join(parts, ", ");
}

/// The first place in a file; empty if there is none.
static std::string placeOf(Operation *op) {
  std::string place;
  op->getLoc()->walk([&](Location location) {
    auto file = dyn_cast<FileLineColLoc>(location);
    if (!file)
      return WalkResult::advance();
    place = (" at " + llvm::sys::path::filename(file.getFilename()) + ":" + Twine(file.getLine()) + ":" +
             Twine(file.getColumn()))
                .str();
    return WalkResult::interrupt();
  });
  return place;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct PrintTileMap : attn::impl::PrintTileMapPassBase<PrintTileMap> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override { registerPipelineDialects(registry); }
  void runOnOperation() override;

private:
  LogicalResult parseSizes(TileMapInputs &inputs);
  LogicalResult parseValues(TileMapInputs &inputs);
  OwningOpRef<ModuleOp> compileToGraph();
  FailureOr<std::vector<NamedTileMap>> mapModule(ModuleOp module, TileMapInputs inputs);
};

} // namespace

LogicalResult PrintTileMap::parseSizes(TileMapInputs &inputs) {
  for (StringRef text : sizes) {
    auto [name, number] = text.split('=');
    int64_t size;
    if (!llvm::is_contained({"batch", "heads", "queryLen", "kvLen"}, name) || number.getAsInteger(10, size))
      return getOperation().emitError("expects sizes of the form batch=N, heads=N, queryLen=N or kvLen=N, but got '")
             << text << "'";
    inputs.sizes[name.str()] = size;
  }
  return success();
}

LogicalResult PrintTileMap::parseValues(TileMapInputs &inputs) {
  for (StringRef text : values) {
    SmallVector<StringRef> parts;
    text.split(parts, ':');
    unsigned position;
    bool isWrong = parts.size() < 2 || parts.front().getAsInteger(10, position);
    std::vector<int64_t> numbers(parts.size() - 1);
    for (size_t k = 1; k < parts.size(); ++k)
      isWrong |= parts[k].getAsInteger(10, numbers[k - 1]);
    if (isWrong)
      return getOperation().emitError("expects values of the form POSITION:N or POSITION:N:N:..., but got '")
             << text << "'";
    inputs.values[position] = std::move(numbers);
  }
  return success();
}

/// A copy of the module at the graph level; null after a diagnostic.
OwningOpRef<ModuleOp> PrintTileMap::compileToGraph() {
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  copy->walk([](AttentionOp op) { op->setAttr(kMaskTextAttr, StringAttr::get(op.getContext(), maskText(op))); });
  PassManager manager(&getContext());
  PipelineOptions options;
  options.to = Level::Graph;
  buildCompilePipeline(manager, options);
  return succeeded(manager.run(*copy)) ? std::move(copy) : nullptr;
}

FailureOr<std::vector<NamedTileMap>> PrintTileMap::mapModule(ModuleOp module, TileMapInputs inputs) {
  auto description = describeTarget(target);
  if (!description)
    return getOperation().emitError() << llvm::toString(description.takeError()), failure();
  std::vector<NamedTileMap> maps;
  WalkResult walked = module.walk([&](AttentionOp op) {
    auto parent = op->getParentOfType<func::FuncOp>();
    if (!parent || (!function.empty() && parent.getName() != function))
      return WalkResult::advance();
    FailureOr<TileSizes> tiles = chooseTileSizes(op, *description, {tileQ, tileKv});
    if (failed(tiles))
      return WalkResult::interrupt();
    inputs.queryTile = tiles->queries();
    inputs.kvTile = tiles->kvTile;
    FailureOr<AttentionTileMap> map = mapTiles(op, inputs);
    if (failed(map))
      return WalkResult::interrupt();
    auto mask = op->getAttrOfType<StringAttr>(kMaskTextAttr);
    maps.push_back({parent.getName().str() + placeOf(op), mask ? mask.str() : maskText(op), std::move(*map)});
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  if (maps.empty())
    return getOperation().emitError("expects an attn.attention in ")
               << (function.empty() ? "a public function" : "public function '" + function + "'") << ", but found none",
           failure();
  return maps;
}

void PrintTileMap::runOnOperation() {
  markAllAnalysesPreserved();
  TileMapInputs inputs;
  if (failed(parseSizes(inputs)) || failed(parseValues(inputs)))
    return signalPassFailure();
  OwningOpRef<ModuleOp> module = compileToGraph();
  if (!module)
    return signalPassFailure();
  FailureOr<std::vector<NamedTileMap>> maps = mapModule(*module, std::move(inputs));
  if (failed(maps))
    return signalPassFailure();
  if (format == TileMapFormat::Svg)
    printTileMapsAsSvg(llvm::outs(), *maps);
  else
    printTileMapsAsText(llvm::outs(), *maps);
}
