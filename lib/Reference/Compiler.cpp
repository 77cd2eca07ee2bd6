//===- Compiler.cpp - from operations to closures ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slots of values, blocks, elementwise operations on tensors, calls, and the evaluation of a function.
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Slot Compiler::getSlot(Value value) {
  auto [entry, isNew] = slots.try_emplace(value);
  if (isNew) {
    bool isTensor = isa<RankedTensorType>(value.getType());
    size_t &next = isTensor ? function.numTensors : function.numScalars;
    entry->second = {isTensor, static_cast<unsigned>(next++)};
  }
  return entry->second;
}

SmallVector<Slot> Compiler::getSlots(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return getSlot(value); });
}

unsigned Compiler::scalar(Value value) {
  Slot slot = getSlot(value);
  assert(!slot.isTensor && "expected a scalar");
  return slot.index;
}

unsigned Compiler::tensor(Value value) {
  Slot slot = getSlot(value);
  assert(slot.isTensor && "expected a tensor");
  return slot.index;
}

SmallVector<unsigned> Compiler::scalars(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return scalar(value); });
}

IndexSource Compiler::getIndex(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return {cast<IntegerAttr>(attr).getInt(), std::nullopt};
  return {0, scalar(cast<Value>(value))};
}

SmallVector<IndexSource> Compiler::getIndices(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) { return getIndex(value); });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult Compiler::checkTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!(isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat()) ||
        !isSupportedElementType(getElementTypeOrSelf(type)))
      return op->emitOpError("has a value of type ")
             << type << ", which the reference interpreter does not support; expected a scalar or ranked tensor of "
             << "integers, index or floats of at most 64 bits";
  return success();
}

FailureOr<Body> Compiler::compileBlock(Block &block) {
  Body body;
  if (failed(checkTypes(block.getParentOp(), block.getArgumentTypes())))
    return failure();
  body.arguments = getSlots(block.getArguments());
  for (Operation &op : block.without_terminator()) {
    if (failed(checkTypes(&op, op.getOperandTypes())) || failed(checkTypes(&op, op.getResultTypes())))
      return failure();
    FailureOr<Step> step = compile(op);
    if (failed(step))
      return failure();
    body.program.steps.push_back(std::move(*step));
  }
  Operation *terminator = block.getTerminator();
  if (terminator->getNumSuccessors())
    return terminator->emitOpError("branches between blocks, which the reference interpreter does not support");
  body.yields = getSlots(terminator->getOperands());
  return body;
}

FailureOr<Body> Compiler::compileModRegion(Region &region) {
  bool outer = std::exchange(inModRegion, true);
  llvm::scope_exit restore([&] { inModRegion = outer; });
  return compileBlock(region.front());
}

/// Rounds results to their types, after the step.
static Step withRounding(Operation &op, Step step, ArrayRef<unsigned> out) {
  SmallVector<std::pair<unsigned, Type>> narrow;
  for (auto [slot, type] : llvm::zip_equal(out, op.getResultTypes()))
    if (auto real = dyn_cast<FloatType>(getElementTypeOrSelf(type)); real && !real.isF64())
      narrow.push_back({slot, real});
  if (narrow.empty())
    return step;
  // The common case by itself, as it is by far the fastest.
  if (narrow.size() == 1 && narrow.front().second.isF32())
    return [step = std::move(step), slot = narrow.front().first](Frame &frame) {
      bool ok = step(frame);
      frame.scalars[slot].real = static_cast<float>(frame.scalars[slot].real);
      return ok;
    };
  return [step = std::move(step), narrow](Frame &frame) {
    if (!step(frame))
      return false;
    for (auto [slot, type] : narrow)
      frame.scalars[slot].real = roundToType(type, frame.scalars[slot].real);
    return true;
  };
}

namespace {
/// A scalar place that is fed from, or stored to, the elements of a tensor.
struct ElementSlot {
  unsigned scalar, tensor;
  Type elementType;
};
} // namespace

/// Applies a step on scalars to each element of tensors of one shape.
static bool runOverElements(Frame &frame, Operation *op, const Step &step, ArrayRef<ElementSlot> in,
                            ArrayRef<ElementSlot> out) {
  const std::vector<int64_t> &shape = frame.tensors[in.front().tensor]->shape;
  SmallVector<TensorPtr> sources;
  for (const ElementSlot &slot : in) {
    sources.push_back(frame.tensors[slot.tensor]);
    if (sources.back()->shape != shape)
      return frame.fail(op, "expects operands of one shape");
  }
  SmallVector<std::shared_ptr<Tensor>> targets;
  for (const ElementSlot &slot : out) {
    targets.push_back(frame.allocate(op, slot.elementType, shape));
    if (!targets.back())
      return false;
  }
  int64_t count = sources.front()->size();
  if (!frame.charge(op, count))
    return false;
  for (int64_t k = 0; k < count; ++k) {
    for (auto [slot, source] : llvm::zip_equal(in, sources))
      frame.scalars[slot.scalar] = source->data[k];
    if (!step(frame))
      return false;
    for (auto [slot, target] : llvm::zip_equal(out, targets))
      target->data[k] = frame.scalars[slot.scalar];
  }
  for (auto [slot, target] : llvm::zip_equal(out, targets))
    frame.tensors[slot.tensor] = target;
  return true;
}

FailureOr<Step> Compiler::compileElementwise(Operation &op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) || isa<arith::ConstantOp>(op))
    return Step();
  SmallVector<unsigned> in, out;
  SmallVector<ElementSlot> inElements, outElements;
  auto place = [&](Value value, SmallVectorImpl<unsigned> &places, SmallVectorImpl<ElementSlot> &elements) {
    Slot slot = getSlot(value);
    places.push_back(slot.isTensor ? newScalar() : slot.index);
    if (slot.isTensor)
      elements.push_back({places.back(), slot.index, getElementTypeOrSelf(value.getType())});
  };
  for (Value operand : op.getOperands())
    place(operand, in, inElements);
  for (Value result : op.getResults())
    place(result, out, outElements);
  Step step = compileArith(op, in, out);
  if (!step)
    step = compileMath(op, in, out);
  if (!step)
    return step;
  if (getOptions().roundLikeUnfused)
    step = withRounding(op, std::move(step), out);
  if (outElements.empty())
    return step;
  return Step([&op, step, inElements, outElements](Frame &frame) {
    return runOverElements(frame, &op, step, inElements, outElements);
  });
}

FailureOr<Step> Compiler::compileCall(Operation &op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return Step();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isDeclaration())
    return call.emitOpError("expects a callee with a body, but '") << call.getCallee() << "' has none";
  const CompiledFunction *target = functions.get(callee);
  if (!target)
    return failure();
  return Step([&op, target, arguments = getSlots(op.getOperands()), results = getSlots(op.getResults())](Frame &frame) {
    constexpr unsigned maxDepth = 200;
    Frame inner{frame.session, {}, {}, frame.callDepth + 1, nullptr, {}, {}};
    if (inner.callDepth > maxDepth)
      return frame.fail(&op, "is nested more than " + Twine(maxDepth) + " calls deep");
    inner.scalars.resize(target->numScalars);
    inner.tensors.resize(target->numTensors);
    auto pass = [](Frame &from, ArrayRef<Slot> source, Frame &to, ArrayRef<Slot> destination) {
      for (auto [a, b] : llvm::zip_equal(source, destination)) {
        if (a.isTensor)
          to.tensors[b.index] = from.tensors[a.index];
        else
          to.scalars[b.index] = from.scalars[a.index];
      }
    };
    pass(frame, arguments, inner, target->body.arguments);
    bool ok = frame.charge(&op, 1) && target->body.program.run(inner);
    if (!frame.merge(inner) || !ok)
      return false;
    pass(inner, target->body.yields, frame, results);
    return true;
  });
}

FailureOr<Step> Compiler::compile(Operation &op) {
  FailureOr<Step> step = compileElementwise(op);
  if (failed(step) || *step)
    return step;
  step = compileCall(op);
  if (failed(step) || *step)
    return step;
  for (auto *compileKind : {compileConstant, compileIndex, compileControlFlow, compileTensor, compileLinalg,
                            compileAttention, compileUnfused, compileTileClasses}) {
    step = compileKind(*this, op);
    if (failed(step) || *step)
      return step;
  }
  return op.emitOpError("is not supported by the reference interpreter");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

const CompiledFunction *FunctionTable::get(func::FuncOp function) {
  auto [entry, isNew] = functions.try_emplace(function, nullptr);
  if (!isNew)
    return entry->second.get();
  entry->second = std::make_unique<CompiledFunction>();
  CompiledFunction *result = entry->second.get();
  if (!function.getBody().hasOneBlock()) {
    function.emitOpError("expects a body of one block for the reference interpreter");
    return nullptr;
  }
  FailureOr<Body> body = Compiler(*this, *result).compileBlock(function.getBody().front());
  if (failed(body))
    return nullptr;
  result->body = std::move(*body);
  return result;
}

/// The argument has the type's element type, its shape, and as many elements as that has.
static LogicalResult checkArgument(func::FuncOp function, unsigned number, Type type, const Tensor &argument) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  ArrayRef<int64_t> want = shaped ? shaped.getShape() : ArrayRef<int64_t>();
  if (argument.elementType == getElementTypeOrSelf(type) && succeeded(verifyCompatibleShape(want, argument.shape)) &&
      countElements(argument.shape) == argument.size())
    return success();
  return function.emitOpError("expects argument ")
         << number << " to be " << type << ", but got shape [" << argument.shape << "] of " << argument.elementType
         << " with " << argument.size() << " elements";
}

FailureOr<Evaluation> attn::reference::evaluate(func::FuncOp function, ArrayRef<Tensor> arguments,
                                                const Options &options) {
  if (function.getNumArguments() != arguments.size())
    return function.emitOpError("expects ") << function.getNumArguments() << " arguments, but got " << arguments.size();
  for (auto [k, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(checkArgument(function, k, type, arguments[k])))
      return failure();
  FunctionTable functions(options);
  const CompiledFunction *compiled = functions.get(function);
  if (!compiled)
    return failure();
  Session session(options);
  Frame frame{
      &session, std::vector<Scalar>(compiled->numScalars), std::vector<TensorPtr>(compiled->numTensors), 0, nullptr, {},
      {}};
  for (auto [slot, argument] : llvm::zip_equal(compiled->body.arguments, arguments)) {
    if (slot.isTensor)
      frame.tensors[slot.index] = std::make_shared<Tensor>(argument);
    else
      frame.scalars[slot.index] = argument.data.front();
  }
  if (!compiled->body.program.run(frame))
    return frame.failedOp->emitOpError(frame.error);
  Evaluation result;
  for (auto [slot, type] : llvm::zip_equal(compiled->body.yields, function.getResultTypes()))
    result.results.push_back(slot.isTensor ? *frame.tensors[slot.index]
                                           : Tensor{type, {}, {frame.scalars[slot.index]}});
  for (auto &[op, report] : frame.outOfBounds)
    result.outOfBounds.push_back(report);
  return result;
}
