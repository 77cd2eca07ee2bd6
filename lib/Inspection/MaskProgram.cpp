//===- MaskProgram.cpp - what the compiled loops ask of a mask ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two functions in a module of their own, without the attention around them:
//
//   loop_ends(b, h, i0, rows) -> (first, firstFull, lastFull, end, kvEnd)        built by buildKvRange
//   keep(b, h, i0, rows, j0, keys) -> tensor<1x1x?x?xf32>, -inf where dropped    attn.mask with the mask, moved by (i0,
//   j0)
//
//===----------------------------------------------------------------------===//

#include "MaskProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

using namespace mlir;
using namespace attn;

static MaskRanges analyze(AttentionOp op) {
  clampCapturedLoads(op);
  return analyzeAttentionMask(op, /*skipTiles=*/true);
}

AnalyzedMask::AnalyzedMask(AttentionOp op)
    : ranges(analyze(op)), plan(planMask(op, ranges, /*skipTiles=*/true)), hasLengths(op.getKvLengths() != nullptr) {}

int64_t AnalyzedMask::batches(const MaskSizes &sizes) const {
  return plan.dependsOnBatch || hasLengths ? sizes.batch : std::min<int64_t>(sizes.batch, 1);
}

int64_t AnalyzedMask::heads(const MaskSizes &sizes) const {
  return plan.dependsOnHead ? sizes.heads : std::min<int64_t>(sizes.heads, 1);
}

MaskProgram::MaskProgram(AttentionOp op, const MaskRanges &ranges, const MaskSizes &sizes, const TileMapInputs &inputs)
    : op(op), ranges(ranges), sizes(sizes), inputs(inputs), module(ModuleOp::create(op.getLoc())) {
  buildLoopEnds();
  buildKeep();
}

/// A function of so many arguments of type index, with an empty body.
func::FuncOp MaskProgram::createFunction(StringRef name, unsigned numArguments) {
  OpBuilder b(module->getBodyRegion());
  SmallVector<Type> arguments(numArguments, b.getIndexType());
  auto function = func::FuncOp::create(b, op.getLoc(), name, b.getFunctionType(arguments, {}));
  function.addEntryBlock();
  return function;
}

static void finish(ImplicitLocOpBuilder &b, func::FuncOp function, ValueRange results) {
  func::ReturnOp::create(b, results);
  function.setType(b.getFunctionType(function.getArgumentTypes(), results.getTypes()));
}

//===----------------------------------------------------------------------===//
// Ends of the loops
//===----------------------------------------------------------------------===//

/// A bound as far as it is known.
Bound MaskProgram::relax(ImplicitLocOpBuilder &b, KnownSlice &slice, const Bound &bound, bool isUpper) {
  auto isKnown = [&](Value uniform) {
    bool result = static_cast<bool>(slice.get(b, uniform));
    isWidened |= !result;
    return result;
  };
  return bound.relaxed(isKnown, isUpper);
}

Value MaskProgram::buildKvEnd(ImplicitLocOpBuilder &b, KnownSlice &slice, Value batchIndex) {
  Value kvLen = arith::ConstantIndexOp::create(b, sizes.kvLen);
  if (!op.getKvLengths())
    return kvLen;
  Value lengths = slice.get(b, op.getKvLengths());
  lacksLengths = !lengths;
  if (lacksLengths)
    return kvLen;
  Value length = readElement(b, lengths, batchIndex);
  return length.getType().isIndex() ? length : arith::IndexCastOp::create(b, b.getIndexType(), length).getResult();
}

void MaskProgram::buildLoopEnds() {
  loopEndsFunction = createFunction("loop_ends", 4);
  Block &body = loopEndsFunction.getBody().front();
  auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &body);
  KnownSlice slice(op, sizes, inputs);
  if (Region &mask = op.getMaskRegion(); !mask.empty()) {
    slice.map(mask.getArgument(0), body.getArgument(0));
    slice.map(mask.getArgument(1), body.getArgument(1));
  }
  // What is not known makes the live range larger, and the full one smaller.
  const MaskRanges wide{{relax(b, slice, ranges.live.lower, false), relax(b, slice, ranges.live.upper, true)},
                        {relax(b, slice, ranges.full.lower, true), relax(b, slice, ranges.full.upper, false)}};
  Value i0 = body.getArgument(2), rows = body.getArgument(3);
  Value lastRow = arith::SubIOp::create(b, arith::AddIOp::create(b, i0, rows), arith::ConstantIndexOp::create(b, 1));
  auto uniformOf = [&](Value value) -> Value {
    Value clone = slice.get(b, value);
    return clone.getType().isIndex() ? clone : arith::IndexCastOp::create(b, b.getIndexType(), clone).getResult();
  };
  auto build = [&](const Bound &bound) { return bound.build(b, i0, lastRow, uniformOf); };
  Value kvEnd = buildKvEnd(b, slice, body.getArgument(0));
  KvRange range = buildKvRange(b, wide, /*isSplit=*/true, kvEnd, inputs.kvTile, build);
  finish(b, loopEndsFunction, {range.first, range.firstFull, range.lastFull, range.end, kvEnd});
  note(slice);
}

FailureOr<KeyLoopEnds> MaskProgram::loopEnds(int64_t b, int64_t h, int64_t i0, int64_t rows) {
  FailureOr<reference::Evaluation> evaluation = evaluate(loopEndsFunction, {b, h, i0, rows});
  if (failed(evaluation))
    return failure();
  auto result = [&](unsigned k) { return evaluation->results[k].data.front().integer; };
  if (int64_t kvEnd = result(4); kvEnd < 0 || kvEnd > sizes.kvLen)
    return op.emitOpError("expects each of kv_lengths in 0 to kvLen = ") << sizes.kvLen << ", but got " << kvEnd,
           failure();
  return KeyLoopEnds{result(0), result(1), result(2), result(3)};
}

//===----------------------------------------------------------------------===//
// The mask
//===----------------------------------------------------------------------===//

void MaskProgram::buildKeep() {
  Region &mask = op.getMaskRegion();
  if (mask.empty())
    return;
  func::FuncOp function = createFunction("keep", 6);
  Block &body = function.getBody().front();
  auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &body);
  KnownSlice slice(op, sizes, inputs);
  slice.map(mask.getArgument(0), body.getArgument(0));
  slice.map(mask.getArgument(1), body.getArgument(1));
  llvm::SetVector<Value> captures;
  getUsedValuesDefinedAbove(mask, captures);
  bool isKnown = true;
  for (Value capture : captures)
    isKnown &= static_cast<bool>(slice.get(b, capture));
  note(slice);
  if (!isKnown)
    return function.erase();
  auto type = RankedTensorType::get({1, 1, ShapedType::kDynamic, ShapedType::kDynamic}, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value scores = tensor::SplatOp::create(b, type, zero, ValueRange{body.getArgument(3), body.getArgument(5)});
  auto masked = MaskOp::create(b, type, scores, ValueRange(), scores, ArrayAttr());
  finish(b, function, masked.getResult());
  Block &inner = masked.getMaskRegion().emplaceBlock();
  inner.addArguments(mask.getArgumentTypes(), SmallVector<Location>(4, op.getLoc()));
  b.setInsertionPointToStart(&inner);
  slice.map(mask.getArgument(2), arith::AddIOp::create(b, inner.getArgument(2), body.getArgument(2)));
  slice.map(mask.getArgument(3), arith::AddIOp::create(b, inner.getArgument(3), body.getArgument(4)));
  YieldOp::create(b, slice.get(b, mask.front().getTerminator()->getOperand(0)));
  keepFunction = function;
}

FailureOr<std::vector<bool>> MaskProgram::keep(int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0,
                                               int64_t keys) {
  FailureOr<reference::Evaluation> evaluation = evaluate(keepFunction, {b, h, i0, rows, j0, keys});
  if (failed(evaluation))
    return failure();
  std::vector<bool> kept;
  for (const reference::Scalar &score : evaluation->results.front().data)
    kept.push_back(!std::isinf(score.real));
  return kept;
}

FailureOr<reference::Evaluation> MaskProgram::evaluate(func::FuncOp function, ArrayRef<int64_t> arguments) {
  Type index = IndexType::get(op.getContext());
  std::vector<reference::Tensor> tensors;
  for (int64_t argument : arguments)
    tensors.push_back(reference::Tensor::fromIntegers(index, {}, argument));
  reference::Options options;
  options.threads = op.getContext()->isMultithreadingEnabled() ? 0 : 1;
  return reference::evaluate(function, tensors, options);
}
