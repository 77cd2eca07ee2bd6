//===- IndexOps.cpp - the index dialect ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those ops that upstream's run-time checks are made of.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "Compiler.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::reference;

static bool compare(index::IndexCmpPredicate predicate, int64_t a, int64_t b) {
  using P = index::IndexCmpPredicate;
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (predicate) {
  case P::EQ:
    return a == b;
  case P::NE:
    return a != b;
  case P::SLT:
    return a < b;
  case P::SLE:
    return a <= b;
  case P::SGT:
    return a > b;
  case P::SGE:
    return a >= b;
  case P::ULT:
    return x < y;
  case P::ULE:
    return x <= y;
  case P::UGT:
    return x > y;
  case P::UGE:
    return x >= y;
  }
  llvm_unreachable("no other predicates");
}

/// f on 64 bits; the result wraps.
template <typename OpTy, typename F> static Step binary(Compiler &compiler, OpTy op, F f) {
  return [a = compiler.scalar(op.getLhs()), b = compiler.scalar(op.getRhs()), d = compiler.scalar(op.getResult()),
          f](Frame &frame) {
    frame.scalars[d].integer = static_cast<int64_t>(
        f(static_cast<uint64_t>(frame.scalars[a].integer), static_cast<uint64_t>(frame.scalars[b].integer)));
    return true;
  };
}

static Step constant(unsigned place, int64_t value) {
  return [place, value](Frame &frame) {
    frame.scalars[place].integer = value;
    return true;
  };
}

FailureOr<Step> attn::reference::compileIndex(Compiler &compiler, Operation &op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Step>>(&op)
      .Case([&](index::AddOp op) { return binary(compiler, op, std::plus<uint64_t>()); })
      .Case([&](index::SubOp op) { return binary(compiler, op, std::minus<uint64_t>()); })
      .Case([&](index::MulOp op) { return binary(compiler, op, std::multiplies<uint64_t>()); })
      .Case([&](index::CmpOp op) {
        return binary(compiler, op, [predicate = op.getPred()](uint64_t x, uint64_t y) -> uint64_t {
          return compare(predicate, static_cast<int64_t>(x), static_cast<int64_t>(y));
        });
      })
      .Case(
          [&](index::ConstantOp op) { return constant(compiler.scalar(op.getResult()), op.getValue().getSExtValue()); })
      .Case([&](index::BoolConstantOp op) { return constant(compiler.scalar(op.getResult()), op.getValue()); })
      .Default([](Operation *) { return Step(); });
}
