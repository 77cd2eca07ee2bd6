//===- Bufferize.cpp - tensors to buffers, slices to views ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the views that upstream's bufferization leaves, inside the same pass: between the two, what a
// rank-reducing memref.subview means would be a guess, the verifier's, too.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Groups.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;

//===----------------------------------------------------------------------===//
// Views that drop unit dimensions
//===----------------------------------------------------------------------===//

/// For each size of a view its place in the result's shape, -1 for the dropped ones. Sizes that are not 1 stay, and of
/// those that are 1 the first that fit. Fails where the shape is not a part of the sizes.
static FailureOr<SmallVector<int64_t>> findKept(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept;
  size_t next = 0;
  for (int64_t size : sizes) {
    bool stays = next < shape.size() && shape[next] == size;
    if (!stays && size != 1)
      return failure();
    kept.push_back(stays ? static_cast<int64_t>(next++) : -1);
  }
  if (next != shape.size())
    return failure();
  return kept;
}

/// Groups for a collapse: each dropped dimension joins the kept one in front of it, those in front of all the first.
static SmallVector<ReassociationIndices> groupsOf(ArrayRef<int64_t> kept, int64_t rank) {
  SmallVector<ReassociationIndices> groups(rank);
  int64_t group = 0;
  for (auto [dim, place] : llvm::enumerate(kept)) {
    group = place < 0 ? group : place;
    if (rank)
      groups[group].push_back(dim);
  }
  return groups;
}

/// A view of all dimensions, and a collapse that names the dropped ones.
static LogicalResult nameDroppedDims(memref::SubViewOp view) {
  MemRefType source = view.getSourceType(), type = view.getType();
  if (source.getRank() == type.getRank())
    return success();
  FailureOr<SmallVector<int64_t>> kept = findKept(view.getStaticSizes(), type.getShape());
  if (failed(kept))
    return view.emitOpError("expects the sizes that are not 1 to be those of its result, but got ") << type;
  ImplicitLocOpBuilder b(view.getLoc(), view);
  Value whole = memref::SubViewOp::create(b, view.getSource(), view.getMixedOffsets(), view.getMixedSizes(),
                                          view.getMixedStrides());
  Value dropped = memref::CollapseShapeOp::create(b, whole, groupsOf(*kept, type.getRank()));
  if (dropped.getType() != type)
    dropped = memref::CastOp::create(b, type, dropped);
  view.replaceAllUsesWith(dropped);
  view.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes that are expanded
//===----------------------------------------------------------------------===//

static OpFoldResult multiply(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> known = getConstantIntValue(x), other = getConstantIntValue(y);
  if (known && other)
    return b.getIndexAttr(*known * *other);
  if (known == 1 || other == 1)
    return known == 1 ? y : x;
  return arith::MulIOp::create(b, getValueOrCreateConstantIndexOp(b, b.getLoc(), x),
                               getValueOrCreateConstantIndexOp(b, b.getLoc(), y))
      .getResult();
}

static bool hasSeveralDynamicSizes(memref::ExpandShapeOp expand) {
  return llvm::any_of(attn::getGroups(expand), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return expand.getResultType().isDynamicDim(dim); }) > 1;
  });
}

/// The same memory by sizes and strides.
static void spellOut(memref::ExpandShapeOp expand) {
  if (!hasSeveralDynamicSizes(expand))
    return;
  ImplicitLocOpBuilder b(expand.getLoc(), expand);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, expand.getSrc());
  auto mixed = [](ArrayRef<int64_t> known, ValueRange values, OpBuilder &b) {
    SmallVector<OpFoldResult> all;
    for (auto [number, value] : llvm::zip_equal(known, values))
      all.push_back(ShapedType::isDynamic(number) ? OpFoldResult(value) : b.getIndexAttr(number));
    return all;
  };
  auto [knownStrides, knownOffset] = expand.getSrcType().getStridesAndOffset();
  SmallVector<OpFoldResult> had = mixed(knownStrides, metadata.getStrides(), b);
  OpFoldResult offset = ShapedType::isDynamic(knownOffset) ? OpFoldResult(metadata.getOffset())
                                                           : OpFoldResult(b.getIndexAttr(knownOffset));
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape(), strides(sizes.size());
  for (auto [stride, group] : llvm::zip_equal(had, attn::getGroups(expand)))
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = stride;
      stride = multiply(b, stride, sizes[dim]);
    }
  Value result = memref::ReinterpretCastOp::create(b, expand.getSrc(), offset, sizes, strides);
  if (result.getType() != expand.getResultType())
    result = memref::CastOp::create(b, expand.getResultType(), result);
  expand.replaceAllUsesWith(result);
  expand.erase();
}

//===----------------------------------------------------------------------===//
// Shapes that are data
//===----------------------------------------------------------------------===//

/// Size `dim` of a reshape: the type's, or an element of the shape as an index.
static OpFoldResult sizeOf(tensor::ReshapeOp reshape, int64_t dim, ImplicitLocOpBuilder &b) {
  auto type = cast<RankedTensorType>(reshape.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  Value size;
  if (auto elements = reshape.getShape().getDefiningOp<tensor::FromElementsOp>())
    size = elements.getElements()[dim];
  else
    size = tensor::ExtractOp::create(b, reshape.getShape(),
                                     ValueRange{arith::ConstantIndexOp::create(b, dim).getResult()});
  if (!size.getType().isIndex())
    size = arith::IndexCastOp::create(b, b.getIndexType(), size);
  return size;
}

static Value castTo(RankedTensorType type, Value value, ImplicitLocOpBuilder &b) {
  return value.getType() == type ? value : tensor::CastOp::create(b, type, value).getResult();
}

/// tensor.reshape as one dimension of all elements, then the result's. Upstream's lowering of it reads sizes of the
/// index's bit width only.
static void reshapeByValues(tensor::ReshapeOp reshape) {
  auto from = dyn_cast<RankedTensorType>(reshape.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(reshape.getType());
  if (!from || !to || to.getRank() == 0)
    return;
  ImplicitLocOpBuilder b(reshape.getLoc(), reshape);
  auto groupOf = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(1);
    for (int64_t dim = 0; dim < rank; ++dim)
      groups.front().push_back(dim);
    return groups;
  };
  Value flat = reshape.getSource();
  if (from.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(b, RankedTensorType::get({1}, from.getElementType()), flat,
                                         ArrayRef<ReassociationIndices>(), ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  else if (from.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, flat, groupOf(from.getRank()));
  int64_t count = to.hasStaticShape() ? to.getNumElements() : ShapedType::kDynamic;
  flat = castTo(RankedTensorType::get({count}, to.getElementType()), flat, b);
  if (to.getRank() > 1) {
    SmallVector<OpFoldResult> sizes;
    for (int64_t dim = 0; dim < to.getRank(); ++dim)
      sizes.push_back(sizeOf(reshape, dim, b));
    flat = tensor::ExpandShapeOp::create(b, to, flat, groupOf(to.getRank()), sizes);
  }
  reshape.replaceAllUsesWith(flat);
  reshape.erase();
}

namespace {

struct Bufferize : attn::impl::BufferizePassBase<Bufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    BufferizePassBase::getDependentDialects(registry);
    registry.insert<tensor::TensorDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([](tensor::ReshapeOp reshape) { reshapeByValues(reshape); });
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::InferLayoutMap);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
      return signalPassFailure();
    WalkResult named = getOperation()->walk([](memref::SubViewOp view) { return WalkResult(nameDroppedDims(view)); });
    if (named.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([](memref::ExpandShapeOp expand) { spellOut(expand); });
  }
};

} // namespace
