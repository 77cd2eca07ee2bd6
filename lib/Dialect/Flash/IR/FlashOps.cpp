//===- FlashOps.cpp - verifiers of the flash types and ops -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn;
using namespace attn::flash;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isWide(Type type) { return isa<Float32Type, Float64Type>(type); }
static bool isNarrow(Type type) { return isa<Float16Type, BFloat16Type>(type); }

static LogicalResult verifyExtent(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t extent,
                                  int64_t least) {
  if (extent >= least)
    return success();
  return emitError() << "expects " << name << " of a tile to be at least " << least << ", but got " << extent;
}

/// Rows and keys are tile sizes, which passes multiply with each other and with sizes of elements.
static LogicalResult verifyTileSize(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t size) {
  constexpr int64_t most = 1 << 16;
  if (size <= most)
    return verifyExtent(emitError, name, size, 1);
  return emitError() << "expects " << name << " of a tile to be at most " << most << ", but got " << size;
}

static LogicalResult verifyWide(function_ref<InFlightDiagnostic()> emitError, Type element) {
  if (isWide(element))
    return success();
  return emitError() << "expects a tile of f32 or f64, but got " << element;
}

LogicalResult QueryType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t headDim,
                                Type element) {
  if (failed(verifyTileSize(emitError, "rows", rows)))
    return failure();
  if (!ShapedType::isDynamic(headDim) && failed(verifyExtent(emitError, "headDim", headDim, 0)))
    return failure();
  if (isNarrow(element) || isWide(element))
    return success();
  return emitError() << "expects a query tile of f16, bf16, f32 or f64, but got " << element;
}

LogicalResult ScoresType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t keys,
                                 Type element) {
  if (failed(verifyTileSize(emitError, "rows", rows)) || failed(verifyTileSize(emitError, "keys", keys)))
    return failure();
  if (isNarrow(element) || isWide(element))
    return success();
  return emitError() << "expects a tile of scores or weights of f16, bf16, f32 or f64, but got " << element;
}

LogicalResult AccType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t valueDim,
                              Type element) {
  if (failed(verifyTileSize(emitError, "rows", rows)))
    return failure();
  if (!ShapedType::isDynamic(valueDim) && failed(verifyExtent(emitError, "valueDim", valueDim, 0)))
    return failure();
  return verifyWide(emitError, element);
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, Type element) {
  return failure(failed(verifyTileSize(emitError, "rows", rows)) || failed(verifyWide(emitError, element)));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t capture, int64_t rows) {
  // CUDA driver API, cuTensorMapEncodeTiled: a box has at most 256 elements in a dimension.
  if (capture >= 0 && rows >= 1 && rows <= 256)
    return success();
  return emitError() << "expects a tensor map of a capture from 0 on with 1 to 256 rows, but got capture " << capture
                     << " and " << rows << " rows";
}

LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t threads, int64_t items,
                                 int64_t sharedBytes, ArrayRef<TensorMapAttr>) {
  if (threads < 1 || threads > 1024)
    return emitError() << "expects a kernel of 1 to 1024 threads a block, but got " << threads;
  if (items >= 1 && sharedBytes >= 0)
    return success();
  return emitError() << "expects a kernel to do at least 1 item a block in at least 0 bytes of shared memory, but got "
                     << items << " items and " << sharedBytes << " bytes";
}

//===----------------------------------------------------------------------===//
// Tile steps
//===----------------------------------------------------------------------===//

/// The rows of a tile of any of the four types.
static int64_t rowsOf(Type type) {
  if (auto query = dyn_cast<QueryType>(type))
    return query.getRows();
  if (auto scores = dyn_cast<ScoresType>(type))
    return scores.getRows();
  if (auto acc = dyn_cast<AccType>(type))
    return acc.getRows();
  return cast<RowsType>(type).getRows();
}

/// The element type of scores, acc or rows.
static Type elementOf(Type type) {
  if (auto scores = dyn_cast<ScoresType>(type))
    return scores.getElement();
  if (auto acc = dyn_cast<AccType>(type))
    return acc.getElement();
  return cast<RowsType>(type).getElement();
}

/// T for an element type of memory.
static Type wideFor(Type element) { return element.isF64() ? element : Type(Float32Type::get(element.getContext())); }

/// All tiles have the rows of the first; all but query tiles have its element type.
static LogicalResult verifyTiles(Operation *op, TypeRange tiles) {
  for (Type tile : tiles.drop_front())
    if (rowsOf(tile) != rowsOf(tiles.front()))
      return op->emitOpError("expects its tiles to have the same rows, but got ") << tiles.front() << " and " << tile;
  Type first;
  for (Type tile : tiles) {
    if (isa<QueryType>(tile))
      continue;
    if (!first)
      first = tile;
    else if (elementOf(tile) != elementOf(first))
      return op->emitOpError("expects its tiles to have one element type, but got ") << first << " and " << tile;
  }
  return success();
}

/// The last dimension of a view is the extent of a tile, and its elements are ones that T is for.
static LogicalResult verifyView(Operation *op, StringRef name, MemRefType view, StringRef dim, int64_t extent,
                                Type wide) {
  int64_t size = view.getDimSize(3);
  if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(extent) && size != extent)
    return op->emitOpError("expects ") << name << " and its tile to share " << dim << ", but got " << size << " and "
                                       << extent;
  if (wideFor(view.getElementType()) == wide)
    return success();
  return op->emitOpError("expects ") << name << " to have elements that are calculated with in " << wide << ", but got "
                                     << view.getElementType();
}

/// A scale is what scores are calculated in.
template <typename OpTy> static LogicalResult verifyScale(OpTy op) {
  Type element = elementOf(op.getScores().getType());
  if (!op.getScale() || op.getScale().getType() == element)
    return success();
  return op.emitOpError("expects scale to be ") << element << ", but got " << op.getScale().getType();
}

LogicalResult LoadQueryOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto tile = cast<QueryType>(getResult().getType());
  Type wide = wideFor(source.getElementType());
  if (tile.getElement() != source.getElementType() && tile.getElement() != wide)
    return emitOpError("expects a query tile of ") << source.getElementType() << " or " << wide << ", but got " << tile;
  return verifyView(*this, "source", source, "headDim", tile.getHeadDim(), wide);
}

LogicalResult InitOp::verify() {
  auto acc = cast<AccType>(getAcc().getType());
  if (failed(verifyTiles(*this, getResultTypes())))
    return failure();
  if (getSink() && getSink().getType() != acc.getElement())
    return emitOpError("expects sink to be ") << acc.getElement() << ", but got " << getSink().getType();
  bool dynamic = ShapedType::isDynamic(acc.getValueDim());
  if (dynamic == bool(getValueDim()))
    return success();
  return emitOpError("expects value_dim ")
         << (dynamic ? "where" : "only where") << " the extent of acc is dynamic, but got " << acc;
}

LogicalResult ScoresOp::verify() {
  auto query = cast<QueryType>(getQuery().getType());
  if (failed(verifyTiles(*this, {query, getScores().getType(), getRowMax().getType()})) || failed(verifyScale(*this)))
    return failure();
  return verifyView(*this, "key", cast<MemRefType>(getKey().getType()), "headDim", query.getHeadDim(),
                    elementOf(getScores().getType()));
}

LogicalResult ScoresOp::verifyRegions() {
  if (failed(verifyModRegion(*this, getScoreRegion(), elementOf(getScores().getType()))))
    return failure();
  return verifyModRegion(*this, getMaskRegion(), {});
}

LogicalResult WeightsOp::verify() { return verifyTiles(*this, {getScores().getType(), getMax().getType()}); }

LogicalResult AccumulateOp::verify() {
  auto acc = cast<AccType>(getAcc().getType());
  if (failed(verifyTiles(*this, {acc, getRescale().getType(), getWeights().getType()})))
    return failure();
  return verifyView(*this, "value", cast<MemRefType>(getValue().getType()), "valueDim", acc.getValueDim(),
                    acc.getElement());
}

LogicalResult StoreOp::verify() {
  auto acc = cast<AccType>(getAcc().getType());
  if (failed(verifyTiles(*this, {acc, getSum().getType()})))
    return failure();
  return verifyView(*this, "dest", cast<MemRefType>(getDest().getType()), "valueDim", acc.getValueDim(),
                    acc.getElement());
}

/// lse and weights are stored in T.
static LogicalResult verifyWideDest(Operation *op, Value dest, Type wide) {
  Type element = cast<MemRefType>(dest.getType()).getElementType();
  if (element == wide)
    return success();
  return op->emitOpError("expects dest to have element type ") << wide << ", but got " << element;
}

LogicalResult StoreLseOp::verify() { return verifyWideDest(*this, getDest(), elementOf(getMax().getType())); }

LogicalResult StoreWeightsOp::verify() {
  if (failed(verifyTiles(*this, {getScores().getType(), getMax().getType()})))
    return failure();
  return verifyWideDest(*this, getDest(), elementOf(getScores().getType()));
}

//===----------------------------------------------------------------------===//
// Products under way
//===----------------------------------------------------------------------===//

/// What is under way is waited for by the op that uses it, in the same block.
template <typename FinishOp> static LogicalResult verifyUnderWay(Operation *op) {
  Value result = op->getResult(0);
  if (result.hasOneUse() && isa<FinishOp>(*result.user_begin()) && result.user_begin()->getBlock() == op->getBlock())
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expects one ")
                                  << FinishOp::getOperationName() << " in its block as the only user of its result";
  for (Operation *user : result.getUsers())
    diagnostic.attachNote(user->getLoc()) << "used here";
  return diagnostic;
}

/// What is waited for has been begun.
template <typename BeginOp> static LogicalResult verifyBegun(Operation *op, Value operand) {
  if (operand.getDefiningOp<BeginOp>())
    return success();
  return op->emitOpError("expects the result of a ") << BeginOp::getOperationName() << " as operand";
}

LogicalResult BeginScoresOp::verify() {
  auto query = cast<QueryType>(getQuery().getType());
  Type element = elementOf(getResult().getType());
  if (failed(verifyTiles(*this, {query, getResult().getType()})))
    return failure();
  if (!isWide(element))
    return emitOpError("expects scores of f32 or f64, but got ") << getResult().getType();
  if (failed(verifyView(*this, "key", cast<MemRefType>(getKey().getType()), "headDim", query.getHeadDim(), element)))
    return failure();
  return verifyUnderWay<FinishScoresOp>(*this);
}

LogicalResult FinishScoresOp::verify() {
  if (failed(verifyTiles(*this, {getScores().getType(), getRowMax().getType()})) || failed(verifyScale(*this)))
    return failure();
  return verifyBegun<BeginScoresOp>(*this, getProducts());
}

LogicalResult FinishScoresOp::verifyRegions() {
  if (failed(verifyModRegion(*this, getScoreRegion(), elementOf(getScores().getType()))))
    return failure();
  return verifyModRegion(*this, getMaskRegion(), {});
}

LogicalResult RoundWeightsOp::verify() {
  auto weights = cast<ScoresType>(getWeights().getType()), result = cast<ScoresType>(getResult().getType());
  if (weights.getRows() != result.getRows() || weights.getKeys() != result.getKeys())
    return emitOpError("expects its tiles to have one shape, but got ") << weights << " and " << result;
  if (weights.getElement().isF32() && isNarrow(result.getElement()))
    return success();
  return emitOpError("expects to round f32 to f16 or bf16, but got ") << weights << " and " << result;
}

LogicalResult BeginAccumulateOp::verify() {
  auto acc = cast<AccType>(getAcc().getType());
  auto weights = cast<ScoresType>(getWeights().getType());
  auto value = cast<MemRefType>(getValue().getType());
  if (failed(verifyTiles(*this, {acc, getRescale().getType()})))
    return failure();
  if (weights.getRows() != acc.getRows())
    return emitOpError("expects its tiles to have the same rows, but got ") << acc << " and " << weights;
  if (weights.getElement() != value.getElementType())
    return emitOpError("expects weights of the elements of value, but got ") << weights << " and " << value;
  if (failed(verifyView(*this, "value", value, "valueDim", acc.getValueDim(), acc.getElement())))
    return failure();
  return verifyUnderWay<FinishAccumulateOp>(*this);
}

LogicalResult FinishAccumulateOp::verify() { return verifyBegun<BeginAccumulateOp>(*this, getAcc()); }

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

/// The tiles of a partial result agree with each other and with the memory that keeps it.
static LogicalResult verifyPartial(Operation *op, RowsType rows, AccType acc, MemRefType rowsMemory,
                                   MemRefType accMemory) {
  if (failed(verifyTiles(op, {rows, acc})))
    return failure();
  for (MemRefType memory : {rowsMemory, accMemory})
    if (memory.getElementType() != acc.getElement())
      return op->emitOpError("expects memory of ") << acc.getElement() << ", but got " << memory;
  return verifyView(op, "memory", accMemory, "valueDim", acc.getValueDim(), acc.getElement());
}

LogicalResult StorePartialOp::verify() {
  return verifyPartial(*this, getMax().getType(), getAcc().getType(), cast<MemRefType>(getMaxDest().getType()),
                       cast<MemRefType>(getAccDest().getType()));
}

LogicalResult LoadPartialOp::verify() {
  return verifyPartial(*this, getMax().getType(), getAcc().getType(), cast<MemRefType>(getMaxSource().getType()),
                       cast<MemRefType>(getAccSource().getType()));
}

LogicalResult MergeOp::verify() { return verifyTiles(*this, {getMax().getType(), getAcc().getType()}); }

//===----------------------------------------------------------------------===//
// What generated code asks of the runtime
//===----------------------------------------------------------------------===//

LogicalResult RequireOp::verify() {
  if (getValues().size() > 2)
    return emitOpError("expects at most 2 values, but got ") << getValues().size();
  return success();
}

LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return rewriter.notifyMatchFailure(op, "the condition is not known to hold");
  rewriter.eraseOp(op);
  return success();
}
