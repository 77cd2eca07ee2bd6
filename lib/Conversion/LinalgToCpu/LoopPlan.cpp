//===- LoopPlan.cpp - how the loops of a linalg op are run --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes are the dimension along which the operands are read and written in the fewest steps: contiguous ones take
// one a vector, others one an element.
//
//===----------------------------------------------------------------------===//

#include "LoopPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;
using namespace attn::loops;

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

static bool isCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp,
             arith::MaxUIOp, arith::MinUIOp>(op);
}

static TypedAttr identityOf(Operation *op, Type type) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    bool isMin = isa<arith::MinimumFOp>(op);
    APFloat value = isa<arith::AddFOp>(op)                        ? APFloat::getZero(semantics, /*Negative=*/true)
                    : isa<arith::MulFOp>(op)                      ? APFloat::getOne(semantics)
                    : isa<arith::MaxNumFOp, arith::MinNumFOp>(op) ? APFloat::getNaN(semantics)
                                                                  : APFloat::getInf(semantics, !isMin);
    return FloatAttr::get(real, value);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt value = isa<arith::MulIOp>(op)                   ? APInt(bits, 1)
                : isa<arith::AndIOp, arith::MinUIOp>(op) ? APInt::getAllOnes(bits)
                : isa<arith::MaxSIOp>(op)                ? APInt::getSignedMinValue(bits)
                : isa<arith::MinSIOp>(op)                ? APInt::getSignedMaxValue(bits)
                                                         : APInt::getZero(bits);
  return IntegerAttr::get(type, value);
}

Value Combiner::identity(ImplicitLocOpBuilder &b, Type valueType) const {
  TypedAttr scalar = identityOf(op, getElementTypeOrSelf(valueType));
  auto vector = dyn_cast<VectorType>(valueType);
  return arith::ConstantOp::create(b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar);
}

Value Combiner::combine(ImplicitLocOpBuilder &b, Value x, Value y) const {
  OperationState state(b.getLoc(), op->getName(), {x, y}, {x.getType()}, op->getAttrs());
  return b.create(state)->getResult(0);
}

/// The combiner of output number `number`; nothing where the body uses what there is so far in another way.
static std::optional<Combiner> matchCombiner(linalg::LinalgOp op, unsigned number) {
  Block &body = *op.getBlock();
  BlockArgument soFar = body.getArgument(op.getNumDpsInputs() + number);
  Operation *combiner = body.getTerminator()->getOperand(number).getDefiningOp();
  if (!combiner || !isCombiner(combiner) || !soFar.hasOneUse() || *soFar.user_begin() != combiner ||
      !combiner->hasOneUse() || soFar.getType().isIndex())
    return std::nullopt;
  Type type = soFar.getType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    type = Float32Type::get(op.getContext());
  return Combiner{combiner, combiner->getOperand(combiner->getOperand(0) == soFar ? 1 : 0), type};
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isDivision(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp>(op);
}

/// True if the body may run on lanes: behind the end of memory there are lanes, too, which must not trap.
static bool mayHaveLanes(Block &body) {
  auto isElement = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!llvm::all_of(body.getArgumentTypes(), isElement))
    return false;
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    bool isScalar = llvm::all_of(op.getResultTypes(), isElement);
    if (isa<linalg::IndexOp, memref::LoadOp, arith::ConstantOp>(op))
      return isScalar;
    return isScalar && !isDivision(op) && OpTrait::hasElementwiseMappableTraits(&op);
  });
}

static bool hasEffects(Block &body) {
  return llvm::any_of(body.without_terminator(),
                      [](Operation &op) { return !isa<memref::LoadOp>(op) && !isMemoryEffectFree(&op); });
}

static LoopQuery queryOf(linalg::LinalgOp op, bool carriesLanes) {
  LoopQuery query{8, 0, 0, carriesLanes};
  auto widen = [&](Type type) {
    if (type.isIntOrFloat())
      query.elementBits = std::max(query.elementBits, type.getIntOrFloatBitWidth());
  };
  for (BlockArgument argument : op.getBlock()->getArguments())
    widen(argument.getType());
  for (Operation &inner : op.getBlock()->without_terminator()) {
    llvm::for_each(inner.getResultTypes(), widen);
    bool isMath =
        isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(inner);
    ++(isMath ? query.functions : query.operations);
  }
  return query;
}

//===----------------------------------------------------------------------===//
// The choice of lanes
//===----------------------------------------------------------------------===//

static Access accessOf(Value operand, AffineMap map, unsigned dim) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type || !map.isFunctionOfDim(dim))
    return Access::Uniform;
  ArrayRef<AffineExpr> results = map.getResults();
  bool isLast = results.back() == getAffineDimExpr(dim, map.getContext());
  bool isElsewhere = llvm::any_of(results.drop_back(), [&](AffineExpr result) { return result.isFunctionOfDim(dim); });
  // A vector of i1 or i4 has bits, memory bytes.
  Type element = type.getElementType();
  bool hasBytes = element.isIndex() || element.getIntOrFloatBitWidth() % 8 == 0;
  if (!isLast || isElsewhere || !type.isLastDimUnitStride() || !hasBytes)
    return Access::Strided;
  return Access::Contiguous;
}

static SmallVector<Access> accessesOf(linalg::LinalgOp op, unsigned dim) {
  SmallVector<Access> accesses;
  for (auto [operand, map] : llvm::zip(op->getOperands(), op.getIndexingMapsArray()))
    accesses.push_back(accessOf(operand, map, dim));
  return accesses;
}

/// Steps that an element takes where `dim` has the lanes; more where vectors are not full.
static double costOf(const LoopPlan &plan, unsigned dim, int64_t size) {
  double cost = llvm::is_contained(plan.reductionDims, dim) ? 0.75 : 0.5;
  for (Access access : accessesOf(plan.op, dim))
    cost += access == Access::Strided ? 8 : access == Access::Contiguous ? 1 : 0.25;
  if (ShapedType::isDynamic(size))
    return cost;
  int64_t lanes = plan.sizes.lanes;
  return cost * llvm::alignTo(size, lanes) / size;
}

static void chooseLanes(LoopPlan &plan) {
  SmallVector<int64_t> ranges = plan.op.getStaticLoopRanges();
  std::optional<double> least;
  for (unsigned dim = 0; dim < ranges.size(); ++dim) {
    bool isReduction = llvm::is_contained(plan.reductionDims, dim);
    bool mayReduce = llvm::all_of(plan.combiners, [](const auto &combiner) { return combiner.has_value(); });
    if ((ranges[dim] >= 0 && ranges[dim] < 2) || (isReduction && !mayReduce))
      continue;
    double cost = costOf(plan, dim, ranges[dim]);
    if (least && cost > *least)
      continue;
    least = cost;
    plan.laneDim = dim;
  }
}

/// True if an output has elements of their own for the points of a reduction: what is carried through the loops of
/// reductions is one value for each output.
static bool stepsWithReduction(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    return llvm::any_of(reductions, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  });
}

std::optional<LoopPlan> loops::planLoops(linalg::LinalgOp op, const TargetDescription &target) {
  auto isSupported = [](Type type) { return isa<MemRefType>(type) || type.isIntOrIndexOrFloat(); };
  if (!op.hasPureBufferSemantics() || !llvm::all_of(op->getOperandTypes(), isSupported) || hasEffects(*op.getBlock()) ||
      stepsWithReduction(op))
    return std::nullopt;
  LoopPlan plan{op, {}, {}, {}, {}, {}, {}};
  op.getParallelDims(plan.parallelDims);
  op.getReductionDims(plan.reductionDims);
  if (plan.parallelDims.size() + plan.reductionDims.size() != op.getNumLoops())
    return std::nullopt;
  if (!plan.reductionDims.empty())
    for (int64_t number = 0; number < op.getNumDpsInits(); ++number)
      plan.combiners.push_back(matchCombiner(op, number));
  plan.sizes = chooseLoop(target, queryOf(op, false));
  if (mayHaveLanes(*op.getBlock()))
    chooseLanes(plan);
  plan.sizes = chooseLoop(target, queryOf(op, plan.isLaneReduction()));
  if (plan.laneDim)
    plan.accesses = accessesOf(op, *plan.laneDim);
  else
    plan.accesses.assign(op->getNumOperands(), Access::Uniform);
  return plan;
}
