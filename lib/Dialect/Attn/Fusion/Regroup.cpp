//===- Regroup.cpp - tensors in the dimensions that attention has ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BuildAttention.h"
#include "RegionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

SmallVector<OpFoldResult> fusion::sizesOf(ImplicitLocOpBuilder &builder, Elements &elements, ArrayRef<Axis> axes) {
  Expressions &expressions = elements.expressions;
  SmallVector<OpFoldResult> sizes;
  for (const Axis &axis : axes) {
    ExprRef size = expressions.integer(1);
    for (ExprRef atom : axis.atoms)
      size = expressions.product(size, elements.extentOf(atom));
    if (std::optional<int64_t> known = size->getInteger())
      sizes.push_back(builder.getIndexAttr(*known));
    else
      sizes.push_back(RegionBuilder(builder, expressions).build(size, builder.getIndexType()));
  }
  return sizes;
}

/// What the sizes of the indices say: reshapes want a dimension open where one of its indices is.
static RankedTensorType typeOf(ImplicitLocOpBuilder &builder, Elements &elements, Value like, ArrayRef<Axis> axes) {
  SmallVector<int64_t> shape;
  for (const Axis &axis : axes) {
    int64_t product = 1;
    for (ExprRef atom : axis.atoms) {
      std::optional<int64_t> size = elements.extentOf(atom)->getInteger();
      product = ShapedType::isDynamic(product) || !size ? ShapedType::kDynamic : product * *size;
    }
    shape.push_back(product);
  }
  return RankedTensorType::get(shape, cast<ShapedType>(like.getType()).getElementType());
}

/// The tensor under the type that a reshape to or from these axes wants.
static Value castToAxes(ImplicitLocOpBuilder &builder, Elements &elements, Value tensor, ArrayRef<Axis> axes) {
  RankedTensorType type = typeOf(builder, elements, tensor, axes);
  return type == tensor.getType() ? tensor : tensor::CastOp::create(builder, type, tensor);
}

/// Drops the dimensions that are read at one place, and cuts the others to what is read of them.
static Value sliceToAxes(ImplicitLocOpBuilder &builder, Elements &elements, Value tensor, SmallVector<Axis> &axes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets, sizes = sizesOf(builder, elements, axes);
  SmallVector<OpFoldResult> strides(axes.size(), builder.getIndexAttr(1));
  bool isWhole = true, isEmpty = llvm::is_contained(type.getShape(), 0);
  for (auto [k, axis] : llvm::enumerate(axes)) {
    offsets.push_back(builder.getIndexAttr(axis.offset));
    std::optional<int64_t> size = getConstantIntValue(sizes[k]);
    isWhole &= axis.offset == 0 && !axis.atoms.empty() && (!size || *size == type.getDimSize(k));
    isEmpty |= size == 0;
  }
  SmallVector<OpFoldResult> kept;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    if (!axis.atoms.empty())
      kept.push_back(size);
  llvm::erase_if(axes, [](const Axis &axis) { return axis.atoms.empty(); });
  for (Axis &axis : axes)
    axis.offset = 0;
  if (isWhole)
    return tensor;
  // An offset must be less than the size of its dimension, so nothing can be cut out of an empty one.
  if (isEmpty)
    return tensor::EmptyOp::create(builder, kept, type.getElementType());
  SmallVector<int64_t> shape = llvm::map_to_vector(
      kept, [](OpFoldResult size) { return getConstantIntValue(size).value_or(ShapedType::kDynamic); });
  auto sliceType = RankedTensorType::get(shape, type.getElementType());
  return tensor::ExtractSliceOp::create(builder, sliceType, tensor, offsets, sizes, strides);
}

/// For each axis the positions of its indices in the order of all.
static SmallVector<ReassociationIndices> groupsOf(ArrayRef<Axis> axes) {
  SmallVector<ReassociationIndices> groups;
  int64_t position = 0;
  for (const Axis &axis : axes) {
    ReassociationIndices group;
    for (size_t k = 0; k < axis.atoms.size(); ++k)
      group.push_back(position++);
    groups.push_back(group);
  }
  return groups;
}

/// One axis for each index.
static SmallVector<Axis> flatten(ArrayRef<Axis> axes) {
  SmallVector<Axis> flat;
  for (const Axis &axis : axes)
    for (ExprRef atom : axis.atoms)
      flat.push_back({{atom}, 0});
  return flat;
}

static Value transpose(ImplicitLocOpBuilder &builder, Elements &elements, Value tensor, ArrayRef<Axis> from,
                       ArrayRef<Axis> to) {
  SmallVector<int64_t> permutation;
  for (const Axis &axis : to)
    permutation.push_back(llvm::find_if(from, [&](const Axis &a) { return a.atoms == axis.atoms; }) - from.begin());
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return tensor;
  Value empty = tensor::EmptyOp::create(builder, sizesOf(builder, elements, to),
                                        cast<ShapedType>(tensor.getType()).getElementType());
  return linalg::TransposeOp::create(builder, tensor, empty, permutation)->getResult(0);
}

/// Adds the dimensions of size 1.
static Value addUnits(ImplicitLocOpBuilder &builder, Elements &elements, Value tensor, ArrayRef<Axis> to) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [k, axis] : llvm::enumerate(to)) {
    if (axis.atoms.empty() && groups.empty())
      leading.push_back(k);
    else if (axis.atoms.empty())
      groups.back().push_back(k);
    else
      groups.push_back({int64_t(k)});
  }
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), leading.begin(), leading.end());
  return tensor::ExpandShapeOp::create(builder, typeOf(builder, elements, tensor, to), tensor, groups,
                                       sizesOf(builder, elements, to));
}

Value fusion::regroup(ImplicitLocOpBuilder &builder, Elements &elements, Value tensor, ArrayRef<Axis> from,
                      ArrayRef<Axis> to) {
  SmallVector<Axis> axes(from);
  tensor = sliceToAxes(builder, elements, tensor, axes);
  SmallVector<Axis> target, flatFrom = flatten(axes), flatTo = flatten(to);
  llvm::copy_if(to, std::back_inserter(target), [](const Axis &axis) { return !axis.atoms.empty(); });
  auto isSame = [](ArrayRef<Axis> a, ArrayRef<Axis> b) {
    return llvm::equal(a, b, [](const Axis &x, const Axis &y) { return x.atoms == y.atoms; });
  };
  if (!isSame(axes, target)) {
    tensor = castToAxes(builder, elements, tensor, axes);
    if (axes.size() != flatFrom.size())
      tensor = tensor::ExpandShapeOp::create(builder, typeOf(builder, elements, tensor, flatFrom), tensor,
                                             groupsOf(axes), sizesOf(builder, elements, flatFrom));
    tensor = transpose(builder, elements, tensor, flatFrom, flatTo);
    if (target.size() != flatTo.size())
      tensor =
          tensor::CollapseShapeOp::create(builder, typeOf(builder, elements, tensor, target), tensor, groupsOf(target));
  }
  if (target.size() == to.size())
    return tensor;
  return addUnits(builder, elements, castToAxes(builder, elements, tensor, target), to);
}
