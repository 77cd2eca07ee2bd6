//===- RaiseGather.cpp - tensor.gather as linalg.generic ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   result[n..., s...] = source[s..., with indices[n..., k] in dimension gather_dims[k]]
//
// Each element of the result reads its own; attn-insert-checks puts a check in front of the reads.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {

/// Where the dimensions of a gather's source and indices are among those of its result.
struct GatherDims {
  explicit GatherDims(tensor::GatherOp op)
      : gathered(op.getGatherDims()), leading(op.getIndicesType().getRank() - 1),
        keepsUnits(op.getResultType().getRank() == leading + op.getSourceType().getRank()) {}

  bool isGathered(int64_t sourceDim) const { return llvm::is_contained(gathered, sourceDim); }

  /// For each dimension of the source, that of the result; nothing where the result lacks it.
  SmallVector<std::optional<int64_t>> ofSource(int64_t rank) const {
    SmallVector<std::optional<int64_t>> dims;
    int64_t next = leading;
    for (int64_t k = 0; k < rank; ++k)
      dims.push_back(isGathered(k) && !keepsUnits ? std::nullopt : std::optional<int64_t>(next++));
    return dims;
  }

  SmallVector<int64_t> gathered;
  int64_t leading;
  bool keepsUnits;
};

} // namespace

static SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &b, tensor::GatherOp op, const GatherDims &dims) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t k = 0; k < dims.leading; ++k)
    sizes.push_back(tensor::getMixedSize(b, b.getLoc(), op.getIndices(), k));
  for (auto [k, dim] : llvm::enumerate(dims.ofSource(op.getSourceType().getRank())))
    if (dim)
      sizes.push_back(dims.isGathered(k) ? OpFoldResult(b.getIndexAttr(1))
                                         : tensor::getMixedSize(b, b.getLoc(), op.getSource(), k));
  return sizes;
}

/// The element of the result at the loops' indices.
static Value buildElement(ImplicitLocOpBuilder &b, tensor::GatherOp op, const GatherDims &dims) {
  auto loopIndex = [&](int64_t dim) -> Value { return linalg::IndexOp::create(b, dim); };
  SmallVector<Value> position;
  for (int64_t k = 0; k < dims.leading; ++k)
    position.push_back(loopIndex(k));
  position.push_back(Value());
  SmallVector<Value> place(op.getSourceType().getRank());
  for (auto [k, dim] : llvm::enumerate(dims.gathered)) {
    position.back() = arith::ConstantIndexOp::create(b, k);
    place[dim] = tensor::ExtractOp::create(b, op.getIndices(), position);
    if (!place[dim].getType().isIndex())
      place[dim] = arith::IndexCastOp::create(b, b.getIndexType(), place[dim]);
  }
  for (auto [k, dim] : llvm::enumerate(dims.ofSource(place.size())))
    if (!dims.isGathered(k))
      place[k] = loopIndex(*dim);
  return tensor::ExtractOp::create(b, op.getSource(), place);
}

LogicalResult attn::raiseGather(Operation *op) {
  auto gather = cast<tensor::GatherOp>(op);
  ImplicitLocOpBuilder b(op->getLoc(), op);
  GatherDims dims(gather);
  RankedTensorType type = gather.getResultType();
  Value init = tensor::EmptyOp::create(b, sizesOf(b, gather, dims), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto build = [&](OpBuilder &nested, Location loc, ValueRange) {
    ImplicitLocOpBuilder inner(loc, nested);
    linalg::YieldOp::create(inner, buildElement(inner, gather, dims));
  };
  Value raised = linalg::GenericOp::create(b, init.getType(), ValueRange(), init,
                                           b.getMultiDimIdentityMap(type.getRank()), iterators, build)
                     .getResult(0);
  if (raised.getType() != type)
    raised = tensor::CastOp::create(b, type, raised);
  op->getResult(0).replaceAllUsesWith(raised);
  op->erase();
  return success();
}
