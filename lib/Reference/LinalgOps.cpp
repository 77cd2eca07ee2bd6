//===- LinalgOps.cpp - the linalg and affine dialects --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every linalg op with a region, named or generic, is evaluated in one way: the body at each point of the iteration
// space, in row-major order, with elements read and written through the indexing maps.
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::reference;

namespace {

/// One result of an indexing map: base + sum of coefficients * loop index, or any affine expression.
struct MapResult {
  AffineExpr expr;
  bool isLinear = false;
  int64_t base = 0;
  SmallVector<int64_t> coefficients;
};

/// An operand of a linalg op with its indexing map.
struct Operand {
  Slot slot;
  /// The block argument that holds its element.
  unsigned element;
  SmallVector<MapResult> results;
};

/// An operand for given sizes: its element is at base + sum of strides * loop index, where all of its map is linear.
struct BoundOperand {
  const Operand *operand;
  std::shared_ptr<const Tensor> tensor;
  bool isLinear = true;
  int64_t base = 0;
  SmallVector<int64_t> strides;
};

/// Where an operand is in its tensor, while the innermost loop runs.
struct Cursor {
  const BoundOperand *operand;
  /// The elements that are read and written; null for an input.
  Scalar *output;
  int64_t position, step;
};

/// A compiled linalg op.
struct Loops {
  Operation *op;
  SmallVector<Operand> operands;
  unsigned numInputs;
  /// For each loop, the operand and dimension that its size comes from.
  SmallVector<std::pair<unsigned, unsigned>> sizes;
  SmallVector<unsigned> loopIndices;
  SmallVector<unsigned> results;
  bool isParallel = false;
  Body body;

  bool run(Frame &frame) const;
  std::optional<SmallVector<int64_t>> getShape(Frame &frame) const;
  bool bind(Frame &frame, const Operand &operand, ArrayRef<int64_t> shape, BoundOperand &bound) const;
  std::optional<int64_t> locate(Frame &frame, const BoundOperand &bound, ArrayRef<int64_t> index) const;
  bool runRange(Frame &frame, ArrayRef<BoundOperand> bound, ArrayRef<Tensor *> outputs, ArrayRef<int64_t> shape,
                int64_t begin, int64_t end) const;
  bool runInnermost(Frame &frame, ArrayRef<BoundOperand> bound, ArrayRef<Tensor *> outputs,
                    MutableArrayRef<int64_t> index, int64_t begin, int64_t end) const;
};

} // namespace

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

/// Value of an expression; nullopt for a division by zero or less.
static std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> index, ArrayRef<int64_t> symbols = {}) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return index[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = evaluate(binary.getLHS(), index, symbols),
                         rhs = evaluate(binary.getRHS(), index, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (expr.getKind() == AffineExprKind::Mul)
    return *lhs * *rhs;
  if (*rhs <= 0)
    return std::nullopt;
  int64_t remainder = (*lhs % *rhs + *rhs) % *rhs, floor = (*lhs - remainder) / *rhs;
  if (expr.getKind() == AffineExprKind::Mod)
    return remainder;
  return expr.getKind() == AffineExprKind::FloorDiv ? floor : floor + (remainder != 0);
}

static bool isLinear(AffineExpr expr) {
  bool result = true;
  expr.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    result &= kind == AffineExprKind::Add || kind == AffineExprKind::Mul || kind == AffineExprKind::Constant ||
              kind == AffineExprKind::DimId;
  });
  return result;
}

static MapResult analyze(AffineExpr expr, unsigned numLoops) {
  MapResult result;
  result.expr = expr;
  result.isLinear = isLinear(expr);
  if (!result.isLinear)
    return result;
  SmallVector<int64_t> index(numLoops, 0);
  result.base = *evaluate(expr, index);
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    index[loop] = 1;
    result.coefficients.push_back(*evaluate(expr, index) - result.base);
    index[loop] = 0;
  }
  return result;
}

/// affine.apply, affine.min and affine.max: one of the map's results, the smallest or the largest of them.
static Step compileAffine(Compiler &compiler, Operation *op, AffineMap map, bool isMax) {
  return
      [op, map, isMax, in = compiler.scalars(op->getOperands()), d = compiler.scalar(op->getResult(0))](Frame &frame) {
        SmallVector<int64_t> values, results;
        for (unsigned slot : in)
          values.push_back(frame.scalars[slot].integer);
        ArrayRef<int64_t> all(values);
        for (AffineExpr expr : map.getResults()) {
          std::optional<int64_t> result =
              evaluate(expr, all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
          if (!result)
            return frame.fail(op, "divides by zero or less");
          results.push_back(*result);
        }
        frame.scalars[d].integer = isMax ? *llvm::max_element(results) : *llvm::min_element(results);
        return true;
      };
}

/// Digits of a place, the last one fastest; the first has no end.
static Step compileDelinearize(Compiler &compiler, affine::AffineDelinearizeIndexOp op) {
  return [operation = op.getOperation(), sizes = compiler.getIndices(op.getMixedBasis()),
          x = compiler.scalar(op.getLinearIndex()), d = compiler.scalars(op.getResults())](Frame &frame) {
    SmallVector<int64_t> basis = llvm::map_to_vector(sizes, [&](const IndexSource &size) { return size.get(frame); });
    int64_t rest = frame.scalars[x].integer;
    for (size_t k = d.size(); k-- > 1;) {
      int64_t size = basis[basis.size() - (d.size() - k)];
      if (size <= 0)
        return frame.fail(operation, "divides by zero or less");
      int64_t digit = rest % size;
      rest = rest / size - (digit < 0);
      frame.scalars[d[k]].integer = digit + (digit < 0 ? size : 0);
    }
    if (!d.empty())
      frame.scalars[d[0]].integer = rest;
    return true;
  };
}

static Step compileLinearize(Compiler &compiler, affine::AffineLinearizeIndexOp op) {
  return [sizes = compiler.getIndices(op.getMixedBasis()), in = compiler.scalars(op.getMultiIndex()),
          d = compiler.scalar(op.getResult())](Frame &frame) {
    SmallVector<int64_t> basis = llvm::map_to_vector(sizes, [&](const IndexSource &size) { return size.get(frame); });
    uint64_t place = 0, stride = 1;
    for (size_t k = in.size(); k-- > 0;) {
      place += static_cast<uint64_t>(frame.scalars[in[k]].integer) * stride;
      if (size_t behind = in.size() - k; behind <= basis.size())
        stride *= static_cast<uint64_t>(basis[basis.size() - behind]);
    }
    frame.scalars[d].integer = static_cast<int64_t>(place);
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> Loops::getShape(Frame &frame) const {
  SmallVector<int64_t> shape;
  for (auto [operand, dim] : sizes)
    shape.push_back(frame.tensors[operands[operand].slot.index]->shape[dim]);
  if (!countElements(shape)) {
    frame.fail(op, "expects fewer than 2^63 iterations");
    return std::nullopt;
  }
  return shape;
}

bool Loops::bind(Frame &frame, const Operand &operand, ArrayRef<int64_t> shape, BoundOperand &bound) const {
  bound.operand = &operand;
  bound.strides.assign(shape.size(), 0);
  if (!operand.slot.isTensor)
    return true;
  bound.tensor = frame.tensors[operand.slot.index];
  bool empty = llvm::is_contained(shape, 0);
  SmallVector<int64_t> strides = getStrides(bound.tensor->shape);
  for (auto [k, result] : llvm::enumerate(operand.results)) {
    int64_t size = bound.tensor->shape[k];
    if (!result.isLinear) {
      bound.isLinear = false;
      continue;
    }
    // The corners of the iteration space bound the index.
    int64_t low = result.base, high = result.base;
    for (auto [coefficient, extent] : llvm::zip_equal(result.coefficients, shape)) {
      int64_t reach;
      if (!empty && (llvm::MulOverflow(coefficient, extent - 1, reach) ||
                     llvm::AddOverflow(reach < 0 ? low : high, reach, reach < 0 ? low : high)))
        return frame.fail(op, "computes an index that does not fit in 63 bits");
    }
    auto dim = dyn_cast<AffineDimExpr>(result.expr);
    bool agrees = dim ? shape[dim.getPosition()] == size : empty || (low >= 0 && high < size);
    if (!agrees)
      return frame.fail(op, "expects indices inside dimension " + Twine(k) + " of size " + Twine(size) +
                                ", but its loops give [" + Twine(low) + ", " + Twine(high) + "]");
    bound.base += result.base * strides[k];
    for (size_t loop = 0; loop < shape.size(); ++loop)
      bound.strides[loop] += result.coefficients[loop] * strides[k];
  }
  return true;
}

std::optional<int64_t> Loops::locate(Frame &frame, const BoundOperand &bound, ArrayRef<int64_t> index) const {
  int64_t position = bound.base;
  if (bound.isLinear) {
    for (auto [stride, value] : llvm::zip_equal(bound.strides, index))
      position += stride * value;
    return position;
  }
  position = 0;
  for (auto [k, result] : llvm::enumerate(bound.operand->results)) {
    std::optional<int64_t> value = evaluate(result.expr, index);
    int64_t size = bound.tensor->shape[k];
    if (!value || *value < 0 || *value >= size) {
      frame.fail(op, "computes an index that is outside dimension " + Twine(k) + " of size " + Twine(size));
      return std::nullopt;
    }
    position = position * size + *value;
  }
  return position;
}

/// All points of the innermost loop; index names the outer ones. Where the map is linear, an element is one step behind
/// the one before.
bool Loops::runInnermost(Frame &frame, ArrayRef<BoundOperand> bound, ArrayRef<Tensor *> outputs,
                         MutableArrayRef<int64_t> index, int64_t begin, int64_t end) const {
  SmallVector<Cursor> cursors;
  for (auto [k, operand] : llvm::enumerate(bound)) {
    if (!operand.tensor) {
      frame.scalars[operand.operand->element] = frame.scalars[operand.operand->slot.index];
      continue;
    }
    Cursor cursor{&operand, k < numInputs ? nullptr : outputs[k - numInputs]->data.data(), 0, 0};
    if (operand.isLinear) {
      std::optional<int64_t> first = locate(frame, operand, index);
      cursor.position = *first;
      cursor.step = index.empty() ? 0 : operand.strides.back();
    }
    cursors.push_back(cursor);
  }
  ArrayRef<Cursor> outputCursors = ArrayRef<Cursor>(cursors).take_back(outputs.size());
  for (int64_t inner = begin; inner < end; ++inner) {
    if (!index.empty()) {
      index.back() = inner;
      frame.scalars[loopIndices.back()].integer = inner;
    }
    for (Cursor &cursor : cursors) {
      if (!cursor.operand->isLinear) {
        std::optional<int64_t> position = locate(frame, *cursor.operand, index);
        if (!position)
          return false;
        cursor.position = *position;
      }
      const Scalar *source = cursor.output ? cursor.output : cursor.operand->tensor->data.data();
      frame.scalars[cursor.operand->operand->element] = source[cursor.position];
    }
    if (!body.program.run(frame))
      return false;
    for (size_t k = 0; k < outputCursors.size(); ++k)
      outputCursors[k].output[outputCursors[k].position] = frame.scalars[body.yields[k].index];
    for (Cursor &cursor : cursors)
      cursor.position += cursor.step;
  }
  return true;
}

/// Runs the part [begin, end) of the outermost loop (all of it where there is no loop).
bool Loops::runRange(Frame &frame, ArrayRef<BoundOperand> bound, ArrayRef<Tensor *> outputs, ArrayRef<int64_t> shape,
                     int64_t begin, int64_t end) const {
  if (llvm::is_contained(shape, 0) || begin >= end)
    return true;
  SmallVector<int64_t> index(shape.size(), 0);
  if (shape.size() <= 1) {
    if (!shape.empty())
      index.front() = begin;
    return runInnermost(frame, bound, outputs, index, begin, shape.empty() ? begin + 1 : end);
  }
  SmallVector<int64_t> outer = llvm::to_vector(shape.drop_back());
  outer.front() = end;
  index.front() = begin;
  do {
    for (size_t loop = 0; loop + 1 < shape.size(); ++loop)
      frame.scalars[loopIndices[loop]].integer = index[loop];
    index.back() = 0;
    if (!runInnermost(frame, bound, outputs, index, 0, shape.back()))
      return false;
  } while (nextIndex(MutableArrayRef<int64_t>(index).drop_back(), outer));
  return true;
}

bool Loops::run(Frame &frame) const {
  std::optional<SmallVector<int64_t>> shape = getShape(frame);
  if (!shape)
    return false;
  SmallVector<BoundOperand> bound(operands.size());
  for (auto [operand, entry] : llvm::zip_equal(operands, bound))
    if (!bind(frame, operand, *shape, entry))
      return false;
  SmallVector<std::shared_ptr<Tensor>> outputs;
  SmallVector<Tensor *> targets;
  for (const BoundOperand &output : ArrayRef(bound).drop_front(numInputs)) {
    outputs.push_back(std::make_shared<Tensor>(*output.tensor));
    targets.push_back(outputs.back().get());
  }
  int64_t points = *countElements(*shape), pointCost = operands.size() + body.program.steps.size(), cost;
  if (llvm::MulOverflow(points, pointCost, cost))
    cost = std::numeric_limits<int64_t>::max();
  if (!frame.charge(op, cost))
    return false;
  int64_t outer = shape->empty() ? 1 : shape->front();
  auto work = [&](Frame &part, int64_t begin, int64_t end) {
    return runRange(part, bound, targets, *shape, begin, end);
  };
  bool ok = isParallel ? parallelFor(frame, outer, outer ? cost / outer : 0, work) : work(frame, 0, outer);
  if (!ok)
    return false;
  for (auto [slot, output] : llvm::zip_equal(results, outputs))
    frame.tensors[slot] = output;
  return true;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Which operand dimension each loop's size comes from.
static LogicalResult findSizes(linalg::LinalgOp op, Loops &loops) {
  SmallVector<std::pair<unsigned, unsigned>> flat;
  for (OpOperand &operand : op->getOpOperands())
    for (int64_t dim = 0; dim < op.getRank(&operand); ++dim)
      flat.push_back({operand.getOperandNumber(), static_cast<unsigned>(dim)});
  AffineMap map = op.getShapesToLoopsMap();
  for (AffineExpr result : map ? map.getResults() : ArrayRef<AffineExpr>()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim)
      return op->emitOpError(
          "has a loop whose size no operand tells, which the reference interpreter does not support");
    loops.sizes.push_back(flat[dim.getPosition()]);
  }
  if (loops.sizes.size() != op.getNumLoops())
    return op->emitOpError("has a loop whose size no operand tells, which the reference interpreter does not support");
  return success();
}

/// Pieces of the outermost loop may run at once where each writes elements of its own.
static bool canSplit(linalg::LinalgOp op, const Loops &loops) {
  if (!op.getNumLoops() || op.getIteratorTypesArray().front() != utils::IteratorType::parallel)
    return false;
  return llvm::all_of(ArrayRef(loops.operands).drop_front(loops.numInputs), [](const Operand &output) {
    return llvm::any_of(output.results, [](const MapResult &result) {
      auto dim = dyn_cast<AffineDimExpr>(result.expr);
      return dim && dim.getPosition() == 0;
    });
  });
}

static FailureOr<Step> compileLoops(Compiler &compiler, linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return op->emitOpError("is not supported by the reference interpreter on memrefs");
  if (op->getNumRegions() != 1 || op->getRegion(0).empty())
    return op->emitOpError("has no body, which the reference interpreter does not support");
  Loops loops;
  loops.op = op;
  loops.numInputs = op.getNumDpsInputs();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.loopIndices.push_back(compiler.newScalar());
  ArrayRef<unsigned> outer = std::exchange(compiler.loopIndices, loops.loopIndices);
  FailureOr<Body> body = compiler.compileBlock(*op.getBlock());
  compiler.loopIndices = outer;
  if (failed(body) || failed(findSizes(op, loops)))
    return failure();
  // linalg.map leaves its outs out of the block arguments.
  if (body->arguments.size() != op->getNumOperands() && body->arguments.size() != loops.numInputs)
    return op->emitOpError("has a body that the reference interpreter does not support");
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    unsigned element = number < body->arguments.size() ? body->arguments[number].index : compiler.newScalar();
    Operand entry{compiler.getSlot(operand.get()), element, {}};
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      entry.results.push_back(analyze(expr, op.getNumLoops()));
    loops.operands.push_back(std::move(entry));
  }
  for (Value result : op->getResults())
    loops.results.push_back(compiler.tensor(result));
  loops.isParallel = canSplit(op, loops);
  loops.body = std::move(*body);
  return Step([loops = std::make_shared<const Loops>(std::move(loops))](Frame &frame) { return loops->run(frame); });
}

static FailureOr<Step> compileSoftmax(Compiler &compiler, linalg::SoftmaxOp op) {
  if (!isa<RankedTensorType>(op.getInput().getType()))
    return op.emitOpError("is not supported by the reference interpreter on memrefs");
  auto type = cast<RankedTensorType>(op.getOutput().getType()).getElementType();
  bool inF32 = compiler.getOptions().roundLikeUnfused && !type.isF64();
  return Step([operation = op.getOperation(), axis = op.getDimension(), type, inF32,
               source = compiler.tensor(op.getInput()), d = compiler.tensor(op->getResult(0))](Frame &frame) {
    const Tensor &input = *frame.tensors[source];
    auto result = frame.allocate(operation, type, input.shape);
    if (!result || !frame.charge(operation, input.size()))
      return false;
    softmax(input, axis, /*guard=*/false, inF32, *result);
    frame.tensors[d] = std::move(result);
    return true;
  });
}

FailureOr<Step> attn::reference::compileLinalg(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case<affine::AffineApplyOp, affine::AffineMinOp>(
          [&](auto affine) { return compileAffine(compiler, &op, affine.getMap(), /*isMax=*/false); })
      .Case([&](affine::AffineMaxOp max) { return compileAffine(compiler, &op, max.getMap(), /*isMax=*/true); })
      .Case([&](affine::AffineDelinearizeIndexOp op) { return compileDelinearize(compiler, op); })
      .Case([&](affine::AffineLinearizeIndexOp op) { return compileLinearize(compiler, op); })
      .Case([&](linalg::IndexOp index) -> FailureOr<Step> {
        return Step([a = compiler.loopIndices[index.getDim()], d = compiler.scalar(index.getResult())](Frame &frame) {
          frame.scalars[d] = frame.scalars[a];
          return true;
        });
      })
      .Case([&](linalg::SoftmaxOp op) { return compileSoftmax(compiler, op); })
      .Case([&](linalg::LinalgOp op) { return compileLoops(compiler, op); })
      .Default([](Operation *) { return Step(); });
}
