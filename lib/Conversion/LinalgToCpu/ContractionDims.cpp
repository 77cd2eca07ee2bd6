//===- ContractionDims.cpp - which ops are matrix products --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;
using namespace attn::loops;

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The block argument that `value` is, or is a widened form of; null for anything else.
static BlockArgument argumentOf(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// True for `yield out + left * right`: with the operands of each in any order.
static bool isMultiplyAdd(Block &body) {
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  auto add = yield.getNumOperands() == 1 ? yield.getOperand(0).getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  if (!add)
    return false;
  for (auto [sum, product] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    // A product that was rounded in front of the sum is kept unrounded.
    auto multiply = product.getDefiningOp<arith::MulFOp>();
    BlockArgument out = argumentOf(sum);
    if (!multiply || !out || out.getArgNumber() != 2 || sum.getType() != out.getType())
      continue;
    BlockArgument left = argumentOf(multiply.getLhs()), right = argumentOf(multiply.getRhs());
    if (left && right && left.getArgNumber() + right.getArgNumber() == 1)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

bool loops::isContiguousAlong(Value operand, AffineMap map, unsigned dim) {
  auto type = cast<MemRefType>(operand.getType());
  return map.getNumResults() > 0 && map.isFunctionOfDim(dim) && map.getDimPosition(map.getNumResults() - 1) == dim &&
         type.isLastDimUnitStride();
}

/// The one to block of several loops of a kind: contiguous in `operand` if there is one, else the largest, the
/// innermost of equals. Sizes that only the run knows count as large.
static std::optional<unsigned> pickDim(ArrayRef<unsigned> dims, ArrayRef<int64_t> ranges, Value operand,
                                       AffineMap map) {
  std::optional<unsigned> best;
  auto rank = [&](unsigned dim) {
    int64_t size = ShapedType::isDynamic(ranges[dim]) ? int64_t(1) << 31 : ranges[dim];
    return std::pair(isContiguousAlong(operand, map, dim) && size > 1, size);
  };
  for (unsigned dim : dims)
    if (!best || rank(dim) >= rank(*best))
      best = dim;
  return best;
}

/// Sorts the loops into kinds; false if one is of none.
static bool sortLoops(const ContractionDims &dims, SmallVectorImpl<unsigned> &batch, SmallVectorImpl<unsigned> &m,
                      SmallVectorImpl<unsigned> &n, SmallVectorImpl<unsigned> &k) {
  for (unsigned dim = 0; dim < dims.outMap.getNumDims(); ++dim) {
    bool inLeft = dims.leftMap.isFunctionOfDim(dim), inRight = dims.rightMap.isFunctionOfDim(dim);
    if (!dims.outMap.isFunctionOfDim(dim)) {
      if (!inLeft || !inRight)
        return false;
      k.push_back(dim);
    } else if (inLeft != inRight) {
      (inLeft ? m : n).push_back(dim);
    } else if (inLeft) {
      batch.push_back(dim);
    } else {
      return false;
    }
  }
  return !k.empty();
}

std::optional<ContractionDims> loops::matchContraction(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics() ||
      !isMultiplyAdd(*op.getBlock()))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  ContractionDims dims{
      op->getOperand(0), op->getOperand(1), op->getOperand(2), maps[0], maps[1], maps[2], {}, 0, 0, {}, {}, {}};
  if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return std::nullopt;
  Type element = getElementTypeOrSelf(dims.out.getType());
  dims.sumType = element.isF64() ? FloatType(Float64Type::get(op.getContext())) : Float32Type::get(op.getContext());
  SmallVector<unsigned> batch, m, n, k;
  if (!sortLoops(dims, batch, m, n, k))
    return std::nullopt;
  auto isContiguous = [&](unsigned dim) { return isContiguousAlong(dims.out, dims.outMap, dim); };
  if (n.empty() || (llvm::any_of(m, isContiguous) && llvm::none_of(n, isContiguous))) {
    std::swap(dims.left, dims.right);
    std::swap(dims.leftMap, dims.rightMap);
    std::swap(m, n);
  }
  if (n.empty())
    return std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  dims.n = *pickDim(n, ranges, dims.out, dims.outMap);
  dims.k = *pickDim(k, ranges, dims.left, dims.leftMap);
  dims.m = pickDim(m, ranges, dims.out, dims.outMap);
  for (unsigned dim : llvm::concat<unsigned>(batch, m, n))
    if (dim != dims.m && dim != dims.n)
      dims.outerParallel.push_back(dim);
  llvm::copy_if(k, std::back_inserter(dims.outerReduction), [&](unsigned dim) { return dim != dims.k; });
  return dims;
}

ContractionQuery loops::queryOf(linalg::LinalgOp op, const ContractionDims &dims) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto extent = [&](unsigned dim) { return ShapedType::isDynamic(ranges[dim]) ? -1 : ranges[dim]; };
  ContractionQuery query{dims.m ? extent(*dims.m) : 1,
                         extent(dims.n),
                         extent(dims.k),
                         1,
                         Type(dims.sumType).getIntOrFloatBitWidth(),
                         isContiguousAlong(dims.right, dims.rightMap, dims.n)};
  for (unsigned dim : dims.outerParallel)
    query.outer = query.outer < 0 || extent(dim) < 0 ? -1 : query.outer * extent(dim);
  return query;
}
