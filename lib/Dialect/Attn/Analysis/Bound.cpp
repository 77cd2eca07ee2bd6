//===- Bound.cpp - symbolic bounds of key ranges --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Attn/Analysis/Bound.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace attn;

struct Bound::Node {
  Kind kind;
  /// The constant, factor, divisor; low and high of a uniform.
  int64_t number = 0, high = 0;
  Value value;
  std::vector<Bound> operands;
};

Bound Bound::make(Node node) { return Bound(std::make_shared<const Node>(std::move(node))); }
Bound Bound::constant(int64_t value) { return make({Kind::Constant, value, 0, {}, {}}); }
Bound Bound::minusInfinity() { return make({Kind::MinusInfinity, 0, 0, {}, {}}); }
Bound Bound::plusInfinity() { return make({Kind::PlusInfinity, 0, 0, {}, {}}); }
Bound Bound::firstRow() { return make({Kind::FirstRow, 0, 0, {}, {}}); }
Bound Bound::lastRow() { return make({Kind::LastRow, 0, 0, {}, {}}); }
Bound Bound::uniform(Value value, int64_t low, int64_t high) { return make({Kind::Uniform, low, high, value, {}}); }

Bound::Kind Bound::kind() const { return node->kind; }
bool Bound::isConstant(int64_t value) const { return kind() == Kind::Constant && node->number == value; }

bool Bound::operator==(const Bound &other) const {
  return node == other.node ||
         (node->kind == other.node->kind && node->number == other.node->number && node->high == other.node->high &&
          node->value == other.node->value && node->operands == other.node->operands);
}

Bound Bound::add(Bound a, Bound b) {
  if (a.kind() == Kind::Constant && b.kind() == Kind::Constant)
    return constant(a.node->number + b.node->number);
  if (a.isConstant(0))
    return b;
  if (b.isConstant(0))
    return a;
  return make({Kind::Add, 0, 0, {}, {std::move(a), std::move(b)}});
}

Bound Bound::scale(Bound a, int64_t factor) {
  if (a.kind() == Kind::Constant)
    return constant(a.node->number * factor);
  if (factor == 1)
    return a;
  return factor == 0 ? constant(0) : make({Kind::Scale, factor, 0, {}, {std::move(a)}});
}

Bound Bound::floorDiv(Bound a, int64_t divisor) {
  if (a.kind() == Kind::Constant)
    return constant(llvm::divideFloorSigned(a.node->number, divisor));
  return divisor == 1 ? a : make({Kind::FloorDiv, divisor, 0, {}, {std::move(a)}});
}

Bound Bound::min(Bound a, Bound b) {
  if (a.kind() == Kind::Constant && b.kind() == Kind::Constant)
    return constant(std::min(a.node->number, b.node->number));
  if (a == b || a.isMinusInfinity() || b.isPlusInfinity())
    return a;
  if (b.isMinusInfinity() || a.isPlusInfinity())
    return b;
  return make({Kind::Min, 0, 0, {}, {std::move(a), std::move(b)}});
}

Bound Bound::max(Bound a, Bound b) {
  if (a.kind() == Kind::Constant && b.kind() == Kind::Constant)
    return constant(std::max(a.node->number, b.node->number));
  if (a == b || a.isPlusInfinity() || b.isMinusInfinity())
    return a;
  if (b.isPlusInfinity() || a.isMinusInfinity())
    return b;
  return make({Kind::Max, 0, 0, {}, {std::move(a), std::move(b)}});
}

Bound Bound::choose(Bound condition, Bound yes, Bound no) {
  if (condition.kind() == Kind::Constant)
    return condition.node->number <= 0 ? yes : no;
  if (yes == no)
    return yes;
  return make({Kind::Choose, 0, 0, {}, {std::move(condition), std::move(yes), std::move(no)}});
}

int64_t Bound::evaluate(int64_t firstRow, int64_t lastRow, llvm::function_ref<int64_t(Value)> uniformOf) const {
  auto operand = [&](unsigned k) { return node->operands[k].evaluate(firstRow, lastRow, uniformOf); };
  switch (node->kind) {
  case Kind::Constant:
    return node->number;
  case Kind::MinusInfinity:
    return -kInfinity;
  case Kind::PlusInfinity:
    return kInfinity;
  case Kind::FirstRow:
    return firstRow;
  case Kind::LastRow:
    return lastRow;
  case Kind::Uniform:
    return std::clamp(uniformOf(node->value), node->number, node->high);
  case Kind::Add:
    return operand(0) + operand(1);
  case Kind::Scale:
    return operand(0) * node->number;
  case Kind::FloorDiv:
    return llvm::divideFloorSigned(operand(0), node->number);
  case Kind::Min:
    return std::min(operand(0), operand(1));
  case Kind::Max:
    return std::max(operand(0), operand(1));
  case Kind::Choose:
    return operand(0) <= 0 ? operand(1) : operand(2);
  }
  llvm_unreachable("every kind is handled");
}

/// Of a sum, minimum or maximum.
static Bound::Trend combine(Bound::Trend a, Bound::Trend b) {
  if (a == b || b == Bound::Trend::Still)
    return a;
  return a == Bound::Trend::Still ? b : Bound::Trend::Unknown;
}

static Bound::Trend reverse(Bound::Trend trend) {
  if (trend == Bound::Trend::Grows)
    return Bound::Trend::Falls;
  return trend == Bound::Trend::Falls ? Bound::Trend::Grows : trend;
}

Bound::Trend Bound::trend() const {
  auto operand = [&](unsigned k) { return node->operands[k].trend(); };
  switch (node->kind) {
  case Kind::Constant:
  case Kind::MinusInfinity:
  case Kind::PlusInfinity:
  case Kind::Uniform:
    return Trend::Still;
  case Kind::FirstRow:
  case Kind::LastRow:
    return Trend::Grows;
  case Kind::Scale:
    return node->number < 0 ? reverse(operand(0)) : operand(0);
  case Kind::FloorDiv:
    return operand(0);
  case Kind::Add:
  case Kind::Min:
  case Kind::Max:
    return combine(operand(0), operand(1));
  case Kind::Choose:
    return operand(0) == Trend::Still ? combine(operand(1), operand(2)) : Trend::Unknown;
  }
  llvm_unreachable("every kind is handled");
}

std::pair<int64_t, int64_t> Bound::limits(int64_t rowCount) const {
  using Interval = std::pair<int64_t, int64_t>;
  auto operand = [&](unsigned k) { return node->operands[k].limits(rowCount); };
  auto saturate = [](int64_t low, int64_t high) -> Interval {
    return {std::clamp(low, -kInfinity, kInfinity), std::clamp(high, -kInfinity, kInfinity)};
  };
  switch (node->kind) {
  case Kind::Constant:
    return saturate(node->number, node->number);
  case Kind::MinusInfinity:
    return {-kInfinity, -kInfinity};
  case Kind::PlusInfinity:
    return {kInfinity, kInfinity};
  case Kind::FirstRow:
  case Kind::LastRow:
    return {0, std::max<int64_t>(rowCount, 1) - 1};
  case Kind::Uniform:
    return saturate(node->number, node->high);
  case Kind::Add: {
    auto [a, b] = std::pair(operand(0), operand(1));
    return saturate(a.first + b.first, a.second + b.second);
  }
  case Kind::Scale: {
    auto [low, high] = operand(0);
    int64_t factor = node->number;
    auto times = [&](int64_t value) {
      int64_t product;
      bool isBeyond = llvm::MulOverflow(value, factor, product);
      return isBeyond ? ((value < 0) == (factor < 0) ? kInfinity : -kInfinity) : product;
    };
    return factor < 0 ? saturate(times(high), times(low)) : saturate(times(low), times(high));
  }
  case Kind::FloorDiv: {
    auto [low, high] = operand(0);
    return {llvm::divideFloorSigned(low, node->number), llvm::divideFloorSigned(high, node->number)};
  }
  case Kind::Min: {
    auto [a, b] = std::pair(operand(0), operand(1));
    return {std::min(a.first, b.first), std::min(a.second, b.second)};
  }
  case Kind::Max: {
    auto [a, b] = std::pair(operand(0), operand(1));
    return {std::max(a.first, b.first), std::max(a.second, b.second)};
  }
  case Kind::Choose: {
    auto [condition, yes, no] = std::tuple(operand(0), operand(1), operand(2));
    if (condition.second <= 0)
      return yes;
    return condition.first > 0 ? no : Interval{std::min(yes.first, no.first), std::max(yes.second, no.second)};
  }
  }
  llvm_unreachable("every kind is handled");
}

Value Bound::build(ImplicitLocOpBuilder &b, Value firstRow, Value lastRow,
                   llvm::function_ref<Value(Value)> uniformOf) const {
  auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto operand = [&](unsigned k) { return node->operands[k].build(b, firstRow, lastRow, uniformOf); };
  switch (node->kind) {
  case Kind::Constant:
    return number(node->number);
  case Kind::MinusInfinity:
    return number(-kInfinity);
  case Kind::PlusInfinity:
    return number(kInfinity);
  case Kind::FirstRow:
    return firstRow;
  case Kind::LastRow:
    return lastRow;
  case Kind::Uniform: {
    Value limited = arith::MaxSIOp::create(b, uniformOf(node->value), number(node->number));
    return arith::MinSIOp::create(b, limited, number(node->high));
  }
  case Kind::Add:
    return arith::AddIOp::create(b, operand(0), operand(1));
  case Kind::Scale:
    return arith::MulIOp::create(b, operand(0), number(node->number));
  case Kind::FloorDiv:
    return arith::FloorDivSIOp::create(b, operand(0), number(node->number));
  case Kind::Min:
    return arith::MinSIOp::create(b, operand(0), operand(1));
  case Kind::Max:
    return arith::MaxSIOp::create(b, operand(0), operand(1));
  case Kind::Choose: {
    Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, operand(0), number(0));
    return arith::SelectOp::create(b, holds, operand(1), operand(2));
  }
  }
  llvm_unreachable("every kind is handled");
}

Bound Bound::relaxed(llvm::function_ref<bool(Value)> isKnown, bool isUpper) const {
  const Bound infinity = isUpper ? plusInfinity() : minusInfinity();
  auto operand = [&](unsigned k, bool isUpper) { return node->operands[k].relaxed(isKnown, isUpper); };
  // Infinities take no part in arithmetic.
  auto finite = [&](const Bound &a, auto combine) {
    return a.isPlusInfinity() || a.isMinusInfinity() ? infinity : combine(a);
  };
  switch (node->kind) {
  case Kind::Constant:
  case Kind::MinusInfinity:
  case Kind::PlusInfinity:
  case Kind::FirstRow:
  case Kind::LastRow:
    return *this;
  case Kind::Uniform:
    return isKnown(node->value) ? *this : infinity;
  case Kind::Add:
    return finite(operand(0, isUpper), [&](const Bound &a) {
      return finite(operand(1, isUpper), [&](const Bound &b) { return add(a, b); });
    });
  case Kind::Scale:
    return finite(operand(0, isUpper == (node->number > 0)), [&](const Bound &a) { return scale(a, node->number); });
  case Kind::FloorDiv:
    return finite(operand(0, isUpper), [&](const Bound &a) { return floorDiv(a, node->number); });
  case Kind::Min:
    return min(operand(0, isUpper), operand(1, isUpper));
  case Kind::Max:
    return max(operand(0, isUpper), operand(1, isUpper));
  case Kind::Choose: {
    Bound yes = operand(1, isUpper), no = operand(2, isUpper);
    // A condition that is known is its own relaxation.
    if (operand(0, true) == node->operands[0])
      return choose(node->operands[0], yes, no);
    return isUpper ? max(yes, no) : min(yes, no);
  }
  }
  llvm_unreachable("every kind is handled");
}

std::string Bound::str(SmallVectorImpl<Value> &names) const {
  auto operand = [&](unsigned k) { return node->operands[k].str(names); };
  switch (node->kind) {
  case Kind::Constant:
    return std::to_string(node->number);
  case Kind::MinusInfinity:
    return "-inf";
  case Kind::PlusInfinity:
    return "inf";
  case Kind::FirstRow:
    return "i0";
  case Kind::LastRow:
    return "i1";
  case Kind::Uniform: {
    auto *found = llvm::find(names, node->value);
    size_t position = found - names.begin();
    if (found == names.end())
      names.push_back(node->value);
    return "n" + std::to_string(position);
  }
  case Kind::Add: {
    std::string second = operand(1);
    return operand(0) + (second[0] == '-' ? " - " + second.substr(1) : " + " + second);
  }
  case Kind::Scale:
    return node->number == -1 ? "-" + operand(0) : std::to_string(node->number) + " * (" + operand(0) + ")";
  case Kind::FloorDiv:
    return "floor((" + operand(0) + ") / " + std::to_string(node->number) + ")";
  case Kind::Min:
    return "min(" + operand(0) + ", " + operand(1) + ")";
  case Kind::Max:
    return "max(" + operand(0) + ", " + operand(1) + ")";
  case Kind::Choose:
    return "(" + operand(0) + " <= 0 ? " + operand(1) + " : " + operand(2) + ")";
  }
  llvm_unreachable("every kind is handled");
}
