//===- ExpandViews.cpp - views of buffers, as offsets, sizes and strides -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk: what a view is follows from what its source is, and the op alone. Upstream's expand-strided-metadata is a
// greedy rewrite that runs every folder, looks for dropped dimensions among the strides, and does not take several
// dynamic sizes in a group.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Canonicalization/KeptDims.h"
#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attn::flash {
#define GEN_PASS_DEF_EXPANDVIEWSPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value valueOf(ImplicitLocOpBuilder &b, OpFoldResult x) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), x);
}

/// Wraps like the machine: sizes and strides that do not fit belong to no element.
static OpFoldResult constantOf(ImplicitLocOpBuilder &b, uint64_t value) {
  return b.getIndexAttr(static_cast<int64_t>(value));
}

static OpFoldResult multiply(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> known = getConstantIntValue(x), other = getConstantIntValue(y);
  if (known && other)
    return constantOf(b, static_cast<uint64_t>(*known) * static_cast<uint64_t>(*other));
  if (known == 0 || other == 0)
    return b.getIndexAttr(0);
  if (known == 1 || other == 1)
    return known == 1 ? y : x;
  return arith::MulIOp::create(b, valueOf(b, x), valueOf(b, y), arith::IntegerOverflowFlags::nsw).getResult();
}

static OpFoldResult add(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> known = getConstantIntValue(x), other = getConstantIntValue(y);
  if (known && other)
    return constantOf(b, static_cast<uint64_t>(*known) + static_cast<uint64_t>(*other));
  if (known == 0 || other == 0)
    return known == 0 ? y : x;
  return arith::AddIOp::create(b, valueOf(b, x), valueOf(b, y)).getResult();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {

/// A part of the memory that `buffer` points to. The offset counts from its aligned pointer.
struct View {
  Value buffer;
  OpFoldResult offset;
  SmallVector<OpFoldResult> sizes, strides;
};

/// Describes values of ranked memref types. Arithmetic goes in front of the op that makes the view.
class Views {
public:
  /// Fails after a diagnostic.
  FailureOr<View> describe(Value value);

private:
  FailureOr<View> build(Value value);
  FailureOr<View> buildRoot(Value value);
  FailureOr<View> buildSlice(memref::SubViewOp op);
  FailureOr<View> buildExpanded(memref::ExpandShapeOp op);
  FailureOr<View> buildCollapsed(memref::CollapseShapeOp op);
  FailureOr<View> buildCast(memref::ReinterpretCastOp op);
  FailureOr<View> buildBase(memref::ExtractStridedMetadataOp op);

  DenseMap<Value, View> known;
};

} // namespace

/// What the type says is so: the numbers of `view` that it knows are replaced.
static void takeFromType(View &view, MemRefType type, ArrayRef<int64_t> strides, int64_t offset) {
  Builder b(type.getContext());
  auto take = [&](OpFoldResult &had, int64_t number) {
    if (!ShapedType::isDynamic(number))
      had = b.getIndexAttr(number);
  };
  take(view.offset, offset);
  for (auto [had, number] : llvm::zip_equal(view.sizes, type.getShape()))
    take(had, number);
  for (auto [had, number] : llvm::zip_equal(view.strides, strides))
    take(had, number);
}

FailureOr<View> Views::describe(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  auto type = cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitError(value.getLoc(), "expects a buffer with strides, but got ") << type;
  FailureOr<View> view = build(value);
  if (failed(view))
    return failure();
  takeFromType(*view, type, strides, offset);
  known.try_emplace(value, *view);
  return view;
}

FailureOr<View> Views::build(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return buildRoot(value);
  return TypeSwitch<Operation *, FailureOr<View>>(op)
      .Case([&](memref::SubViewOp op) { return buildSlice(op); })
      .Case([&](memref::ExpandShapeOp op) { return buildExpanded(op); })
      .Case([&](memref::CollapseShapeOp op) { return buildCollapsed(op); })
      .Case([&](memref::ReinterpretCastOp op) { return buildCast(op); })
      .Case([&](memref::ExtractStridedMetadataOp op) { return buildBase(op); })
      .Case([&](memref::CastOp op) {
        return isa<MemRefType>(op.getSource().getType()) ? describe(op.getSource()) : buildRoot(value);
      })
      .Default([&](Operation *) { return buildRoot(value); });
}

/// A buffer that is no view of another: its descriptor has the numbers that its type lacks.
FailureOr<View> Views::buildRoot(Value value) {
  auto type = cast<MemRefType>(value.getType());
  View view{value, {}, SmallVector<OpFoldResult>(type.getRank()), SmallVector<OpFoldResult>(type.getRank())};
  auto [strides, offset] = type.getStridesAndOffset();
  if (type.hasStaticShape() && !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic))
    return view;
  ImplicitLocOpBuilder b(value.getLoc(), type.getContext());
  b.setInsertionPointAfterValue(value);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, value);
  view.offset = metadata.getOffset();
  view.sizes.assign(metadata.getSizes().begin(), metadata.getSizes().end());
  view.strides.assign(metadata.getStrides().begin(), metadata.getStrides().end());
  return view;
}

FailureOr<View> Views::buildSlice(memref::SubViewOp op) {
  FailureOr<View> source = describe(op.getSource());
  FailureOr<SmallVector<int64_t>> kept = attn::findKeptDims(op.getStaticSizes(), op.getType().getShape());
  if (failed(source))
    return failure();
  if (failed(kept))
    return op.emitOpError("expects the sizes that are not 1 to be those of its result, but got ") << op.getType();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  View view{source->buffer, source->offset, {}, {}};
  for (auto [place, stride, offset, size, step] :
       llvm::zip_equal(*kept, source->strides, op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    view.offset = add(b, view.offset, multiply(b, offset, stride));
    if (place < 0)
      continue;
    view.sizes.push_back(size);
    view.strides.push_back(multiply(b, stride, step));
  }
  return view;
}

FailureOr<View> Views::buildExpanded(memref::ExpandShapeOp op) {
  FailureOr<View> source = describe(op.getSrc());
  if (failed(source))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  View view{source->buffer, source->offset, op.getMixedOutputShape(), {}};
  // Of a buffer without dimensions all are 1.
  view.strides.assign(view.sizes.size(), b.getIndexAttr(1));
  for (auto [stride, group] : llvm::zip(source->strides, op.getReassociationIndices()))
    for (int64_t dim : llvm::reverse(group)) {
      view.strides[dim] = stride;
      stride = multiply(b, stride, view.sizes[dim]);
    }
  return view;
}

/// The stride of merged dimensions: of the last one that is not 1. That of one item is any number.
static OpFoldResult mergedStride(ImplicitLocOpBuilder &b, const View &source, ArrayRef<int64_t> group) {
  OpFoldResult stride = source.strides[group.front()];
  bool isOfOneItem = getConstantIntValue(source.sizes[group.front()]) == 1;
  for (int64_t dim : group.drop_front()) {
    std::optional<int64_t> size = getConstantIntValue(source.sizes[dim]);
    OpFoldResult inner = source.strides[dim];
    if (size == 1 || inner == stride)
      continue;
    bool replaces = size || isOfOneItem;
    isOfOneItem = false;
    if (replaces) {
      stride = inner;
      continue;
    }
    Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, valueOf(b, source.sizes[dim]),
                                        valueOf(b, b.getIndexAttr(1)));
    stride = arith::SelectOp::create(b, isOne, valueOf(b, stride), valueOf(b, inner)).getResult();
  }
  return stride;
}

FailureOr<View> Views::buildCollapsed(memref::CollapseShapeOp op) {
  FailureOr<View> source = describe(op.getSrc());
  if (failed(source))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  View view{source->buffer, source->offset, {}, {}};
  auto [knownStrides, knownOffset] = op.getResultType().getStridesAndOffset();
  for (auto [group, size, stride] :
       llvm::zip(op.getReassociationIndices(), op.getResultType().getShape(), knownStrides)) {
    OpFoldResult product = b.getIndexAttr(1);
    if (ShapedType::isDynamic(size))
      for (int64_t dim : group)
        product = multiply(b, product, source->sizes[dim]);
    view.sizes.push_back(product);
    view.strides.push_back(ShapedType::isDynamic(stride) ? mergedStride(b, *source, group) : b.getIndexAttr(stride));
  }
  return view;
}

FailureOr<View> Views::buildCast(memref::ReinterpretCastOp op) {
  if (!isa<MemRefType>(op.getSource().getType()))
    return View{op.getSource(), op.getMixedOffsets().front(), op.getMixedSizes(), op.getMixedStrides()};
  FailureOr<View> source = describe(op.getSource());
  if (failed(source))
    return failure();
  return View{source->buffer, op.getMixedOffsets().front(), op.getMixedSizes(), op.getMixedStrides()};
}

FailureOr<View> Views::buildBase(memref::ExtractStridedMetadataOp op) {
  FailureOr<View> source = describe(op.getSource());
  if (failed(source))
    return failure();
  return View{source->buffer, OpBuilder(op).getIndexAttr(0), {}, {}};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::ReinterpretCastOp>(op);
}

/// Offset, sizes and strides of a view, from the ops that made it; constants where the type knows them, so that a
/// product with a stride of 1 is none.
static void replaceNumbers(memref::ExtractStridedMetadataOp op, const View &source) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto replace = [&](Value had, OpFoldResult number) {
    if (!had.use_empty())
      had.replaceAllUsesWith(valueOf(b, number));
  };
  replace(op.getOffset(), source.offset);
  for (auto [had, number] : llvm::zip_equal(op.getSizes(), source.sizes))
    replace(had, number);
  for (auto [had, number] : llvm::zip_equal(op.getStrides(), source.strides))
    replace(had, number);
}

namespace {

struct ExpandViews : attn::flash::impl::ExpandViewsPassBase<ExpandViews> {
  void runOnOperation() override {
    // Numbers of a view are values that dominate it, so that what they come from is replaced before.
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder, ForwardDominanceIterator<>>([&](Operation *op) {
      if (isView(op) ||
          isa<memref::CastOp, memref::ExtractStridedMetadataOp, memref::ExtractAlignedPointerAsIndexOp>(op))
        ops.push_back(op);
    });
    Views views;
    for (Operation *op : ops)
      if (failed(expand(op, views)))
        return signalPassFailure();
    for (Operation *op : llvm::reverse(ops))
      finish(op, views);
  }

private:
  static LogicalResult expand(Operation *op, Views &views) {
    if (isView(op))
      return views.describe(op->getResult(0));
    Value source = op->getOperand(0);
    if (isa<memref::CastOp>(op) || !isa<MemRefType>(source.getType()))
      return success();
    FailureOr<View> view = views.describe(source);
    if (failed(view))
      return failure();
    if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      replaceNumbers(metadata, *view);
    else
      op->setOperand(0, view->buffer);
    return success();
  }

  /// Replaces what is left of a view by a cast of the buffer. The views of it are done already.
  static void finish(Operation *op, Views &views) {
    auto isUnchanged = [&](const View &view) { return view.buffer == op->getOperand(0); };
    Value value = op->getResult(0);
    if (!value.use_empty() && !isa<memref::CastOp, memref::ExtractAlignedPointerAsIndexOp>(op)) {
      View view = *views.describe(value);
      if (isView(op) ? !isa<memref::ReinterpretCastOp>(op) || !isUnchanged(view) : !isUnchanged(view)) {
        ImplicitLocOpBuilder b(op->getLoc(), op);
        value.replaceAllUsesWith(memref::ReinterpretCastOp::create(b, cast<MemRefType>(value.getType()), view.buffer,
                                                                   view.offset, view.sizes, view.strides));
      }
    }
    if (op->use_empty())
      op->erase();
  }
};

} // namespace
