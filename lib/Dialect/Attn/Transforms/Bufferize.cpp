//===- Bufferize.cpp - tensors to buffers, slices to views ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the views that upstream's bufferization leaves, inside the same pass: between the two, what a
// rank-reducing memref.subview means would be a guess, the verifier's, too.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Canonicalization/KeptDims.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Views that drop unit dimensions
//===----------------------------------------------------------------------===//

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
  FailureOr<SmallVector<int64_t>> kept = findKeptDims(view.getStaticSizes(), type.getShape());
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
// Views of nothing
//===----------------------------------------------------------------------===//

/// An empty view may begin behind the last element, as where a tensor of no elements is padded; memref's verifier
/// refuses such an offset where it is a constant, and takes it as a value.
static void openOffsets(memref::SubViewOp view) {
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets();
  ImplicitLocOpBuilder b(view.getLoc(), view);
  bool isOpened = false;
  for (auto [offset, extent] : llvm::zip_equal(offsets, view.getSourceType().getShape())) {
    std::optional<int64_t> from = getConstantIntValue(offset);
    if (ShapedType::isDynamic(extent) || !from || *from < extent || isa<Value>(offset))
      continue;
    offset = arith::ConstantIndexOp::create(b, *from).getResult();
    isOpened = true;
  }
  if (!isOpened)
    return;
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      view.getType().getShape(), view.getSourceType(), offsets, view.getMixedSizes(), view.getMixedStrides());
  Value opened =
      memref::SubViewOp::create(b, type, view.getSource(), offsets, view.getMixedSizes(), view.getMixedStrides());
  if (type != view.getType())
    opened = memref::CastOp::create(b, view.getType(), opened);
  view.replaceAllUsesWith(opened);
  view.erase();
}

//===----------------------------------------------------------------------===//
// Buffers that branches choose
//===----------------------------------------------------------------------===//

/// What a branch yields before it is cast, where neighbours in the last dimension are neighbours in memory; else null.
static Value findDense(Block &branch, unsigned result) {
  auto cast = branch.getTerminator()->getOperand(result).getDefiningOp<memref::CastOp>();
  auto type = cast ? dyn_cast<MemRefType>(cast.getSource().getType()) : MemRefType();
  return type && type.getRank() > 0 && type.isLastDimUnitStride() ? cast.getSource() : Value();
}

/// Upstream joins two layouts to one of which nothing is known. That both have a unit stride decides how rows are read.
static void keepUnitStride(scf::IfOp choice, unsigned result) {
  Value chosen = choice.getResult(result);
  auto type = dyn_cast<MemRefType>(chosen.getType());
  if (!type || type.getRank() == 0 || type.isLastDimUnitStride())
    return;
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  auto dense = MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
  for (Block *branch : {choice.thenBlock(), choice.elseBlock()})
    if (!findDense(*branch, result))
      return;
  for (Block *branch : {choice.thenBlock(), choice.elseBlock()}) {
    Operation *yield = branch->getTerminator();
    Operation *general = yield->getOperand(result).getDefiningOp();
    ImplicitLocOpBuilder b(choice.getLoc(), yield);
    yield->setOperand(result, memref::CastOp::create(b, dense, findDense(*branch, result)));
    if (general->use_empty())
      general->erase();
  }
  chosen.setType(dense);
  ImplicitLocOpBuilder b(choice.getLoc(), choice->getContext());
  b.setInsertionPointAfter(choice);
  auto cast = memref::CastOp::create(b, type, chosen);
  chosen.replaceAllUsesExcept(cast, cast);
}

static bool isEmptyAndOpen(RankedTensorType type, ArrayRef<int64_t> group) {
  return llvm::any_of(group, [&](int64_t dim) { return type.getDimSize(dim) == 0; }) &&
         llvm::any_of(group, [&](int64_t dim) { return type.isDynamicDim(dim); });
}

/// The product of a group's sizes.
static OpFoldResult sizeOf(tensor::CollapseShapeOp collapse, ArrayRef<int64_t> group, ImplicitLocOpBuilder &b) {
  RankedTensorType type = collapse.getSrcType();
  if (isEmptyAndOpen(type, group))
    return b.getIndexAttr(0);
  int64_t known = 1;
  Value product;
  for (int64_t dim : group) {
    if (!type.isDynamicDim(dim)) {
      known *= type.getDimSize(dim);
      continue;
    }
    Value size = tensor::DimOp::create(b, collapse.getSrc(), dim);
    product = product ? arith::MulIOp::create(b, product, size).getResult() : size;
  }
  if (!product)
    return b.getIndexAttr(known);
  return arith::MulIOp::create(b, product, arith::ConstantIndexOp::create(b, known)).getResult();
}

/// Where a size of 0 joins one that is open, memref's collapse has no type that its verifier takes.
static void replaceEmpty(tensor::CollapseShapeOp collapse) {
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  RankedTensorType type = collapse.getResultType();
  if (llvm::none_of(groups, [&](ArrayRef<int64_t> group) { return isEmptyAndOpen(collapse.getSrcType(), group); }))
    return;
  ImplicitLocOpBuilder b(collapse.getLoc(), collapse);
  SmallVector<OpFoldResult> sizes;
  for (const ReassociationIndices &group : groups)
    sizes.push_back(sizeOf(collapse, group, b));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  collapse.replaceAllUsesWith(empty.getType() == type ? empty : tensor::CastOp::create(b, type, empty).getResult());
  collapse.erase();
}

//===----------------------------------------------------------------------===//
// Shapes of one element
//===----------------------------------------------------------------------===//

/// The type with sizes of 1. Those that were open have been checked to be 1 (attn-insert-checks); memref's reshapes
/// want their types to say so.
static RankedTensorType withUnits(RankedTensorType type) {
  return RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1), type.getElementType());
}

static void closeUnits(tensor::CollapseShapeOp collapse) {
  RankedTensorType type = collapse.getSrcType();
  if (collapse.getResultType().getRank() != 0 || type.hasStaticShape())
    return;
  OpBuilder builder(collapse);
  collapse.getSrcMutable().assign(
      tensor::CastOp::create(builder, collapse.getLoc(), withUnits(type), collapse.getSrc()));
}

static void closeUnits(tensor::ExpandShapeOp expand) {
  RankedTensorType type = expand.getResultType();
  if (expand.getSrcType().getRank() != 0 || type.hasStaticShape())
    return;
  ImplicitLocOpBuilder b(expand.getLoc(), expand);
  SmallVector<OpFoldResult> sizes(type.getRank(), b.getIndexAttr(1));
  Value units = tensor::ExpandShapeOp::create(b, withUnits(type), expand.getSrc(), ArrayRef<ReassociationIndices>(),
                                              ArrayRef<OpFoldResult>(sizes));
  expand.replaceAllUsesWith(tensor::CastOp::create(b, type, units).getResult());
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

void attn::reshapeByValues(Operation *root) {
  root->walk([](tensor::ReshapeOp reshape) { ::reshapeByValues(reshape); });
}

namespace {

struct Bufferize : attn::impl::BufferizePassBase<Bufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    BufferizePassBase::getDependentDialects(registry);
    registry.insert<tensor::TensorDialect>();
  }

  void runOnOperation() override {
    reshapeByValues(getOperation());
    getOperation()->walk([](tensor::CollapseShapeOp collapse) { replaceEmpty(collapse); });
    getOperation()->walk([](tensor::CollapseShapeOp collapse) { closeUnits(collapse); });
    getOperation()->walk([](tensor::ExpandShapeOp expand) { closeUnits(expand); });
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::InferLayoutMap);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
      return signalPassFailure();
    getOperation()->walk([](memref::SubViewOp view) { openOffsets(view); });
    getOperation()->walk([](scf::IfOp choice) {
      for (unsigned result = 0; result < choice.getNumResults(); ++result)
        keepUnitStride(choice, result);
    });
    WalkResult named = getOperation()->walk([](memref::SubViewOp view) { return WalkResult(nameDroppedDims(view)); });
    if (named.wasInterrupted())
      return signalPassFailure();
  }
};

} // namespace
