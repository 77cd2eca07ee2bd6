//===- PresburgerOracle.cpp - mask analysis checked for all sizes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers become linear forms over the variables of a formula. What is not linear (floor divisions by constants,
// minima, maxima, selections) becomes a variable of its own with the condition that defines it; as each is a function
// of the others, it may be bound existentially, whether the formula around it is negated or not.
//
//===----------------------------------------------------------------------===//

#include "PresburgerOracle.h"
#include "mlir/Analysis/Presburger/PresburgerRelation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <functional>
#include <map>

using namespace mlir;
using namespace attn;
using llvm::DynamicAPInt;
using presburger::IntegerPolyhedron;
using presburger::PresburgerSet;
using presburger::PresburgerSpace;
using presburger::VarKind;

namespace {

/// constant + sum of coefficient * variable.
struct Form {
  DynamicAPInt constant = DynamicAPInt(0);
  std::map<unsigned, DynamicAPInt> terms;
};

Form number(int64_t value) { return {DynamicAPInt(value), {}}; }
Form variable(unsigned id) { return {DynamicAPInt(0), {{id, DynamicAPInt(1)}}}; }

Form scale(Form form, const DynamicAPInt &factor) {
  form.constant *= factor;
  for (auto &term : form.terms)
    term.second *= factor;
  return form;
}

Form operator+(Form a, const Form &b) {
  a.constant += b.constant;
  for (auto &[id, factor] : b.terms)
    a.terms[id] += factor;
  return a;
}

Form operator-(const Form &a, const Form &b) { return a + scale(b, DynamicAPInt(-1)); }

/// A condition, made into a set once the number of variables is known.
using Formula = std::function<PresburgerSet(const PresburgerSpace &)>;

Formula always(bool value) {
  return [=](const PresburgerSpace &space) {
    return value ? PresburgerSet::getUniverse(space) : PresburgerSet::getEmpty(space);
  };
}
Formula operator&(Formula a, Formula b) {
  return [=](const PresburgerSpace &space) { return a(space).intersect(b(space)); };
}
Formula operator|(Formula a, Formula b) {
  return [=](const PresburgerSpace &space) { return a(space).unionSet(b(space)); };
}
Formula operator~(Formula a) {
  return [=](const PresburgerSpace &space) { return a(space).complement(); };
}
Formula operator<=(const Form &a, const Form &b) {
  return [form = b - a](const PresburgerSpace &space) {
    SmallVector<DynamicAPInt> row(space.getNumVars() + 1, DynamicAPInt(0));
    for (auto &[id, factor] : form.terms)
      row[id] = factor;
    row.back() = form.constant;
    IntegerPolyhedron halfSpace(space);
    halfSpace.addInequality(row);
    return PresburgerSet(halfSpace);
  };
}
Formula operator<(const Form &a, const Form &b) { return a + number(1) <= b; }
Formula operator==(const Form &a, const Form &b) { return (a <= b) & (b <= a); }

/// The variables that all sets share, in front of those of each encoder: rows of the tile, a key, the number of keys.
enum Shared : unsigned { FirstRowId, LastRowId, KeyId, NumKeysId, NumFixedIds };

/// Translates IR into formulas over the shared variables, the uniforms and variables of its own.
class Encoder {
public:
  /// Uniforms (values from outside the region, b and h) have variables that all encoders share, too.
  explicit Encoder(SmallVectorImpl<Value> &uniforms) : uniforms(uniforms), numVariables(NumFixedIds + kMaxUniforms) {}

  void set(Value value, Form form) { forms[value] = std::move(form); }
  Form fresh() { return variable(numVariables++); }
  Form get(Value value);
  Formula condition(Value value);
  Form minimum(const Form &a, const Form &b) { return select(a <= b, a, b); }
  Form maximum(const Form &a, const Form &b) { return select(a <= b, b, a); }

  /// The values of the shared variables for which the variables of this encoder can make the formula true.
  PresburgerSet solve(const Formula &formula) const;

  /// An operation had no translation; the rest is meaningless.
  bool isBeyond = false;

private:
  static constexpr unsigned kMaxUniforms = 6;
  Form compute(Value value);
  Form select(const Formula &condition, const Form &yes, const Form &no);
  Form floorDiv(const Form &dividend, int64_t divisor);
  Form uniform(Value value);
  Formula rangeOf(const Form &form, Type type);

  SmallVectorImpl<Value> &uniforms;
  unsigned numVariables;
  llvm::DenseMap<Value, Form> forms;
  Formula definitions = always(true);
};

} // namespace

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// condition ? yes : no.
Form Encoder::select(const Formula &condition, const Form &yes, const Form &no) {
  Form result = fresh();
  definitions = definitions & ((condition & (result == yes)) | (~condition & (result == no)));
  return result;
}

Form Encoder::floorDiv(const Form &dividend, int64_t divisor) {
  Form quotient = fresh(), product = scale(quotient, DynamicAPInt(divisor));
  definitions = definitions & (product <= dividend) & (dividend < product + number(divisor));
  return quotient;
}

/// What an integer type holds; an index far enough from its ends that sums with positions do not wrap.
Formula Encoder::rangeOf(const Form &form, Type type) {
  unsigned width = type.isIndex() ? 63 : type.getIntOrFloatBitWidth();
  return (number(llvm::minIntN(width)) <= form) & (form <= number(llvm::maxIntN(width)));
}

Form Encoder::uniform(Value value) {
  auto *found = llvm::find(uniforms, value);
  unsigned position = found - uniforms.begin();
  if (found == uniforms.end())
    uniforms.push_back(value);
  isBeyond |= position >= kMaxUniforms;
  Form form = variable(NumFixedIds + position);
  definitions = definitions & rangeOf(form, value.getType());
  return form;
}

Form Encoder::get(Value value) {
  auto found = forms.find(value);
  if (found != forms.end())
    return found->second;
  Form form = compute(value);
  forms[value] = form;
  return form;
}

Form Encoder::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return number(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return uniform(value);
  auto operand = [&](unsigned k) { return get(op->getOperand(k)); };
  auto constantOperand = [&]() -> int64_t {
    bool isConstant = op->getNumOperands() == 2 && matchPattern(op->getOperand(1), m_ConstantInt(&constant));
    isBeyond |= !isConstant;
    return isConstant ? constant.getSExtValue() : 1;
  };
  if (isa<arith::AddIOp>(op))
    return operand(0) + operand(1);
  if (isa<arith::SubIOp>(op))
    return operand(0) - operand(1);
  if (isa<arith::MulIOp>(op))
    return scale(operand(0), DynamicAPInt(constantOperand()));
  if (isa<arith::MinSIOp>(op))
    return minimum(operand(0), operand(1));
  if (isa<arith::MaxSIOp>(op))
    return maximum(operand(0), operand(1));
  // The masks divide nothing negative but by floordivsi.
  if (isa<arith::FloorDivSIOp, arith::DivUIOp>(op))
    return floorDiv(operand(0), constantOperand());
  if (isa<arith::RemUIOp>(op))
    return operand(0) - scale(floorDiv(operand(0), constantOperand()), DynamicAPInt(constantOperand()));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return operand(0);
  if (isa<arith::SelectOp>(op))
    return select(condition(op->getOperand(0)), operand(1), operand(2));
  isBeyond = true;
  return number(0);
}

static Formula compare(arith::CmpIPredicate predicate, const Form &a, const Form &b) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::sle:
  case Predicate::ule: // of nothing negative
    return a <= b;
  case Predicate::slt:
  case Predicate::ult:
    return a < b;
  case Predicate::sge:
  case Predicate::uge:
    return b <= a;
  case Predicate::sgt:
  case Predicate::ugt:
    return b < a;
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return (a < b) | (b < a);
  }
  llvm_unreachable("every predicate is handled");
}

Formula Encoder::condition(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return always(!constant.isZero());
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned k) { return condition(op->getOperand(k)); };
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op))
    return compare(comparison.getPredicate(), get(comparison.getLhs()), get(comparison.getRhs()));
  if (isa_and_nonnull<arith::AndIOp>(op))
    return operand(0) & operand(1);
  if (isa_and_nonnull<arith::OrIOp>(op))
    return operand(0) | operand(1);
  if (isa_and_nonnull<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
    return ~operand(0);
  if (isa_and_nonnull<arith::SelectOp>(op))
    return (operand(0) & operand(1)) | (~operand(0) & operand(2));
  isBeyond = true;
  return always(false);
}

PresburgerSet Encoder::solve(const Formula &formula) const {
  PresburgerSpace space = PresburgerSpace::getSetSpace(numVariables);
  PresburgerSet solutions = (definitions & formula)(space);
  const unsigned shared = NumFixedIds + kMaxUniforms;
  PresburgerSet projected = PresburgerSet::getEmpty(PresburgerSpace::getSetSpace(shared));
  for (const presburger::IntegerRelation &disjunct : solutions.getAllDisjuncts()) {
    presburger::IntegerRelation projection = disjunct;
    projection.convertToLocal(VarKind::SetDim, shared, numVariables);
    projected.unionInPlace(projection);
  }
  return projected;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

namespace {

/// A key range as IR in a block of its own, whose arguments are the first and the last row.
struct RangeBuilder {
  RangeBuilder(Region &region, const KeyRange &range) {
    Location loc = region.getLoc();
    Type index = IndexType::get(region.getContext());
    firstRow = block.addArgument(index, loc);
    lastRow = block.addArgument(index, loc);
    ImplicitLocOpBuilder b(loc, region.getContext());
    b.setInsertionPointToStart(&block);
    auto asIndex = [&](Value value) -> Value {
      return value.getType().isIndex() ? value : arith::IndexCastOp::create(b, index, value).getResult();
    };
    lower = range.lower.build(b, firstRow, lastRow, asIndex);
    upper = range.upper.build(b, firstRow, lastRow, asIndex);
  }

  Block block;
  Value firstRow, lastRow, lower, upper;
};

/// The formulas of one claim.
struct Claim {
  Claim(Region &region, SmallVectorImpl<Value> &uniforms, int64_t maxExtent) : region(region), encoder(uniforms) {
    Form first = variable(FirstRowId), last = variable(LastRowId), key = variable(KeyId), keys = variable(NumKeysId);
    valid = (number(0) <= first) & (first <= last) & (last < number(maxExtent)) & (number(0) <= key) & (key < keys) &
            (keys <= number(maxExtent));
  }

  /// Some row of the tile keeps the key, or drops it.
  Formula someRow(bool keeps) {
    Form row = encoder.fresh();
    encoder.set(region.getArgument(2), row);
    encoder.set(region.getArgument(3), variable(KeyId));
    Formula kept = encoder.condition(region.front().getTerminator()->getOperand(0));
    return (variable(FirstRowId) <= row) & (row <= variable(LastRowId)) & (keeps ? kept : ~kept);
  }
  std::pair<Form, Form> ends(RangeBuilder &range) {
    encoder.set(range.firstRow, variable(FirstRowId));
    encoder.set(range.lastRow, variable(LastRowId));
    return {encoder.get(range.lower), encoder.get(range.upper)};
  }
  Formula inside(RangeBuilder &range) {
    auto [lower, upper] = ends(range);
    return (lower <= variable(KeyId)) & (variable(KeyId) < upper);
  }
  /// The key is the first, or the last, that is both in the range and below the number of keys.
  Formula isEnd(RangeBuilder &range, bool isFirst) {
    auto [lower, upper] = ends(range);
    Form low = encoder.maximum(lower, number(0)), high = encoder.minimum(upper, variable(NumKeysId));
    return (low < high) & (variable(KeyId) == (isFirst ? low : high - number(1)));
  }
  PresburgerSet solve(const Formula &formula) { return encoder.solve(valid & formula); }

  Region &region;
  Encoder encoder;
  Formula valid = always(true);
};

} // namespace

std::string attn::disprove(Region &region, const MaskRanges &ranges, int64_t maxExtent) {
  SmallVector<Value> uniforms;
  RangeBuilder live(region, ranges.live), full(region, ranges.full);
  Claim kept(region, uniforms, maxExtent), lost(region, uniforms, maxExtent), dropped(region, uniforms, maxExtent);
  PresburgerSet keptKeys = kept.solve(kept.someRow(true));
  if (kept.encoder.isBeyond)
    return "not affine";
  if (!lost.solve(lost.someRow(true) & ~lost.inside(live)).isIntegerEmpty())
    return "a kept key is not in the live range";
  if (!dropped.solve(dropped.someRow(false) & dropped.inside(full)).isIntegerEmpty())
    return "a dropped key is in the full range";
  if (!ranges.isExact)
    return "";
  PresburgerSet keptExactly(keptKeys.computeReprWithOnlyDivLocals());
  for (bool isFirst : {true, false}) {
    Claim end(region, uniforms, maxExtent);
    if (!end.solve(end.isEnd(live, isFirst)).subtract(keptExactly).isIntegerEmpty())
      return std::string("no row keeps the ") + (isFirst ? "first" : "last") + " key of the live range";
  }
  return "";
}
