//===- MaskAnalysis.cpp - which keys a mask keeps for a tile of rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's range analyses give no bounds here: integer ranges do not relate values, ValueBounds stops at floor
// divisions and minima, and Presburger sets take milliseconds and come back as disjunctions. The tests have both
// brute force and Presburger sets as oracles of this.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "LinearForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {

/// The keys that some row of the tile keeps are in `may`, those that every row keeps contain `must`. For one row, an
/// exact set is a range, and both are this range.
struct KeySet {
  KeyRange may, must;
  bool isExact = true;
};

KeyRange everyKey() { return {Bound::minusInfinity(), Bound::plusInfinity()}; }
KeyRange noKey() { return {Bound::plusInfinity(), Bound::minusInfinity()}; }
KeySet unknownKeys() { return {everyKey(), noKey(), /*isExact=*/false}; }
KeySet allOrNone(bool all) { return all ? KeySet{everyKey(), everyKey()} : KeySet{noKey(), noKey()}; }

KeyRange intersect(const KeyRange &a, const KeyRange &b) {
  return {Bound::max(a.lower, b.lower), Bound::min(a.upper, b.upper)};
}

/// The smallest range that holds both.
KeyRange hull(const KeyRange &a, const KeyRange &b) {
  if (a.isAlwaysEmpty())
    return b;
  if (b.isAlwaysEmpty())
    return a;
  return {Bound::min(a.lower, b.lower), Bound::max(a.upper, b.upper)};
}

/// A range inside the union: all of it where the two share an end, else the first.
KeyRange unionInside(const KeyRange &a, const KeyRange &b) {
  if (a.isAlwaysEmpty())
    return b;
  if (a.lower == b.lower)
    return {a.lower, Bound::max(a.upper, b.upper)};
  if (a.upper == b.upper)
    return {Bound::min(a.lower, b.lower), a.upper};
  return a;
}

/// The complement where that is a range; `otherwise` where it is two.
KeyRange complement(const KeyRange &range, const KeyRange &otherwise) {
  if (range.isAlwaysEmpty())
    return everyKey();
  if (range.lower.isMinusInfinity())
    return {range.upper, Bound::plusInfinity()};
  if (range.upper.isPlusInfinity())
    return {Bound::minusInfinity(), range.lower};
  return otherwise;
}

KeySet both(const KeySet &a, const KeySet &b) {
  return {intersect(a.may, b.may), intersect(a.must, b.must), a.isExact && b.isExact};
}

/// Two ranges are one where they share an end, or one of them is nothing.
KeySet either(const KeySet &a, const KeySet &b) {
  bool isRange =
      a.may.lower == b.may.lower || a.may.upper == b.may.upper || a.may.isAlwaysEmpty() || b.may.isAlwaysEmpty();
  return {hull(a.may, b.may), unionInside(a.must, b.must), a.isExact && b.isExact && isRange};
}

KeySet negate(const KeySet &a) {
  bool isRange = a.must.isAlwaysEmpty() || a.must.lower.isMinusInfinity() || a.must.upper.isPlusInfinity();
  return {complement(a.must, everyKey()), complement(a.may, noKey()), a.isExact && isRange};
}

/// Interprets the conditions of a region.
class MaskInterpreter {
public:
  MaskInterpreter(Region &region, int64_t rowCount, int64_t keyCount) : forms(region, rowCount, keyCount) {}

  KeySet evaluate(Value condition);
  Operation *obstacle = nullptr;

private:
  KeySet compare(arith::CmpIOp op);
  KeySet solve(const Linear &form);
  KeySet solveTerm(const Atom &atom, int64_t coefficient, const Linear &rest);
  KeySet rowsOnly(const Linear &form);
  KeySet giveUp(Value value);

  LinearForms forms;
};

} // namespace

KeySet MaskInterpreter::giveUp(Value value) {
  if (!obstacle)
    obstacle = value.getDefiningOp();
  return unknownKeys();
}

KeySet MaskInterpreter::evaluate(Value condition) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)))
    return allOrNone(!constant.isZero());
  Operation *op = condition.getDefiningOp();
  if (!op)
    return giveUp(condition);
  if (isa<arith::AndIOp>(op))
    return both(evaluate(op->getOperand(0)), evaluate(op->getOperand(1)));
  if (isa<arith::OrIOp>(op))
    return either(evaluate(op->getOperand(0)), evaluate(op->getOperand(1)));
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return negate(evaluate(op->getOperand(0)));
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    KeySet chosen = evaluate(select.getCondition());
    return either(both(chosen, evaluate(select.getTrueValue())),
                  both(negate(chosen), evaluate(select.getFalseValue())));
  }
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison);
  return giveUp(condition);
}

/// Every comparison is one or two of the form `form <= 0`.
KeySet MaskInterpreter::compare(arith::CmpIOp op) {
  using Predicate = arith::CmpIPredicate;
  std::optional<Linear> lhs = forms.get(op.getLhs()), rhs = forms.get(op.getRhs());
  if (!lhs || !rhs)
    return giveUp(op.getResult());
  Predicate predicate = op.getPredicate();
  bool isUnsigned = predicate == Predicate::ult || predicate == Predicate::ule || predicate == Predicate::ugt ||
                    predicate == Predicate::uge;
  if (isUnsigned && !(forms.isNonNegative(*lhs) && forms.isNonNegative(*rhs)))
    return giveUp(op.getResult());
  std::optional<Linear> difference = forms.subtract(*lhs, *rhs), opposite = forms.subtract(*rhs, *lhs);
  if (!difference || !opposite)
    return giveUp(op.getResult());
  auto plusOne = [](Linear form) { return form.constant += 1, form; };
  switch (predicate) {
  case Predicate::sle:
  case Predicate::ule:
    return solve(*difference);
  case Predicate::slt:
  case Predicate::ult:
    return solve(plusOne(*difference));
  case Predicate::sge:
  case Predicate::uge:
    return solve(*opposite);
  case Predicate::sgt:
  case Predicate::ugt:
    return solve(plusOne(*opposite));
  case Predicate::eq:
    return both(solve(*difference), solve(*opposite));
  case Predicate::ne:
    return negate(both(solve(*difference), solve(*opposite)));
  }
  llvm_unreachable("every predicate is handled");
}

/// `form <= 0` where no key is in it: all keys or none, by the rows. Where the rows of a tile differ, the ranges of
/// other conditions would have to be taken over the rows that hold this one: something is given away.
KeySet MaskInterpreter::rowsOnly(const Linear &form) {
  auto when = [](Bound condition) -> KeyRange {
    return {Bound::minusInfinity(), Bound::choose(condition, Bound::plusInfinity(), Bound::minusInfinity())};
  };
  Bound least = forms.bound(form, /*upper=*/false), most = forms.bound(form, /*upper=*/true);
  return {when(least), when(most), /*isExact=*/least == most};
}

/// `form <= 0`, solved for the key. One term may have it.
KeySet MaskInterpreter::solve(const Linear &form) {
  const Atom *keyed = nullptr;
  int64_t coefficient = 0;
  Linear rest;
  rest.constant = form.constant;
  for (auto [id, factor] : form.terms) {
    const Atom &atom = forms.atom(id);
    if (!atom.hasKey) {
      rest.terms[id] = factor;
      continue;
    }
    if (keyed) // two terms: periodic in the key, or a product of the two
      return unknownKeys();
    keyed = &atom;
    coefficient = factor;
  }
  return keyed ? solveTerm(*keyed, coefficient, rest) : rowsOnly(rest);
}

/// coefficient * atom + rest <= 0.
KeySet MaskInterpreter::solveTerm(const Atom &atom, int64_t coefficient, const Linear &rest) {
  std::optional<Linear> negative = forms.scale(rest, -1);
  if (!negative)
    return unknownKeys();
  if (atom.kind == Atom::Kind::Key && coefficient > 0) {
    // key <= floor(-rest / coefficient): some row keeps it up to the maximum, every row up to the minimum.
    auto end = [&](bool upper) {
      return Bound::add(Bound::floorDiv(forms.bound(*negative, upper), coefficient), Bound::constant(1));
    };
    return {{Bound::minusInfinity(), end(true)}, {Bound::minusInfinity(), end(false)}};
  }
  if (atom.kind == Atom::Kind::Key) {
    // key >= ceil(rest / -coefficient).
    auto start = [&](bool upper) {
      Bound numerator = Bound::add(forms.bound(rest, upper), Bound::constant(-coefficient - 1));
      return Bound::floorDiv(numerator, -coefficient);
    };
    return {{start(false), Bound::plusInfinity()}, {start(true), Bound::plusInfinity()}};
  }
  if (coefficient != 1 && coefficient != -1)
    return unknownKeys();
  // What is left is atom <= -rest, or atom >= rest.
  auto atMost = [&](const Linear &a, const Linear &b, int64_t plus) {
    std::optional<Linear> difference = forms.subtract(a, b);
    if (!difference)
      return unknownKeys();
    difference->constant += plus;
    return solve(*difference);
  };
  bool isUpper = coefficient == 1;
  const Linear &limit = isUpper ? *negative : rest;
  if (atom.kind == Atom::Kind::FloorDiv) {
    // floor(a / c) <= e is a <= c e + c - 1, and floor(a / c) >= e is c e <= a.
    std::optional<Linear> scaled = forms.scale(limit, atom.divisor);
    if (!scaled)
      return unknownKeys();
    return isUpper ? atMost(atom.first, *scaled, 1 - atom.divisor) : atMost(*scaled, atom.first, 0);
  }
  bool isConjunction = (atom.kind == Atom::Kind::Max) == isUpper;
  KeySet first = isUpper ? atMost(atom.first, limit, 0) : atMost(limit, atom.first, 0);
  KeySet second = isUpper ? atMost(atom.second, limit, 0) : atMost(limit, atom.second, 0);
  return isConjunction ? both(first, second) : either(first, second);
}

MaskRanges attn::analyzeMask(Region &region, int64_t rowCount, int64_t keyCount) {
  if (region.empty())
    return {everyKey(), everyKey(), true, nullptr};
  MaskInterpreter interpreter(region, rowCount, keyCount);
  KeySet keys = interpreter.evaluate(region.front().getTerminator()->getOperand(0));
  return {keys.may, keys.must, keys.isExact, interpreter.obstacle};
}

bool attn::keepsFirstKey(const MaskRanges &ranges, int64_t rowCount) {
  return ranges.full.lower.limits(rowCount).second <= 0 && ranges.full.upper.limits(rowCount).first >= 1;
}

bool attn::growsWithRows(const KeyRange &range) {
  Bound::Trend start = range.lower.trend();
  return range.upper.trend() == Bound::Trend::Grows && (start == Bound::Trend::Still || start == Bound::Trend::Falls);
}

/// Clones `value` and what it needs of its region.
static Value cloneSlice(ImplicitLocOpBuilder &b, Region &region, Value value, IRMapping &mapping) {
  if (value.getParentRegion() != &region || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneSlice(b, region, operand, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

Value attn::buildUniform(ImplicitLocOpBuilder &b, Region &region, Value uniform, Value batch, Value head) {
  IRMapping mapping;
  mapping.map(region.getArgument(0), batch);
  mapping.map(region.getArgument(1), head);
  Value value = cloneSlice(b, region, uniform, mapping);
  return value.getType().isIndex() ? value : arith::IndexCastOp::create(b, b.getIndexType(), value).getResult();
}
