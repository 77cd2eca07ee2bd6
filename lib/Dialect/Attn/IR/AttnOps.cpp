//===- AttnOps.cpp - verifiers and interfaces of the attn ops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "AttnDirectives.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "Attn/AttnOps.cpp.inc"

//===----------------------------------------------------------------------===//
// What all ops share
//===----------------------------------------------------------------------===//

/// Reads its inputs and captures, writes its inits, where they are memrefs.
static void addMemoryEffects(DestinationStyleOpInterface op,
                             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
  }
  // Memrefs that the regions capture are no operands: a read of unknown memory stands for them.
  bool reads = false;
  op->walk([&](memref::LoadOp) { reads = true; });
  if (reads)
    effects.emplace_back(MemoryEffects::Read::get(), SideEffects::DefaultResource::get());
}

/// Results have the shapes of the inits.
static LogicalResult reifyFromInits(DestinationStyleOpInterface op, OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &shapes) {
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isa<RankedTensorType>(init.get().getType()))
      shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), init.get()));
  return success();
}

/// All shaped operands are tensors, or all are memrefs; results are the types of tensor inits.
static LogicalResult verifyForm(DestinationStyleOpInterface op, StringRef constraint) {
  unsigned first = llvm::find_if(op->getOperandTypes(), llvm::IsaPred<ShapedType>) - op->operand_type_begin();
  Type firstType = op->getOperand(first).getType();
  bool memrefs = isa<MemRefType>(firstType);
  for (auto [k, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<ShapedType>(type) && isa<MemRefType>(type) != memrefs)
      return op->emitOpError("expects all operands to be tensors or all to be memrefs, but operand ")
             << first << " is " << firstType << " and operand " << k << " is " << type << " (" << constraint << ")";
  SmallVector<Type> expected;
  if (!memrefs)
    for (OpOperand &init : op.getDpsInitsMutable())
      expected.push_back(init.get().getType());
  if (!llvm::equal(expected, op->getResultTypes()))
    return op->emitOpError("expects results of ")
           << (memrefs ? "no types, since its outs are memrefs" : "the types of its outs") << ": (" << expected
           << "), but got (" << op->getResultTypes() << ") (" << constraint << ")";
  return success();
}

static bool fits(int64_t size, int64_t want) {
  return ShapedType::isDynamic(size) || ShapedType::isDynamic(want) || size == want;
}

static std::string sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, sizeText), ", ") + "]";
}

static FloatType scoreTypeFor(Type element) {
  return element.isF64() ? FloatType(Float64Type::get(element.getContext()))
                         : FloatType(Float32Type::get(element.getContext()));
}

/// (C6) of attn.attention and its like: out has the element type of the inputs or that of the scores.
static LogicalResult verifyOutElement(Operation *op, Type element, Type input, StringRef constraint) {
  Type wide = scoreTypeFor(input);
  if (element == input || element == wide)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("expects out to have element type ") << input;
  if (wide != input)
    diagnostic << " or " << wide;
  return diagnostic << ", but got " << element << " (" << constraint << ")";
}

/// The number of elements must fit in 63 bits.
static LogicalResult verifyElementCount(Operation *op, StringRef what, ArrayRef<int64_t> shape, StringRef constraint) {
  int64_t count = 1;
  if (llvm::is_contained(shape, 0))
    return success();
  for (int64_t size : shape)
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(count, size, count))
      return op->emitOpError("expects the number of elements of ")
             << what << " to fit in 63 bits, but got shape " << shapeText(shape) << " (" << constraint << ")";
  return success();
}

/// The same for every operand of an op, by the names that its description has for them.
static LogicalResult verifyElementCounts(Operation *op, ArrayRef<StringRef> names, StringRef constraint) {
  for (auto [name, operand] : llvm::zip(names, op->getOperands()))
    if (failed(verifyElementCount(op, name, cast<ShapedType>(operand.getType()).getShape(), constraint)))
      return failure();
  return success();
}

/// (C10) of attn.attention: each named mask or score function, with its captured operands.
static LogicalResult verifyMods(Operation *op, ArrayAttr mods, bool masks, OperandRange captures,
                                const AttentionDims &dims) {
  unsigned next = 0;
  for (Attribute attr : mods ? mods.getValue() : ArrayRef<Attribute>()) {
    auto mod = dyn_cast<NamedModInterface>(attr);
    if (!mod || mod.isMask() != masks)
      return op->emitOpError("expects ") << (masks ? "masks" : "scores") << " to hold named "
                                         << (masks ? "masks" : "score functions") << ", but got " << attr << " (C10)";
    unsigned count = mod.getNumCaptures();
    if (next + count > captures.size())
      return op->emitOpError("expects ") << count << " captured operand" << (count == 1 ? "" : "s") << " for '"
                                         << mod.getKeyword() << "', but got " << captures.size() - next << " (C10)";
    auto emitError = [&] { return op->emitOpError(); };
    if (failed(mod.verifyMod(emitError, dims, TypeRange(captures.slice(next, count)))))
      return failure();
    next += count;
  }
  if (next != captures.size())
    return op->emitOpError("expects ") << next << " captured operands for its named "
                                       << (masks ? "masks" : "score functions") << ", but got " << captures.size()
                                       << " (C10)";
  return success();
}

LogicalResult attn::verifyModRegion(Operation *op, Region &region, Type score) {
  if (region.empty())
    return success();
  StringRef name = score ? "score" : "where";
  SmallVector<Type> expected(4, IndexType::get(op->getContext()));
  if (score)
    expected.insert(expected.begin(), score);
  if (region.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError("expects the arguments of its '")
           << name << "' region to have types " << expected << ", but got " << region.getArgumentTypes() << " (C11)";
  Type yields = score ? score : IntegerType::get(op->getContext(), 1);
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield)
    return op->emitOpError("expects its '") << name << "' region to end in attn.yield (C11)";
  if (yield.getValue().getType() != yields)
    return yield.emitOpError("expects the '")
           << name << "' region to yield " << yields << ", but got " << yield.getValue().getType() << " (C11)";
  for (Operation &inner : region.front().without_terminator()) {
    bool reads = isa<memref::LoadOp>(inner);
    if (inner.getNumRegions() || !(reads || isPure(&inner)))
      return op->emitOpError("expects its '")
                 .append(name, "' region to hold only pure operations without regions and reads, but got '",
                         inner.getName(), "' (C11)")
                 .attachNote(inner.getLoc())
             << "the operation";
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return op->emitOpError("expects the operations of its '")
               << name << "' region to yield scalars, but '" << inner.getName() << "' yields " << type << " (C11)";
  }
  return success();
}

#define ATTN_SHARED_METHODS(OpName)                                                                                    \
  void OpName::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {              \
    addMemoryEffects(*this, effects);                                                                                  \
  }                                                                                                                    \
  LogicalResult OpName::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {                   \
    return reifyFromInits(*this, builder, shapes);                                                                     \
  }
ATTN_SHARED_METHODS(AttentionOp)
ATTN_SHARED_METHODS(MatmulOp)
ATTN_SHARED_METHODS(MaskOp)
ATTN_SHARED_METHODS(SoftmaxOp)
ATTN_SHARED_METHODS(ClassifyTilesOp)
#undef ATTN_SHARED_METHODS

LogicalResult YieldOp::verify() {
  if ((*this)->getParentOp()->hasTrait<ModRegions>())
    return success();
  return emitOpError("expects to end a score or mask region, but its parent is '")
         << (*this)->getParentOp()->getName() << "'";
}

//===----------------------------------------------------------------------===//
// attention: dimensions
//===----------------------------------------------------------------------===//

std::optional<unsigned> attn::findLayoutDim(AffineMap map, LayoutDim dim) {
  for (auto [k, result] : llvm::enumerate(map.getResults()))
    if (auto expr = dyn_cast<AffineDimExpr>(result); expr && expr.getPosition() == dim)
      return k;
  return std::nullopt;
}

static AffineMap layoutOrIdentity(std::optional<AffineMap> map, MLIRContext *context) {
  return map ? *map : AffineMap::getMultiDimIdentityMap(4, context);
}
AffineMap AttentionOp::getQueryMap() { return layoutOrIdentity(getQueryLayout(), getContext()); }
AffineMap AttentionOp::getKeyMap() { return layoutOrIdentity(getKeyLayout(), getContext()); }
AffineMap AttentionOp::getValueMap() { return layoutOrIdentity(getValueLayout(), getContext()); }
AffineMap AttentionOp::getOutMap() { return layoutOrIdentity(getOutLayout(), getContext()); }

FloatType AttentionOp::getScoreType() { return scoreTypeFor(cast<ShapedType>(getQuery().getType()).getElementType()); }

/// The size of an operand along a letter; 1 where the layout does not have it.
static int64_t sizeAlong(Type type, AffineMap map, LayoutDim dim) {
  std::optional<unsigned> position = findLayoutDim(map, dim);
  return position ? cast<ShapedType>(type).getDimSize(*position) : 1;
}

/// Whichever of the two is known.
static int64_t known(int64_t a, int64_t b) { return ShapedType::isDynamic(a) ? b : a; }

AttentionDims AttentionOp::getDims() {
  Type q = getQuery().getType(), k = getKey().getType(), v = getValue().getType(), o = getOut().getType();
  AffineMap qm = getQueryMap(), km = getKeyMap(), vm = getValueMap(), om = getOutMap();
  AttentionDims dims;
  dims.batch = known(known(sizeAlong(q, qm, kBatchDim), sizeAlong(o, om, kBatchDim)),
                     known(sizeAlong(k, km, kBatchDim), sizeAlong(v, vm, kBatchDim)));
  dims.heads = known(sizeAlong(q, qm, kHeadDim), sizeAlong(o, om, kHeadDim));
  dims.kvHeads = known(sizeAlong(k, km, kHeadDim), sizeAlong(v, vm, kHeadDim));
  dims.queryLen = known(sizeAlong(q, qm, kLengthDim), sizeAlong(o, om, kLengthDim));
  dims.kvLen = known(sizeAlong(k, km, kLengthDim), sizeAlong(v, vm, kLengthDim));
  dims.headDim = known(sizeAlong(q, qm, kFeatureDim), sizeAlong(k, km, kFeatureDim));
  dims.valueDim = known(sizeAlong(v, vm, kFeatureDim), sizeAlong(o, om, kFeatureDim));
  dims.hasLengths = bool(getKvLengths());
  dims.scoreType = getScoreType();
  return dims;
}

//===----------------------------------------------------------------------===//
// attention: verifier
//===----------------------------------------------------------------------===//

LogicalResult attn::verifyRequiredOperands(Operation *op, ArrayRef<int32_t> segments,
                                           ArrayRef<std::pair<unsigned, StringLiteral>> required) {
  for (auto [segment, name] : required)
    if (segments[segment] != 1)
      return op->emitOpError("expects operandSegmentSizes to be 1 for ") << name << ", but got " << segments[segment];
  return success();
}

ArrayRef<std::pair<unsigned, StringLiteral>> AttentionOp::getRequiredSegments() {
  static constexpr std::pair<unsigned, StringLiteral> required[] = {
      {0, "query"}, {1, "key"}, {2, "value"}, {3, "scale"}, {9, "out"}};
  return required;
}

// attention (C1), (C9)
static LogicalResult verifyElementTypes(AttentionOp op) {
  Type query = cast<ShapedType>(op.getQuery().getType()).getElementType();
  for (auto [name, value] : {std::pair("key", op.getKey()), std::pair("value", op.getValue())})
    if (Type element = cast<ShapedType>(value.getType()).getElementType(); element != query)
      return op.emitOpError("expects query and ")
             << name << " to share one element type, but got " << query << " and " << element << " (C1)";
  if (op.getScale().getType() != op.getScoreType())
    return op.emitOpError("expects scale to be ")
           << op.getScoreType() << " for " << query << " inputs, but got " << op.getScale().getType() << " (C9)";
  FloatAttr constant;
  if (matchPattern(op.getScale(), m_Constant(&constant)) && !constant.getValue().isFinite())
    return op.emitOpError("expects scale to be finite, but got ") << constant << " (C9)";
  return success();
}

// attention (C2)
static LogicalResult verifyLayout(AttentionOp op, unsigned which, Type type, std::optional<AffineMap> map) {
  StringRef name = kLayoutNames[which];
  auto shaped = cast<ShapedType>(type);
  if (!map) {
    if (shaped.getRank() != 4)
      return op.emitOpError("expects ") << name << " without a layout to have rank 4, but got rank " << shaped.getRank()
                                        << "; write layout(" << name << "(...)) (C2)";
    return success();
  }
  if (map->getNumDims() != 4 || map->getNumSymbols())
    return op.emitOpError("expects the layout of ")
           << name << " to be a map from 4 dimensions, but got " << AffineMapAttr::get(*map) << " (C2)";
  if (map->getNumResults() != shaped.getRank())
    return op.emitOpError("expects the layout of ")
           << name << " to name " << shaped.getRank() << " dimensions, but got " << map->getNumResults() << " (C2)";
  unsigned seen[4] = {0, 0, 0, 0};
  for (auto [k, result] : llvm::enumerate(map->getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      ++seen[dim.getPosition()];
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(result);
    if (!constant)
      return op.emitOpError("expects the layout of ")
             << name << " to hold letters and constants alone, but got " << AffineMapAttr::get(*map) << " (C2)";
    int64_t size = shaped.getDimSize(k);
    if (constant.getValue() < 0 || (!ShapedType::isDynamic(size) && constant.getValue() >= size))
      return op.emitOpError("expects position ")
             << constant.getValue() << " in the layout of " << name << " to be inside its dimension " << k
             << " of size " << sizeText(size) << " (C2)";
  }
  for (unsigned dim = 0; dim < 4; ++dim)
    if (seen[dim] > 1 || (dim >= kLengthDim && !seen[dim]))
      return op.emitOpError("expects the layout of ")
             << name << " to name '" << kLayoutLetters[which][dim] << "' "
             << (dim >= kLengthDim ? "once" : "at most once") << ", but got it " << seen[dim] << " times (C2)";
  return success();
}

static LogicalResult verifyShared(AttentionOp op, StringRef dim, StringRef first, int64_t a, StringRef second,
                                  int64_t b, StringRef constraint) {
  if (fits(a, b))
    return success();
  return op.emitOpError("expects ") << first << " and " << second << " to share " << dim << ", but got " << a << " and "
                                    << b << " (" << constraint << ")";
}

// attention (C3), (C4), (C5)
static LogicalResult verifySizes(AttentionOp op, const AttentionDims &dims) {
  Type q = op.getQuery().getType(), k = op.getKey().getType(), v = op.getValue().getType();
  AffineMap qm = op.getQueryMap(), km = op.getKeyMap(), vm = op.getValueMap();
  auto along = [](Type type, AffineMap map, LayoutDim dim) { return sizeAlong(type, map, dim); };
  if (failed(verifyShared(op, "headDim", "query", along(q, qm, kFeatureDim), "key", along(k, km, kFeatureDim), "C3")) ||
      failed(verifyShared(op, "batch", "query", along(q, qm, kBatchDim), "key", along(k, km, kBatchDim), "C4")) ||
      failed(verifyShared(op, "batch", "key", along(k, km, kBatchDim), "value", along(v, vm, kBatchDim), "C4")) ||
      failed(verifyShared(op, "batch", "query", along(q, qm, kBatchDim), "value", along(v, vm, kBatchDim), "C4")) ||
      failed(verifyShared(op, "kvHeads", "key", along(k, km, kHeadDim), "value", along(v, vm, kHeadDim), "C4")) ||
      failed(verifyShared(op, "kvLen", "key", along(k, km, kLengthDim), "value", along(v, vm, kLengthDim), "C4")))
    return failure();
  if (ShapedType::isDynamic(dims.heads) || ShapedType::isDynamic(dims.kvHeads))
    return success();
  if (dims.kvHeads == 0 ? dims.heads != 0 : dims.heads % dims.kvHeads != 0)
    return op.emitOpError("expects kvHeads to divide heads, but got ")
           << dims.kvHeads << " and " << dims.heads << " (C5)";
  return success();
}

/// Shape and element type of a result operand, in the default layout.
static LogicalResult verifyResult(AttentionOp op, StringRef name, Type type, ArrayRef<int64_t> shape,
                                  StringRef constraint) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getElementType() != op.getScoreType())
    return op.emitOpError("expects ") << name << " to have element type " << op.getScoreType() << ", but got "
                                      << shaped.getElementType() << " (" << constraint << ")";
  if (failed(verifyCompatibleShape(shaped.getShape(), shape)))
    return op.emitOpError("expects ") << name << " to have shape " << shapeText(shape) << ", but got "
                                      << shapeText(shaped.getShape()) << " (" << constraint << ")";
  return success();
}

// attention (C6)
static LogicalResult verifyOut(AttentionOp op, const AttentionDims &dims) {
  auto out = cast<ShapedType>(op.getOut().getType());
  Type query = cast<ShapedType>(op.getQuery().getType()).getElementType();
  if (failed(verifyOutElement(op, out.getElementType(), query, "C6")))
    return failure();
  static constexpr StringLiteral names[] = {"batch", "heads", "queryLen", "valueDim"};
  Type query4 = op.getQuery().getType();
  AffineMap queryMap = op.getQueryMap();
  const int64_t want[] = {dims.batch, sizeAlong(query4, queryMap, kHeadDim), sizeAlong(query4, queryMap, kLengthDim),
                          sizeAlong(op.getValue().getType(), op.getValueMap(), kFeatureDim)};
  for (unsigned dim = 0; dim < 4; ++dim) {
    int64_t size = sizeAlong(out, op.getOutMap(), static_cast<LayoutDim>(dim));
    if (!fits(size, want[dim]))
      return op.emitOpError("expects out to have ")
             << names[dim] << " = " << want[dim] << ", but got " << size << " (C6)";
  }
  return success();
}

/// (C13) of attn.attention; `lengths` may be null.
static LogicalResult verifyLengths(Operation *op, Value lengths, const AttentionDims &dims, StringRef constraint) {
  if (!lengths)
    return success();
  ArrayRef<int64_t> shape = cast<ShapedType>(lengths.getType()).getShape();
  if (failed(verifyCompatibleShape(shape, ArrayRef<int64_t>(dims.batch))))
    return op->emitOpError("expects kv_lengths to have shape ")
           << shapeText(dims.batch) << ", but got " << shapeText(shape) << " (" << constraint << ")";
  return success();
}

// attention (C7), (C8), (C12), (C13)
static LogicalResult verifyOptionalOperands(AttentionOp op, const AttentionDims &dims) {
  if (op.getLse() &&
      failed(verifyResult(op, "lse", op.getLse().getType(), {dims.batch, dims.heads, dims.queryLen}, "C7")))
    return failure();
  if (op.getWeights() && failed(verifyResult(op, "weights", op.getWeights().getType(),
                                             {dims.batch, dims.heads, dims.queryLen, dims.kvLen}, "C8")))
    return failure();
  if (op.getSink() && failed(verifyResult(op, "sink", op.getSink().getType(), {dims.heads}, "C12")))
    return failure();
  return verifyLengths(op, op.getKvLengths(), dims, "C13");
}

/// (C17) of attn.attention: sizes of tiles that a target can be asked for.
static LogicalResult verifyTileSizes(Operation *op, int64_t queryTile, int64_t kvTile, StringRef constraint) {
  if (queryTile < 1 || queryTile > 1024 || (queryTile & (queryTile - 1)))
    return op->emitOpError("expects its query tile to be a power of two from 1 to 1024, but got ")
           << queryTile << " (" << constraint << ")";
  if (kvTile < 1 || kvTile > 65536)
    return op->emitOpError("expects its kv tile to be 1 to 65536, but got ") << kvTile << " (" << constraint << ")";
  return success();
}

// attention (C17)
static LogicalResult verifyTiles(AttentionOp op) {
  bool hasTiles = bool(op.getTiles());
  for (std::optional<int64_t> size : {op.getQueryTile(), op.getKvTile()})
    if (size.has_value() != hasTiles)
      return op.emitOpError("expects query_tile and kv_tile where there are tiles, and nowhere else (C17)");
  return hasTiles ? verifyTileSizes(op, *op.getQueryTile(), *op.getKvTile(), "C17") : success();
}

// attention (C15)
static LogicalResult verifyCounts(AttentionOp op, const AttentionDims &dims) {
  for (auto [name, value] : {std::pair("query", op.getQuery()), std::pair("key", op.getKey()),
                             std::pair("value", op.getValue()), std::pair("out", op.getOut())})
    if (failed(verifyElementCount(op, name, cast<ShapedType>(value.getType()).getShape(), "C15")))
      return failure();
  return verifyElementCount(op, "the scores", {dims.batch, dims.heads, dims.queryLen, dims.kvLen}, "C15");
}

LogicalResult AttentionOp::verify() {
  if (getDropout()) // (C16)
    return emitOpError("does not support dropout yet; remove it (C16)");
  if (failed(verifyElementTypes(*this)) || failed(verifyLayout(*this, 0, getQuery().getType(), getQueryLayout())) ||
      failed(verifyLayout(*this, 1, getKey().getType(), getKeyLayout())) ||
      failed(verifyLayout(*this, 2, getValue().getType(), getValueLayout())) ||
      failed(verifyLayout(*this, 3, getOut().getType(), getOutLayout())))
    return failure();
  AttentionDims dims = getDims();
  if (failed(verifySizes(*this, dims)) || failed(verifyOut(*this, dims)) ||
      failed(verifyOptionalOperands(*this, dims)) || failed(verifyTiles(*this)) || failed(verifyCounts(*this, dims)) ||
      failed(verifyMods(*this, getScoresAttr(), /*masks=*/false, getScoreCaptures(), dims)) ||
      failed(verifyMods(*this, getMasksAttr(), /*masks=*/true, getMaskCaptures(), dims)))
    return failure();
  return verifyForm(*this, "C14");
}

LogicalResult AttentionOp::verifyRegions() {
  if (failed(verifyModRegion(*this, getScoreRegion(), getScoreType())))
    return failure();
  return verifyModRegion(*this, getMaskRegion(), {});
}

MutableOperandRange AttentionOp::getDpsInitsMutable() {
  // out, lse and weights are the last operand groups, next to one another.
  unsigned count = 1 + (getLse() ? 1 : 0) + (getWeights() ? 1 : 0);
  return MutableOperandRange(*this, getOutMutable().getOperandNumber(), count);
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

MutableOperandRange MatmulOp::getDpsInitsMutable() { return getOutMutable(); }

LogicalResult MatmulOp::verify() {
  auto lhs = cast<ShapedType>(getLhs().getType()), rhs = cast<ShapedType>(getRhs().getType());
  auto out = cast<ShapedType>(getOut().getType());
  int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank || out.getRank() != rank) // (C1)
    return emitOpError("expects lhs, rhs and out to have the same rank, at least 2, but got ")
           << rank << ", " << rhs.getRank() << " and " << out.getRank() << " (C1)";
  for (int64_t k = 0; k < rank - 2; ++k) // (C2)
    if (!fits(lhs.getDimSize(k), rhs.getDimSize(k)) || !fits(lhs.getDimSize(k), out.getDimSize(k)) ||
        !fits(rhs.getDimSize(k), out.getDimSize(k)))
      return emitOpError("expects lhs, rhs and out to share batch dimension ")
             << k << ", but got " << sizeText(lhs.getDimSize(k)) << ", " << sizeText(rhs.getDimSize(k)) << " and "
             << sizeText(out.getDimSize(k)) << " (C2)";
  int64_t rhsK = rank - (getTransposeRhs() ? 1 : 2), rhsN = rank - (getTransposeRhs() ? 2 : 1);
  auto verifyDim = [&](StringRef name, StringRef a, int64_t sizeA, StringRef b, int64_t sizeB) -> LogicalResult {
    if (fits(sizeA, sizeB))
      return success();
    return emitOpError("expects ") << a << " and " << b << " to share " << name << ", but got " << sizeA << " and "
                                   << sizeB << " (C2)";
  };
  if (failed(verifyDim("k", "lhs", lhs.getDimSize(rank - 1), "rhs", rhs.getDimSize(rhsK))) ||
      failed(verifyDim("m", "lhs", lhs.getDimSize(rank - 2), "out", out.getDimSize(rank - 2))) ||
      failed(verifyDim("n", "rhs", rhs.getDimSize(rhsN), "out", out.getDimSize(rank - 1))))
    return failure();
  Type element = lhs.getElementType();
  if (rhs.getElementType() != element) // (C3)
    return emitOpError("expects lhs and rhs to share one element type, but got ")
           << element << " and " << rhs.getElementType() << " (C3)";
  if (failed(verifyOutElement(*this, out.getElementType(), element, "C3")) ||
      failed(verifyElementCounts(*this, {"lhs", "rhs", "out"}, "C5"))) // (C5)
    return failure();
  return verifyForm(*this, "C4");
}

//===----------------------------------------------------------------------===//
// mask
//===----------------------------------------------------------------------===//

MutableOperandRange MaskOp::getDpsInitsMutable() { return getOutMutable(); }

LogicalResult MaskOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  if (input.getRank() != 4) // (C1)
    return emitOpError("expects scores to have rank 4, but got rank ") << input.getRank() << " (C1)";
  auto out = cast<ShapedType>(getOut().getType());
  if (failed(verifyCompatibleShape(input.getShape(), out.getShape())) || input.getElementType() != out.getElementType())
    return emitOpError("expects out to have the shape and element type of scores, but got ")
           << out << " and " << input << " (C1)";
  AttentionDims dims;
  dims.batch = known(input.getDimSize(0), out.getDimSize(0));
  dims.heads = known(input.getDimSize(1), out.getDimSize(1));
  dims.queryLen = known(input.getDimSize(2), out.getDimSize(2));
  dims.kvLen = known(input.getDimSize(3), out.getDimSize(3));
  dims.scoreType = scoreTypeFor(input.getElementType());
  if (failed(verifyMods(*this, getMasksAttr(), /*masks=*/true, getMaskCaptures(), dims)) || // (C2)
      failed(verifyElementCount(*this, "scores", input.getShape(), "C4")))                  // (C4)
    return failure();
  return verifyForm(*this, "C3");
}

LogicalResult MaskOp::verifyRegions() { return verifyModRegion(*this, getMaskRegion(), {}); }

//===----------------------------------------------------------------------===//
// classify_tiles, tile_classes_size
//===----------------------------------------------------------------------===//

MutableOperandRange ClassifyTilesOp::getDpsInitsMutable() { return getOutMutable(); }

ArrayRef<std::pair<unsigned, StringLiteral>> ClassifyTilesOp::getRequiredSegments() {
  static constexpr std::pair<unsigned, StringLiteral> required[] = {
      {0, "batch"}, {1, "heads"}, {2, "queryLen"}, {3, "kvLen"}, {6, "out"}};
  return required;
}

AttentionDims ClassifyTilesOp::getDims() {
  auto sizeOf = [](Value size) { return getConstantIntValue(size).value_or(ShapedType::kDynamic); };
  AttentionDims dims;
  dims.batch = sizeOf(getBatch());
  dims.heads = sizeOf(getHeads());
  dims.queryLen = sizeOf(getQueryLen());
  dims.kvLen = sizeOf(getKvLen());
  dims.hasLengths = bool(getKvLengths());
  dims.scoreType = Float32Type::get(getContext());
  return dims;
}

LogicalResult ClassifyTilesOp::verify() {
  if (failed(verifyTileSizes(*this, getQueryTile(), getKvTile(), "C1"))) // (C1)
    return failure();
  for (auto [name, size] : {std::pair("batch", getBatch()), std::pair("heads", getHeads()),
                            std::pair("queryLen", getQueryLen()), std::pair("kvLen", getKvLen())}) // (C4)
    if (std::optional<int64_t> known = getConstantIntValue(size); known && (*known < 0 || *known > kMaxExtent))
      return emitOpError("expects ") << name << " to be in 0 to " << kMaxExtent << ", but got " << *known << " (C4)";
  AttentionDims dims = getDims();
  if (failed(verifyMods(*this, getMasksAttr(), /*masks=*/true, getMaskCaptures(), dims))) // (C2)
    return failure();
  if (failed(verifyLengths(*this, getKvLengths(), dims, "C5"))) // (C5)
    return failure();
  return verifyForm(*this, "C3");
}

LogicalResult ClassifyTilesOp::verifyRegions() { return verifyModRegion(*this, getMaskRegion(), {}); }

std::optional<int64_t> attn::countTileRecordWords(ArrayRef<int64_t> sizes, int64_t queryTile, int64_t kvTile) {
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0 || size > kMaxExtent; }))
    return std::nullopt;
  int64_t row = 1 + 2 * llvm::divideCeil(sizes[3], kvTile), rows = sizes[0] * sizes[1], words;
  if (llvm::MulOverflow(rows, int64_t(llvm::divideCeil(sizes[2], queryTile)), rows) ||
      llvm::MulOverflow(rows, row, words) || llvm::AddOverflow(words, kFirstLengthWord + sizes[0], words))
    return std::nullopt;
  return words;
}

LogicalResult TileClassesSizeOp::verify() {
  return verifyTileSizes(*this, getQueryTile(), getKvTile(), "C1"); // (C1)
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

MutableOperandRange SoftmaxOp::getDpsInitsMutable() { return getOutMutable(); }

LogicalResult SoftmaxOp::verify() {
  auto input = cast<ShapedType>(getInput().getType()), out = cast<ShapedType>(getOut().getType());
  if (failed(verifyCompatibleShape(input.getShape(), out.getShape()))) // (C1)
    return emitOpError("expects out to have the shape of the input, but got ")
           << shapeText(out.getShape()) << " and " << shapeText(input.getShape()) << " (C1)";
  int64_t axis = getAxis();
  if (axis < 0 || axis >= input.getRank()) // (C2)
    return emitOpError("expects 0 <= axis < rank = ") << input.getRank() << ", but got " << axis << " (C2)";
  if (failed(verifyOutElement(*this, out.getElementType(), input.getElementType(), "C4")) || // (C4)
      failed(verifyElementCounts(*this, {"the input", "out"}, "C5")))                        // (C5)
    return failure();
  return verifyForm(*this, "C3");
}
