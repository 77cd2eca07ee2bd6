//===- LoopNest.cpp - loops of a linalg op on lanes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parallel dimensions are outside, cut into items of enough work each; reductions are inside and carry what they have
// so far in registers. Where the lanes run along a reduction, each lane has its own sum, and the end of the loop a
// vector of its own; they are joined in one fixed order. What is left behind the last whole vector is done under a
// mask, by the same vector code, so that a result does not depend on where its element is.
//
//===----------------------------------------------------------------------===//

#include "../FlashLanes/Loops.h"
#include "../FlashToCpu/TileAccess.h"
#include "Grid.h"
#include "LoopBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::loops;
using namespace attn::lanes;

namespace {

class LoopNest {
public:
  explicit LoopNest(const LoopPlan &plan) : plan(plan) {}
  void build(ImplicitLocOpBuilder &b);

private:
  using Carried = SmallVector<Value>;
  using Step = llvm::function_ref<Carried(ImplicitLocOpBuilder &, ValueRange)>;

  SmallVector<GridDim> gridOf(ImplicitLocOpBuilder &b) const;
  void buildRows(ImplicitLocOpBuilder &b, ArrayRef<unsigned> dims);
  void buildAlongLanes(ImplicitLocOpBuilder &b, Value low, Value high);
  void buildPoint(ImplicitLocOpBuilder &b);
  void buildLaneReduction(ImplicitLocOpBuilder &b);
  Carried buildReductions(ImplicitLocOpBuilder &b, ArrayRef<unsigned> dims, ValueRange start, Step step);
  Carried join(ImplicitLocOpBuilder &b, ValueRange soFar);
  void setLanes(ImplicitLocOpBuilder &b, Value low, Value high, int64_t lanes, bool isPartial);
  Value loadSum(ImplicitLocOpBuilder &b, unsigned output);
  void storeSum(ImplicitLocOpBuilder &b, unsigned output, Value value);

  unsigned operandOf(unsigned output) const { return plan.op.getNumDpsInputs() + output; }
  const Combiner *combinerOf(unsigned output) const {
    bool has = output < plan.combiners.size() && plan.combiners[output];
    return has ? &*plan.combiners[output] : nullptr;
  }

  const LoopPlan &plan;
  SmallVector<Value> sizes;
  /// Of the tile, by loop dimension; reductions from 0 to their size.
  SmallVector<Value> lows, highs;
  LoopPoint point;
};

} // namespace

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void LoopNest::setLanes(ImplicitLocOpBuilder &b, Value low, Value high, int64_t lanes, bool isPartial) {
  point.indices[*plan.laneDim] = low;
  point.lanes = lanes;
  point.live = isPartial ? LiveLanes::upTo(b, low, high, lanes) : LiveLanes{};
}

/// An output's element in the type that its sum is kept in.
Value LoopNest::loadSum(ImplicitLocOpBuilder &b, unsigned output) {
  LoopBody body(plan, b, point);
  Value value = body.load(operandOf(output));
  if (const Combiner *combiner = combinerOf(output); combiner && isa<FloatType>(combiner->type))
    value = convertElement(b, value, combiner->type);
  return point.lanes > 1 && !plan.isLaneReduction() ? body.widen(value) : value;
}

void LoopNest::storeSum(ImplicitLocOpBuilder &b, unsigned output, Value value) {
  Type element = getElementTypeOrSelf(plan.op->getOperand(operandOf(output)).getType());
  if (isa<FloatType>(element))
    value = convertElement(b, value, element);
  LoopBody(plan, b, point).store(operandOf(output), value);
}

/// The next state of each output, from the body at the point.
LoopNest::Carried LoopNest::join(ImplicitLocOpBuilder &b, ValueRange soFar) {
  LoopBody body(plan, b, point);
  Carried next = body.compute(soFar);
  for (auto [output, value] : llvm::enumerate(next)) {
    if (const Combiner *combiner = combinerOf(output)) {
      if (isa<FloatType>(combiner->type))
        value = convertElement(b, value, combiner->type);
      value = combiner->combine(b, soFar[output], body.widen(value));
    } else if (point.lanes > 1) {
      value = body.widen(value);
    }
  }
  return next;
}

LoopNest::Carried LoopNest::buildReductions(ImplicitLocOpBuilder &b, ArrayRef<unsigned> dims, ValueRange start,
                                            Step step) {
  if (dims.empty())
    return step(b, start);
  return buildCarryingLoop(b, constantIndex(b, 0), sizes[dims.front()], 1, start,
                           [&](ImplicitLocOpBuilder &b, Value index, ValueRange carried) {
                             point.indices[dims.front()] = index;
                             return buildReductions(b, dims.drop_front(), carried, step);
                           });
}

/// All of the outputs' elements at a point of the parallel dimensions, where lanes, if any, run along one of them.
void LoopNest::buildPoint(ImplicitLocOpBuilder &b) {
  unsigned outputs = plan.op.getNumDpsInits(), inputs = plan.op.getNumDpsInputs();
  Carried state;
  bool readsOutputs = llvm::any_of(plan.op.getBlock()->getArguments().drop_front(inputs),
                                   [](BlockArgument argument) { return !argument.use_empty(); });
  if (!plan.reductionDims.empty() || readsOutputs)
    for (unsigned output = 0; output < outputs; ++output)
      state.push_back(loadSum(b, output));
  if (plan.reductionDims.empty())
    state = LoopBody(plan, b, point).compute(state);
  else
    state = buildReductions(b, plan.reductionDims, state,
                            [&](ImplicitLocOpBuilder &b, ValueRange carried) { return join(b, carried); });
  for (unsigned output = 0; output < outputs; ++output)
    storeSum(b, output, state[output]);
}

/// Whole vectors, then what is left.
void LoopNest::buildAlongLanes(ImplicitLocOpBuilder &b, Value low, Value high) {
  int64_t mainLanes = plan.sizes.mainLanes;
  Value size = b.createOrFold<arith::SubIOp>(high, low);
  Value rest = b.createOrFold<arith::RemUIOp>(size, constantIndex(b, mainLanes));
  // Tiles begin at whole vectors, so the end of all of them decides.
  if (std::optional<int64_t> known = getConstantIntValue(sizes[*plan.laneDim]); known && *known % mainLanes == 0)
    rest = constantIndex(b, 0);
  Value end = b.createOrFold<arith::SubIOp>(high, rest);
  buildLoop(b, low, end, mainLanes, [&](ImplicitLocOpBuilder &b, Value index) {
    setLanes(b, index, high, mainLanes, /*isPartial=*/false);
    buildPoint(b);
  });
  if (getConstantIntValue(rest) == 0)
    return;
  buildLoop(b, end, high, plan.sizes.lanes, [&](ImplicitLocOpBuilder &b, Value index) {
    setLanes(b, index, high, plan.sizes.lanes, /*isPartial=*/true);
    buildPoint(b);
  });
}

//===----------------------------------------------------------------------===//
// Reductions along the lanes
//===----------------------------------------------------------------------===//

/// Joins the halves of a vector until it has `lanes` lanes.
static Value foldLanes(ImplicitLocOpBuilder &b, const Combiner &combiner, Value value, int64_t lanes) {
  for (int64_t size = cast<VectorType>(value.getType()).getDimSize(0); size > lanes; size /= 2) {
    SmallVector<int64_t> low(size / 2), high(size / 2);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), size / 2);
    value = combiner.combine(b, vector::ShuffleOp::create(b, value, value, low),
                             vector::ShuffleOp::create(b, value, value, high));
  }
  return value;
}

void LoopNest::buildLaneReduction(ImplicitLocOpBuilder &b) {
  unsigned outputs = plan.op.getNumDpsInits(), lane = *plan.laneDim;
  int64_t mainLanes = plan.sizes.mainLanes, lanes = plan.sizes.lanes;
  Value zero = constantIndex(b, 0), size = sizes[lane];
  Value rest = b.createOrFold<arith::RemUIOp>(size, constantIndex(b, mainLanes));
  Value end = b.createOrFold<arith::SubIOp>(size, rest);
  Carried start;
  for (int64_t count : {mainLanes, lanes})
    for (unsigned output = 0; output < outputs; ++output)
      start.push_back(combinerOf(output)->identity(b, VectorType::get({count}, combinerOf(output)->type)));
  SmallVector<unsigned> outer;
  llvm::copy_if(plan.reductionDims, std::back_inserter(outer), [&](unsigned dim) { return dim != lane; });
  Carried sums = buildReductions(b, outer, start, [&](ImplicitLocOpBuilder &b, ValueRange carried) {
    auto whole = [&](ImplicitLocOpBuilder &b, Value index, ValueRange soFar) {
      setLanes(b, index, size, mainLanes, /*isPartial=*/false);
      return join(b, soFar);
    };
    auto partial = [&](ImplicitLocOpBuilder &b, Value index, ValueRange soFar) {
      setLanes(b, index, size, lanes, /*isPartial=*/true);
      Carried next = join(b, soFar);
      for (auto [value, previous] : llvm::zip(next, soFar))
        value = arith::SelectOp::create(b, point.live.mask, value, previous);
      return next;
    };
    Carried next = buildCarryingLoop(b, zero, end, mainLanes, carried.take_front(outputs), whole);
    Carried tail(carried.drop_front(outputs));
    if (getConstantIntValue(rest) != 0)
      tail = buildCarryingLoop(b, end, size, lanes, tail, partial);
    llvm::append_range(next, tail);
    return next;
  });
  point.lanes = 1;
  point.live = {};
  for (unsigned output = 0; output < outputs; ++output) {
    const Combiner &combiner = *combinerOf(output);
    Value sum = foldLanes(b, combiner, sums[output], lanes);
    sum = foldLanes(b, combiner, combiner.combine(b, sum, sums[outputs + output]), 1);
    sum = vector::ExtractOp::create(b, sum, ArrayRef<int64_t>{0});
    storeSum(b, output, combiner.combine(b, loadSum(b, output), sum));
  }
}

//===----------------------------------------------------------------------===//
// The nest
//===----------------------------------------------------------------------===//

/// Steps of the parallel dimensions, innermost first, so that a tile has the work of an item. Whole vectors of lanes.
SmallVector<GridDim> LoopNest::gridOf(ImplicitLocOpBuilder &b) const {
  Value one = constantIndex(b, 1), limit = constantIndex(b, plan.sizes.itemWork);
  Value work = constantIndex(b, plan.sizes.elementWork);
  auto multiply = [&](Value factor) {
    // Held below the limit at each step: it is compared with nothing larger, and cannot overflow.
    Value held = b.createOrFold<arith::MinUIOp>(factor, limit);
    work = b.createOrFold<arith::MinUIOp>(b.createOrFold<arith::MulIOp>(work, held), limit);
    work = b.createOrFold<arith::MaxUIOp>(work, one);
  };
  for (unsigned dim : plan.reductionDims)
    multiply(sizes[dim]);
  SmallVector<GridDim> grid(plan.parallelDims.size());
  SmallVector<unsigned> order;
  for (auto [number, dim] : llvm::enumerate(plan.parallelDims))
    if (plan.laneDim != dim)
      order.push_back(number);
  if (plan.laneDim && !plan.isLaneReduction())
    order.push_back(llvm::find(plan.parallelDims, *plan.laneDim) - plan.parallelDims.begin());
  for (unsigned number : llvm::reverse(order)) {
    unsigned dim = plan.parallelDims[number];
    Value step = b.createOrFold<arith::CeilDivUIOp>(limit, work);
    if (plan.laneDim == dim) {
      Value lanes = constantIndex(b, plan.sizes.mainLanes);
      step = b.createOrFold<arith::MulIOp>(b.createOrFold<arith::CeilDivUIOp>(step, lanes), lanes);
    }
    step = b.createOrFold<arith::MinUIOp>(step, b.createOrFold<arith::MaxUIOp>(sizes[dim], one));
    grid[number] = {sizes[dim], step};
    multiply(step);
  }
  return grid;
}

/// Loops over `dims` of the tile, then what is inside.
void LoopNest::buildRows(ImplicitLocOpBuilder &b, ArrayRef<unsigned> dims) {
  if (!dims.empty() && plan.laneDim == dims.front())
    return buildRows(b, dims.drop_front());
  if (!dims.empty())
    return buildLoop(b, lows[dims.front()], highs[dims.front()], 1, [&](ImplicitLocOpBuilder &b, Value index) {
      point.indices[dims.front()] = index;
      buildRows(b, dims.drop_front());
    });
  if (plan.isLaneReduction())
    return buildLaneReduction(b);
  if (plan.laneDim)
    return buildAlongLanes(b, lows[*plan.laneDim], highs[*plan.laneDim]);
  buildPoint(b);
}

void LoopNest::build(ImplicitLocOpBuilder &b) {
  Value zero = constantIndex(b, 0);
  unsigned loops = plan.op.getNumLoops();
  auto toValue = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), size); };
  for (Range range : plan.op.createLoopRanges(b, b.getLoc()))
    sizes.push_back(toValue(range.size));
  lows.assign(loops, zero);
  highs = sizes;
  point.indices.assign(loops, zero);
  buildGrid(b, gridOf(b), /*isParallel=*/true, [&](ImplicitLocOpBuilder &b, ValueRange tileLows, ValueRange tileHighs) {
    for (auto [number, dim] : llvm::enumerate(plan.parallelDims)) {
      lows[dim] = tileLows[number];
      highs[dim] = tileHighs[number];
    }
    buildRows(b, plan.parallelDims);
  });
}

void loops::buildLoops(const LoopPlan &plan) {
  ImplicitLocOpBuilder b(plan.op.getLoc(), plan.op.getOperation());
  LoopNest(plan).build(b);
}
