//===- ControlFlow.cpp - constants, cf.assert and scf --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// arith.constant
//===----------------------------------------------------------------------===//

static double toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

static Scalar makeScalar(Type type, const APInt &bits) {
  Scalar result;
  if (auto real = dyn_cast<FloatType>(type))
    result.real = toDouble(APFloat(real.getFloatSemantics(), bits));
  else
    result.integer = wrapToType(type, bits.sextOrTrunc(64).getSExtValue());
  return result;
}

/// Elements of a blob: little-endian, i1 and other widths in whole bytes.
static LogicalResult readBlob(arith::ConstantOp op, DenseResourceElementsAttr attr, Tensor &result) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  if (!blob)
    return op.emitOpError("expects the data of dense_resource '")
           << attr.getRawHandle().getKey() << "', which the module does not hold";
  Type type = result.elementType;
  unsigned bits = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth(), bytes = llvm::divideCeil(bits, 8);
  ArrayRef<char> data = blob->getData();
  if (data.size() != result.data.size() * bytes)
    return op.emitOpError("expects ") << result.data.size() * bytes << " bytes in dense_resource '"
                                      << attr.getRawHandle().getKey() << "', but got " << data.size();
  for (size_t k = 0; k < result.data.size(); ++k) {
    uint64_t word = 0;
    for (unsigned byte = 0; byte < bytes; ++byte)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(data[k * bytes + byte])) << (8 * byte);
    result.data[k] = makeScalar(type, APInt(64, word).trunc(bits));
  }
  return success();
}

static FailureOr<Tensor> readElements(arith::ConstantOp op, ElementsAttr attr, const Options &options) {
  auto shaped = cast<ShapedType>(attr.getType());
  std::optional<int64_t> count = countElements(shaped.getShape());
  if (!count || *count > options.maxElements)
    return op.emitOpError("has more than ") << options.maxElements << " elements";
  Type type = shaped.getElementType();
  Tensor result{type, shaped.getShape().vec(), std::vector<Scalar>(*count)};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    if (failed(readBlob(op, resource, result)))
      return failure();
    return result;
  }
  int64_t next = 0;
  if (isa<FloatType>(type)) {
    if (auto values = attr.tryGetValues<APFloat>()) {
      for (const APFloat &value : *values)
        result.data[next++].real = toDouble(value);
      return result;
    }
  } else if (auto values = attr.tryGetValues<APInt>()) {
    for (const APInt &value : *values)
      result.data[next++] = makeScalar(type, value);
    return result;
  }
  return op.emitOpError("has a value that the reference interpreter cannot read: ") << attr;
}

FailureOr<Step> attn::reference::compileConstant(Compiler &compiler, Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return Step();
  if (auto elements = dyn_cast<ElementsAttr>(constant.getValue())) {
    FailureOr<Tensor> value = readElements(constant, elements, compiler.getOptions());
    if (failed(value))
      return failure();
    return Step(
        [d = compiler.tensor(constant), value = TensorPtr(std::make_shared<Tensor>(std::move(*value)))](Frame &frame) {
          frame.tensors[d] = value;
          return true;
        });
  }
  Scalar value;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    value.real = toDouble(real.getValue());
  else
    value = makeScalar(constant.getType(), cast<IntegerAttr>(constant.getValue()).getValue());
  return Step([d = compiler.scalar(constant), value](Frame &frame) {
    frame.scalars[d] = value;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// cf.assert, scf
//===----------------------------------------------------------------------===//

static FailureOr<Step> compileIf(Compiler &compiler, scf::IfOp op) {
  FailureOr<Body> thenBody = compiler.compileBlock(*op.thenBlock()), elseBody = Body();
  if (succeeded(thenBody) && op.elseBlock())
    elseBody = compiler.compileBlock(*op.elseBlock());
  if (failed(thenBody) || failed(elseBody))
    return failure();
  return Step([condition = compiler.scalar(op.getCondition()), thenBody = *thenBody, elseBody = *elseBody,
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    const Body &body = frame.scalars[condition].integer ? thenBody : elseBody;
    if (!body.program.run(frame))
      return false;
    moveSlots(frame, body.yields, results);
    return true;
  });
}

static FailureOr<Step> compileFor(Compiler &compiler, scf::ForOp op) {
  FailureOr<Body> body = compiler.compileBlock(*op.getBody());
  if (failed(body))
    return failure();
  Type type = op.getInductionVar().getType();
  unsigned bits = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  bool isUnsigned = op.getUnsignedCmp();
  return Step([=, body = *body, low = compiler.scalar(op.getLowerBound()), high = compiler.scalar(op.getUpperBound()),
               by = compiler.scalar(op.getStep()), inits = compiler.getSlots(op.getInitArgs()),
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    ArrayRef<Slot> carried = ArrayRef(body.arguments).drop_front();
    auto read = [&](unsigned slot) {
      int64_t value = frame.scalars[slot].integer;
      return isUnsigned && bits < 64 ? static_cast<int64_t>(static_cast<uint64_t>(value) & ((1ull << bits) - 1))
                                     : value;
    };
    int64_t first = read(low), last = read(high), step = read(by);
    if (isUnsigned ? step == 0 : step <= 0)
      return frame.fail(op, "expects a step above 0, but got " + Twine(step));
    // The distances are unsigned, so that no sum overflows near the ends of the type.
    bool runs = isUnsigned ? static_cast<uint64_t>(first) < static_cast<uint64_t>(last) : first < last;
    uint64_t distance = runs ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : 0;
    uint64_t trips = distance / static_cast<uint64_t>(step) + (distance % static_cast<uint64_t>(step) != 0);
    moveSlots(frame, inits, carried);
    for (uint64_t trip = 0; trip < trips; ++trip) {
      uint64_t value = static_cast<uint64_t>(first) + trip * static_cast<uint64_t>(step);
      frame.scalars[body.arguments.front().index].integer = wrapToType(type, static_cast<int64_t>(value));
      if (!frame.charge(op, 1 + body.program.steps.size()) || !body.program.run(frame))
        return false;
      moveSlots(frame, body.yields, carried);
    }
    moveSlots(frame, carried, results);
    return true;
  });
}

static FailureOr<Step> compileWhile(Compiler &compiler, scf::WhileOp op) {
  FailureOr<Body> before = compiler.compileBlock(*op.getBeforeBody());
  FailureOr<Body> after = failure();
  if (succeeded(before))
    after = compiler.compileBlock(*op.getAfterBody());
  if (failed(before) || failed(after))
    return failure();
  return Step([op, before = *before, after = *after, inits = compiler.getSlots(op.getInits()),
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    // The operands of scf.condition: the condition, then what is passed on.
    ArrayRef<Slot> passed = ArrayRef(before.yields).drop_front();
    moveSlots(frame, inits, before.arguments);
    while (true) {
      int64_t cost = 1 + before.program.steps.size() + after.program.steps.size();
      if (!frame.charge(op, cost) || !before.program.run(frame))
        return false;
      if (!frame.scalars[before.yields.front().index].integer)
        break;
      moveSlots(frame, passed, after.arguments);
      if (!after.program.run(frame))
        return false;
      moveSlots(frame, after.yields, before.arguments);
    }
    moveSlots(frame, passed, results);
    return true;
  });
}

FailureOr<Step> attn::reference::compileControlFlow(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](cf::AssertOp check) -> FailureOr<Step> {
        return Step([&op, message = "failed: " + check.getMsg().str(), condition = compiler.scalar(check.getArg())](
                        Frame &frame) { return frame.scalars[condition].integer ? true : frame.fail(&op, message); });
      })
      .Case([&](scf::IfOp branch) { return compileIf(compiler, branch); })
      .Case([&](scf::ForOp loop) { return compileFor(compiler, loop); })
      .Case([&](scf::WhileOp loop) { return compileWhile(compiler, loop); })
      .Default([](Operation *) { return Step(); });
}
