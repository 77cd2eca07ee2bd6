//===- ControlFlow.cpp - constants, checks and scf -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
// scf
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

static FailureOr<Step> compileExecuteRegion(Compiler &compiler, scf::ExecuteRegionOp op) {
  if (!op.getRegion().hasOneBlock())
    return op.emitOpError("expects a body of one block for the reference interpreter");
  FailureOr<Body> body = compiler.compileBlock(op.getRegion().front());
  if (failed(body))
    return failure();
  return Step([body = *body, results = compiler.getSlots(op.getResults())](Frame &frame) {
    if (!body.program.run(frame))
      return false;
    moveSlots(frame, body.yields, results);
    return true;
  });
}

static FailureOr<Step> compileIndexSwitch(Compiler &compiler, scf::IndexSwitchOp op) {
  // The default is the last.
  SmallVector<Body> bodies;
  for (unsigned k = 0; k <= op.getNumCases(); ++k) {
    Block &block = k < op.getNumCases() ? op.getCaseBlock(k) : op.getDefaultBlock();
    FailureOr<Body> body = compiler.compileBlock(block);
    if (failed(body))
      return failure();
    bodies.push_back(std::move(*body));
  }
  SmallVector<int64_t> cases(op.getCases());
  return Step([bodies, cases, argument = compiler.scalar(op.getArg()),
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    const Body &body = bodies[llvm::find(cases, frame.scalars[argument].integer) - cases.begin()];
    if (!body.program.run(frame))
      return false;
    moveSlots(frame, body.yields, results);
    return true;
  });
}

namespace {
/// The iterations of a loop of several dimensions.
struct LoopNest {
  Operation *op;
  SmallVector<IndexSource> low, high, by;

  /// Calls body(indices) for each, in row-major order; false after an error.
  bool run(Frame &frame, function_ref<bool(ArrayRef<int64_t>)> body) const {
    SmallVector<int64_t> first, step, trips;
    for (auto [l, h, s] : llvm::zip_equal(low, high, by)) {
      first.push_back(l.get(frame)), step.push_back(s.get(frame));
      if (step.back() <= 0)
        return frame.fail(op, "expects a step above 0, but got " + Twine(step.back()));
      trips.push_back(std::max<int64_t>(0, llvm::divideCeilSigned(h.get(frame) - first.back(), step.back())));
    }
    if (llvm::is_contained(trips, 0))
      return true;
    SmallVector<int64_t> trip(trips.size(), 0), index(trips.size());
    do {
      for (size_t k = 0; k < index.size(); ++k)
        index[k] = first[k] + trip[k] * step[k];
      if (!frame.charge(op, 1) || !body(index))
        return false;
    } while (nextIndex(trip, trips));
    return true;
  }
};
} // namespace

/// scf.forall: outputs that slices are inserted into, in the order of the iterations.
static FailureOr<Step> compileForall(Compiler &compiler, scf::ForallOp op) {
  LoopNest nest{op, compiler.getIndices(op.getMixedLowerBound()), compiler.getIndices(op.getMixedUpperBound()),
                compiler.getIndices(op.getMixedStep())};
  FailureOr<Body> body = compiler.compileBlock(*op.getBody());
  if (failed(body))
    return failure();
  SmallVector<Step> inserts;
  for (Operation &insert : op.getTerminator().getYieldingOps()) {
    auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insert);
    if (!slice)
      return insert.emitOpError("is not supported by the reference interpreter");
    inserts.push_back(compileParallelInsert(compiler, slice));
  }
  return Step([nest, body = *body, inserts, inits = compiler.getSlots(op.getOutputs()),
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    ArrayRef<Slot> indices = ArrayRef(body.arguments).take_front(nest.low.size());
    ArrayRef<Slot> outputs = ArrayRef(body.arguments).drop_front(nest.low.size());
    moveSlots(frame, inits, outputs);
    bool ok = nest.run(frame, [&](ArrayRef<int64_t> index) {
      for (auto [slot, value] : llvm::zip_equal(indices, index))
        frame.scalars[slot.index].integer = value;
      return body.program.run(frame) && llvm::all_of(inserts, [&](const Step &insert) { return insert(frame); });
    });
    moveSlots(frame, outputs, results);
    return ok;
  });
}

/// scf.parallel: what the iterations give is folded in their order.
static FailureOr<Step> compileParallel(Compiler &compiler, scf::ParallelOp op) {
  LoopNest nest{op, compiler.getIndices(getAsOpFoldResult(op.getLowerBound())),
                compiler.getIndices(getAsOpFoldResult(op.getUpperBound())),
                compiler.getIndices(getAsOpFoldResult(op.getStep()))};
  FailureOr<Body> body = compiler.compileBlock(*op.getBody());
  SmallVector<Body> folds;
  auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
  for (Region &region : reduce.getReductions()) {
    FailureOr<Body> fold = succeeded(body) ? compiler.compileBlock(region.front()) : FailureOr<Body>();
    if (failed(fold))
      return failure();
    folds.push_back(std::move(*fold));
  }
  if (failed(body))
    return failure();
  return Step([nest, body = *body, folds, inits = compiler.getSlots(op.getInitVals()),
               results = compiler.getSlots(op.getResults())](Frame &frame) {
    moveSlots(frame, inits, results);
    return nest.run(frame, [&](ArrayRef<int64_t> index) {
      for (auto [slot, value] : llvm::zip_equal(body.arguments, index))
        frame.scalars[slot.index].integer = value;
      if (!body.program.run(frame))
        return false;
      for (auto [fold, value, result] : llvm::zip_equal(folds, body.yields, results)) {
        moveSlots(frame, {result, value}, fold.arguments);
        if (!fold.program.run(frame))
          return false;
        moveSlots(frame, fold.yields, result);
      }
      return true;
    });
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// cf.assert and flash.require.
static Step compileCheck(Compiler &compiler, Operation *op, Value condition, StringRef text) {
  return [op, message = "failed: " + text.str(), condition = compiler.scalar(condition)](Frame &frame) {
    return frame.scalars[condition].integer ? true : frame.fail(op, message);
  };
}

FailureOr<Step> attn::reference::compileControlFlow(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](cf::AssertOp check) { return compileCheck(compiler, check, check.getArg(), check.getMsg()); })
      .Case([&](attn::flash::RequireOp check) {
        return compileCheck(compiler, check, check.getCondition(), check.getMessage());
      })
      .Case([&](scf::ExecuteRegionOp region) { return compileExecuteRegion(compiler, region); })
      .Case([&](scf::ForallOp loop) { return compileForall(compiler, loop); })
      .Case([&](scf::ForOp loop) { return compileFor(compiler, loop); })
      .Case([&](scf::IfOp branch) { return compileIf(compiler, branch); })
      .Case([&](scf::IndexSwitchOp branch) { return compileIndexSwitch(compiler, branch); })
      .Case([&](scf::ParallelOp loop) { return compileParallel(compiler, loop); })
      .Case([&](scf::WhileOp loop) { return compileWhile(compiler, loop); })
      .Default([](Operation *) { return Step(); });
}
