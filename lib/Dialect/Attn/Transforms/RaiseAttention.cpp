//===- RaiseAttention.cpp - attention ops of TMTensor and IREE ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tm_tensor.attention` (torch-mlir) has fixed layouts, `iree_linalg_ext.attention` an indexing map for each operand
// over the dimensions (batch dimensions, query, value feature, key feature, key), in any order.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Common
//===----------------------------------------------------------------------===//

AffineMap attn::getPlainLayout(MLIRContext *context, int64_t rank) {
  static constexpr unsigned letters[] = {kBatchDim, kHeadDim, kLengthDim, kFeatureDim};
  if (rank < 2 || rank > 4)
    return {};
  return AffineMap::getMultiDimMapWithTargets(4, ArrayRef<unsigned>(letters).take_back(rank), context);
}

FloatType attn::getScoreType(Type elementType) {
  return elementType.isF64() ? cast<FloatType>(elementType) : Float32Type::get(elementType.getContext());
}

Value attn::createDefaultScale(ImplicitLocOpBuilder &builder, Value query) {
  auto type = cast<RankedTensorType>(query.getType());
  FloatType scoreType = getScoreType(type.getElementType());
  int64_t headDim = type.getShape().back();
  if (!ShapedType::isDynamic(headDim))
    return arith::ConstantOp::create(
        builder, builder.getFloatAttr(scoreType, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(headDim, 1)))));
  Value size = getDimension(builder, query, type.getRank() - 1);
  size = arith::MaxSIOp::create(builder, size, arith::ConstantIndexOp::create(builder, 1));
  Value real =
      arith::SIToFPOp::create(builder, scoreType, arith::IndexCastOp::create(builder, builder.getI64Type(), size));
  Value one = arith::ConstantOp::create(builder, builder.getFloatAttr(scoreType, 1.0));
  return arith::DivFOp::create(builder, one, math::SqrtOp::create(builder, real));
}

/// Whether the mask's dimensions are the last ones of (b, h, i, j), as the named mods want them.
static bool isAligned(const ForeignAttention &foreign) {
  if (foreign.maskBroadcasts)
    return true;
  unsigned rank = foreign.maskLayout.getNumResults();
  return foreign.maskLayout ==
         AffineMap::getMultiDimIdentityMap(4, foreign.maskLayout.getContext()).getMinorSubMap(rank);
}

/// The mask's element for the indices (b, h, i, j).
static Value readMask(ImplicitLocOpBuilder &builder, const ForeignAttention &foreign, ValueRange indices) {
  SmallVector<Value> position;
  for (AffineExpr expr : foreign.maskLayout.getResults())
    position.push_back(indices[cast<AffineDimExpr>(expr).getPosition()]);
  return tensor::ExtractOp::create(builder, foreign.mask, position);
}

/// A block for a region of `op`, with the region's arguments: the score, if there is a type of it, b, h, i, j.
static Block *addModBlock(ImplicitLocOpBuilder &builder, Region &region, Type score) {
  Block *block = builder.createBlock(&region);
  if (score)
    block->addArgument(score, builder.getLoc());
  for (int i = 0; i < 4; ++i)
    block->addArgument(builder.getIndexType(), builder.getLoc());
  return block;
}

/// Keeps where the mask is true, in the op's mask region.
static void fillMaskRegion(ImplicitLocOpBuilder builder, AttentionOp op, const ForeignAttention &foreign) {
  Block *block = addModBlock(builder, op.getMaskRegion(), nullptr);
  YieldOp::create(builder, readMask(builder, foreign, block->getArguments()));
}

/// The foreign op's score function, then its mask added unless that is null, in the op's score region.
static void fillScoreRegion(ImplicitLocOpBuilder builder, AttentionOp op, const ForeignAttention &foreign,
                            bool addsMask) {
  FloatType scoreType = op.getScoreType();
  Block *block = addModBlock(builder, op.getScoreRegion(), scoreType);
  Value score = block->getArgument(0);
  if (foreign.score) {
    IRMapping mapping;
    mapping.map(foreign.score->getArgument(0), score);
    for (Operation &inner : withoutLast(*foreign.score))
      builder.clone(inner, mapping);
    score = mapping.lookupOrDefault(foreign.score->back().getOperand(0));
  }
  if (addsMask) {
    Value added = readMask(builder, foreign, block->getArguments().drop_front());
    if (added.getType() != scoreType)
      added = arith::ExtFOp::create(builder, scoreType, added);
    score = arith::AddFOp::create(builder, score, added);
  }
  YieldOp::create(builder, score);
}

AttentionOp attn::createAttention(ImplicitLocOpBuilder &builder, const ForeignAttention &foreign) {
  MLIRContext *context = builder.getContext();
  bool isFloatMask = foreign.mask && isa<FloatType>(getElementTypeOrSelf(foreign.mask.getType()));
  bool isNamed = foreign.mask && isAligned(foreign) && !(isFloatMask && foreign.score);
  SmallVector<Attribute> scores, masks;
  SmallVector<Value> scoreCaptures, maskCaptures;
  if (isNamed) {
    (isFloatMask ? scores : masks)
        .push_back(isFloatMask ? Attribute(AdditiveAttr::get(context)) : BooleanAttr::get(context));
    (isFloatMask ? scoreCaptures : maskCaptures).push_back(foreign.mask);
  }
  if (foreign.isCausal)
    masks.push_back(CausalAttr::get(context, Diagonal::TopLeft));
  auto listed = [&](ArrayRef<Attribute> mods) { return mods.empty() ? ArrayAttr() : builder.getArrayAttr(mods); };
  auto layout = [&](AffineMap map) { return map.isIdentity() ? AffineMapAttr() : AffineMapAttr::get(map); };
  auto op = AttentionOp::create(
      builder, foreign.out.getType(), foreign.query, foreign.key, foreign.value, foreign.scale, scoreCaptures,
      maskCaptures, /*sink=*/Value(), /*kvLengths=*/Value(), /*tiles=*/Value(), foreign.out, /*lse=*/Value(),
      /*weights=*/Value(), listed(scores), listed(masks), layout(foreign.queryLayout), layout(foreign.keyLayout),
      layout(foreign.valueLayout), layout(foreign.outLayout), /*queryTile=*/IntegerAttr(), /*kvTile=*/IntegerAttr(),
      /*dropout=*/UnitAttr());
  bool isRegionMask = foreign.mask && !isNamed;
  if (foreign.score || (isRegionMask && isFloatMask))
    fillScoreRegion(builder, op, foreign, isRegionMask && isFloatMask);
  if (isRegionMask && !isFloatMask)
    fillMaskRegion(builder, op, foreign);
  return op;
}

/// The numbers of inputs and results in `operandSegmentSizes`; all but one are inputs where that is absent.
static unsigned countInputs(Operation *op) {
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  return segments && !segments.empty() ? segments[0] : std::max<unsigned>(op->getNumOperands(), 1) - 1;
}

/// Error unless all operands but `scalar` are ranked tensors of floats or, the mask, of i1, and there is one result.
static LogicalResult checkTypes(Operation *op, unsigned mask, std::optional<unsigned> scalar) {
  if (op->getNumResults() != 1)
    return op->emitOpError("expects one result, but got ") << op->getNumResults();
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool fits = index == scalar ? isa<FloatType>(type)
                                : tensor && (isa<FloatType>(tensor.getElementType()) ||
                                             (index == mask && tensor.getElementType().isInteger(1)));
    if (!fits)
      return op->emitOpError("expects operand ")
             << index << " to be a " << (index == scalar ? "float" : "ranked tensor of floats")
             << (index == mask ? " or i1" : "") << ", but got " << type;
  }
  Type out = op->getOperands().back().getType();
  if (op->getResult(0).getType() != out)
    return op->emitOpError("expects the result to have the type of the last operand, ")
           << out << ", but got " << op->getResult(0).getType();
  return success();
}

static void replaceWith(Operation *op, AttentionOp attention) {
  op->replaceAllUsesWith(attention->getResults());
  op->erase();
}

//===----------------------------------------------------------------------===//
// tm_tensor.attention
//===----------------------------------------------------------------------===//

static LogicalResult checkTmTensor(Operation *op) {
  unsigned inputs = countInputs(op);
  if ((inputs != 3 && inputs != 4) || op->getNumOperands() != inputs + 1)
    return op->emitOpError("expects query, key, value, at most one mask, and one output, but got ")
           << op->getNumOperands() << " operands, " << inputs << " of them inputs";
  if (failed(checkTypes(op, /*mask=*/3, std::nullopt)))
    return failure();
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  for (Type type : op->getOperandTypes())
    if (cast<RankedTensorType>(type).getRank() != rank)
      return op->emitOpError("expects operands of one rank, but got ")
             << op->getOperand(0).getType() << " and " << type;
  if (rank < 2 || rank > 4)
    return op->emitOpError("expects operands of rank 2 to 4, but got ") << op->getOperand(0).getType();
  Attribute scale = op->getAttr("scale");
  if (scale && !isa<FloatAttr>(scale))
    return op->emitOpError("expects the attribute scale to be a float, but got ") << scale;
  return success();
}

LogicalResult attn::raiseTmTensorAttention(Operation *op) {
  if (failed(checkTmTensor(op)))
    return failure();
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  ForeignAttention foreign;
  foreign.query = op->getOperand(0);
  foreign.key = op->getOperand(1);
  foreign.value = op->getOperand(2);
  foreign.mask = op->getNumOperands() == 5 ? op->getOperand(3) : Value();
  foreign.out = op->getOperands().back();
  foreign.queryLayout = foreign.keyLayout = foreign.valueLayout = foreign.outLayout = foreign.maskLayout =
      getPlainLayout(op->getContext(), type.getRank());
  if (auto scale = op->getAttrOfType<FloatAttr>("scale"))
    foreign.scale = arith::ConstantOp::create(
        builder, builder.getFloatAttr(getScoreType(type.getElementType()), scale.getValueAsDouble()));
  else
    foreign.scale = createDefaultScale(builder, foreign.query);
  replaceWith(op, createAttention(builder, foreign));
  return success();
}

//===----------------------------------------------------------------------===//
// iree_linalg_ext.attention
//===----------------------------------------------------------------------===//

namespace {

/// The indexing maps of one op, in the order of its operands: query, key, value, scale, mask (may be absent), out.
struct IreeMaps {
  AffineMap query, key, value, mask, out;
};

} // namespace

/// The indexing maps, if there is one for each operand and all are projections.
static FailureOr<IreeMaps> readMaps(Operation *op) {
  auto attribute = op->getAttrOfType<ArrayAttr>("indexing_maps");
  if (!attribute || attribute.size() != op->getNumOperands())
    return op->emitOpError("expects an indexing map for each of its ") << op->getNumOperands() << " operands";
  SmallVector<AffineMap> maps;
  for (auto [map, type] : llvm::zip(attribute, op->getOperandTypes())) {
    auto affine = dyn_cast<AffineMapAttr>(map);
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!affine || !affine.getValue().isProjectedPermutation() ||
        affine.getValue().getNumResults() != (tensor ? tensor.getRank() : 0))
      return op->emitOpError("expects indexing maps that are projected permutations of the operands' ranks, but got ")
             << map << " for " << type;
    maps.push_back(affine.getValue());
    if (maps.back().getNumInputs() != maps.front().getNumInputs())
      return op->emitOpError("expects indexing maps over the same dimensions, but got ")
             << AffineMapAttr::get(maps.front()) << " and " << map;
  }
  return IreeMaps{maps[0], maps[1], maps[2], maps.size() == 6 ? maps[4] : AffineMap(), maps.back()};
}

/// The letter of each dimension of the maps, as a position in (b, h, i | j, d | e). Error where these are not one
/// query, key, key feature and value feature dimension and at most two batch dimensions.
static FailureOr<SmallVector<unsigned>> findLetters(Operation *op, const IreeMaps &maps) {
  auto in = [](AffineMap map, unsigned dim) { return map.isFunctionOfDim(dim); };
  unsigned numDims = maps.query.getNumInputs();
  SmallVector<unsigned> letters(numDims, ~0u), batch;
  unsigned found[4] = {0, 0, 0, 0};
  for (unsigned dim = 0; dim < numDims; ++dim) {
    bool q = in(maps.query, dim), k = in(maps.key, dim), v = in(maps.value, dim), o = in(maps.out, dim);
    std::optional<unsigned> kind;
    if (q && o && k && v)
      batch.push_back(dim);
    else if (q && o && !k && !v)
      kind = 0;
    else if (!q && !o && k && v)
      kind = 1;
    else if (q && !o && k && !v)
      kind = 2;
    else if (!q && o && !k && v)
      kind = 3;
    else
      return op->emitOpError("expects each dimension to be of batch, query, key or feature, but d")
             << dim << " of its indexing maps is none of them";
    if (kind) {
      ++found[*kind];
      letters[dim] = *kind < 2 ? kLengthDim : kFeatureDim;
    }
  }
  if (llvm::any_of(found, [](unsigned count) { return count != 1; }) || batch.size() > 2)
    return op->emitOpError("expects indexing maps with one query, one key, one key feature and one value feature "
                           "dimension and at most two batch dimensions, but got ")
           << found[0] << ", " << found[1] << ", " << found[2] << ", " << found[3] << " and " << batch.size();
  for (auto [index, dim] : llvm::enumerate(llvm::reverse(batch)))
    letters[dim] = index == 0 ? kHeadDim : kBatchDim;
  return letters;
}

/// An operand's map as a layout.
static AffineMap toLayout(AffineMap map, ArrayRef<unsigned> letters) {
  SmallVector<unsigned> targets;
  for (AffineExpr expr : map.getResults())
    targets.push_back(letters[cast<AffineDimExpr>(expr).getPosition()]);
  return AffineMap::getMultiDimMapWithTargets(4, targets, map.getContext());
}

/// The mask's map as one from (b, h, i, j): the key dimension is the last.
static FailureOr<AffineMap> toMaskLayout(Operation *op, const IreeMaps &maps, ArrayRef<unsigned> letters) {
  SmallVector<unsigned> targets;
  for (AffineExpr expr : maps.mask.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (letters[dim] == kFeatureDim)
      return op->emitOpError("expects a mask over batch, query and key, but its map ")
             << AffineMapAttr::get(maps.mask) << " has a feature";
    bool isKey = letters[dim] == kLengthDim && maps.key.isFunctionOfDim(dim);
    targets.push_back(isKey ? 3 : letters[dim]);
  }
  return AffineMap::getMultiDimMapWithTargets(4, targets, op->getContext());
}

/// The block of the score function, null where it is the identity. Error where attn.attention could not hold it.
static FailureOr<Block *> readScoreFunction(Operation *op, Type scoreType) {
  if (op->getNumRegions() == 0 || op->getRegion(0).empty())
    return nullptr;
  Region &region = op->getRegion(0);
  Block &block = region.front();
  if (!region.hasOneBlock() || block.getNumArguments() != 1 || block.getArgument(0).getType() != scoreType ||
      block.empty() || block.back().getNumOperands() != 1 || block.back().getOperand(0).getType() != scoreType)
    return op->emitOpError("expects a region of one block that takes and yields a score of ") << scoreType;
  for (Operation &inner : withoutLast(block))
    if (!isPure(&inner) || inner.getNumRegions())
      return op->emitOpError("expects pure operations without regions in its region, but got '")
             << inner.getName() << "'";
  return block.back().getOperand(0) == block.getArgument(0) ? nullptr : &block;
}

/// The scale as the score's type.
static Value convertScale(ImplicitLocOpBuilder &builder, Value scale, FloatType scoreType) {
  if (scale.getType() == scoreType)
    return scale;
  bool isWider = scale.getType().getIntOrFloatBitWidth() > scoreType.getWidth();
  return isWider ? arith::TruncFOp::create(builder, scoreType, scale).getResult()
                 : arith::ExtFOp::create(builder, scoreType, scale).getResult();
}

LogicalResult attn::raiseIreeAttention(Operation *op) {
  if (op->getNumOperands() != 5 && op->getNumOperands() != 6)
    return op->emitOpError("expects query, key, value, scale, at most one mask, and one output, but got ")
           << op->getNumOperands() << " operands";
  if (failed(checkTypes(op, /*mask=*/op->getNumOperands() == 6 ? 4 : ~0u, /*scalar=*/3)))
    return failure();
  FailureOr<IreeMaps> maps = readMaps(op);
  if (failed(maps))
    return failure();
  FailureOr<SmallVector<unsigned>> letters = findLetters(op, *maps);
  if (failed(letters))
    return failure();
  FloatType scoreType = getScoreType(getElementTypeOrSelf(op->getOperand(0).getType()));
  FailureOr<AffineMap> maskLayout = maps->mask ? toMaskLayout(op, *maps, *letters) : AffineMap();
  FailureOr<Block *> score = readScoreFunction(op, scoreType);
  if (failed(maskLayout) || failed(score))
    return failure();
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  ForeignAttention foreign;
  foreign.query = op->getOperand(0);
  foreign.key = op->getOperand(1);
  foreign.value = op->getOperand(2);
  foreign.scale = convertScale(builder, op->getOperand(3), scoreType);
  foreign.mask = maps->mask ? op->getOperand(4) : Value();
  foreign.out = op->getOperands().back();
  foreign.queryLayout = toLayout(maps->query, *letters);
  foreign.keyLayout = toLayout(maps->key, *letters);
  foreign.valueLayout = toLayout(maps->value, *letters);
  foreign.outLayout = toLayout(maps->out, *letters);
  foreign.maskLayout = *maskLayout;
  foreign.score = *score;
  replaceWith(op, createAttention(builder, foreign));
  return success();
}
