//===- RaiseIndex.cpp - the index dialect, and affine's grids, as arith --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// arith has every operation of the index dialect, and all that reads masks and bodies (fusion, analyses, the lowerings,
// the reference) knows arith alone. Both say the same at 64 bits, which is the only size of index here.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

template <typename To> static Value buildBinary(ImplicitLocOpBuilder &b, Operation *op) {
  return To::create(b, op->getOperand(0), op->getOperand(1));
}

/// The operation of arith that is the binary one of index; null for all else.
static Value buildArithmetic(ImplicitLocOpBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<index::AddOp>([&](auto) { return buildBinary<arith::AddIOp>(b, op); })
      .Case<index::SubOp>([&](auto) { return buildBinary<arith::SubIOp>(b, op); })
      .Case<index::MulOp>([&](auto) { return buildBinary<arith::MulIOp>(b, op); })
      .Case<index::DivSOp>([&](auto) { return buildBinary<arith::DivSIOp>(b, op); })
      .Case<index::DivUOp>([&](auto) { return buildBinary<arith::DivUIOp>(b, op); })
      .Case<index::CeilDivSOp>([&](auto) { return buildBinary<arith::CeilDivSIOp>(b, op); })
      .Case<index::CeilDivUOp>([&](auto) { return buildBinary<arith::CeilDivUIOp>(b, op); })
      .Case<index::FloorDivSOp>([&](auto) { return buildBinary<arith::FloorDivSIOp>(b, op); })
      .Case<index::RemSOp>([&](auto) { return buildBinary<arith::RemSIOp>(b, op); })
      .Case<index::RemUOp>([&](auto) { return buildBinary<arith::RemUIOp>(b, op); })
      .Case<index::MaxSOp>([&](auto) { return buildBinary<arith::MaxSIOp>(b, op); })
      .Case<index::MaxUOp>([&](auto) { return buildBinary<arith::MaxUIOp>(b, op); })
      .Case<index::MinSOp>([&](auto) { return buildBinary<arith::MinSIOp>(b, op); })
      .Case<index::MinUOp>([&](auto) { return buildBinary<arith::MinUIOp>(b, op); })
      .Case<index::ShlOp>([&](auto) { return buildBinary<arith::ShLIOp>(b, op); })
      .Case<index::ShrSOp>([&](auto) { return buildBinary<arith::ShRSIOp>(b, op); })
      .Case<index::ShrUOp>([&](auto) { return buildBinary<arith::ShRUIOp>(b, op); })
      .Case<index::AndOp>([&](auto) { return buildBinary<arith::AndIOp>(b, op); })
      .Case<index::OrOp>([&](auto) { return buildBinary<arith::OrIOp>(b, op); })
      .Case<index::XOrOp>([&](auto) { return buildBinary<arith::XOrIOp>(b, op); })
      .Default([](Operation *) { return Value(); });
}

/// Casts, comparisons and constants; null for all else.
static Value buildOther(ImplicitLocOpBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case(
          [&](index::CastSOp cast) -> Value { return arith::IndexCastOp::create(b, cast.getType(), cast.getInput()); })
      .Case([&](index::CastUOp cast) -> Value {
        return arith::IndexCastUIOp::create(b, cast.getType(), cast.getInput());
      })
      .Case([&](index::CmpOp compare) -> Value {
        // Both dialects spell the predicates alike.
        auto predicate = arith::symbolizeCmpIPredicate(index::stringifyIndexCmpPredicate(compare.getPred()));
        return arith::CmpIOp::create(b, *predicate, compare.getLhs(), compare.getRhs());
      })
      .Case([&](index::ConstantOp constant) -> Value {
        return arith::ConstantIndexOp::create(b, constant.getValue().getSExtValue());
      })
      .Case([&](index::BoolConstantOp constant) -> Value {
        return arith::ConstantOp::create(b, b.getBoolAttr(constant.getValue()));
      })
      .Case([&](index::SizeOfOp) -> Value { return arith::ConstantIndexOp::create(b, 64); })
      .Default([](Operation *) { return Value(); });
}

LogicalResult attn::raiseIndex(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value raised = buildArithmetic(b, op);
  if (!raised)
    raised = buildOther(b, op);
  if (!raised)
    return op->emitOpError("has no counterpart in arith");
  op->getResult(0).replaceAllUsesWith(raised);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Places in grids
//===----------------------------------------------------------------------===//

static SmallVector<Value> buildValues(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> mixed) {
  SmallVector<Value> values;
  for (OpFoldResult value : mixed)
    values.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), value));
  return values;
}

/// Digits from the last to the first: what is left divided by their size, down. The first digit has no end.
static SmallVector<Value> buildDigits(ImplicitLocOpBuilder &b, affine::AffineDelinearizeIndexOp op) {
  SmallVector<Value> sizes = buildValues(b, op.getMixedBasis()), digits;
  ArrayRef<Value> inner = ArrayRef(sizes).take_back(op.getNumResults() - 1);
  Value rest = op.getLinearIndex();
  for (Value size : llvm::reverse(inner)) {
    Value quotient = arith::FloorDivSIOp::create(b, rest, size);
    digits.push_back(arith::SubIOp::create(b, rest, arith::MulIOp::create(b, quotient, size)));
    rest = quotient;
  }
  digits.push_back(rest);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

static Value buildPlace(ImplicitLocOpBuilder &b, affine::AffineLinearizeIndexOp op) {
  SmallVector<Value> sizes = buildValues(b, op.getMixedBasis());
  ValueRange indices = op.getMultiIndex();
  if (indices.empty())
    return arith::ConstantIndexOp::create(b, 0);
  Value place = indices.front();
  ArrayRef<Value> inner = ArrayRef(sizes).take_back(indices.size() - 1);
  for (auto [index, size] : llvm::zip(indices.drop_front(), inner))
    place = arith::AddIOp::create(b, arith::MulIOp::create(b, place, size), index);
  return place;
}

LogicalResult attn::raiseGridIndex(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (auto delinearize = dyn_cast<affine::AffineDelinearizeIndexOp>(op))
    op->replaceAllUsesWith(buildDigits(b, delinearize));
  else
    op->replaceAllUsesWith(ValueRange(buildPlace(b, cast<affine::AffineLinearizeIndexOp>(op))));
  op->erase();
  return success();
}
