//===- LinearForms.cpp - integers of a mask region as linear forms ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LinearForms.h"
#include "attn/Dialect/Attn/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Forms stay below this, so that sums of a few of them cannot overflow.
static constexpr int64_t kFormLimit = int64_t(1) << 58;
/// A uniform beyond this is taken for this: no row or key comes near it.
static constexpr int64_t kUniformLimit = int64_t(1) << 48;

bool attn::isUniformInRegion(Region &region, Value value) {
  if (value.getParentRegion() != &region)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() + 2 < region.getNumArguments(); // all but i and j
  return llvm::all_of(value.getDefiningOp()->getOperands(),
                      [&](Value operand) { return isUniformInRegion(region, operand); });
}

LinearForms::LinearForms(Region &region, int64_t rowCount, int64_t keyCount) : region(region) {
  Value row = region.getArguments().end()[-2], key = region.getArguments().end()[-1];
  int64_t lastRow = std::max<int64_t>(rowCount, 1) - 1, lastKey = std::max<int64_t>(keyCount, 1) - 1;
  ranges.assume(row, 0, lastRow);
  ranges.assume(key, 0, lastKey);
  known[row] = fromAtom({Atom::Kind::Row, {}, {}, {}, 1, false, 0, lastRow});
  known[key] = fromAtom({Atom::Kind::Key, {}, {}, {}, 1, true, 0, lastKey});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Linear LinearForms::fromAtom(Atom atom) {
  auto isSame = [&](const Atom &other) {
    return other.kind == atom.kind && other.value == atom.value && other.first == atom.first &&
           other.second == atom.second && other.divisor == atom.divisor;
  };
  auto found = llvm::find_if(atoms, isSame);
  unsigned id = found - atoms.begin();
  if (found == atoms.end())
    atoms.push_back(std::move(atom));
  Linear form;
  form.terms[id] = 1;
  return form;
}

bool LinearForms::hasKey(const Linear &form) {
  return llvm::any_of(form.terms, [&](auto term) { return atoms[term.first].hasKey; });
}

std::optional<std::pair<int64_t, int64_t>> LinearForms::interval(const Linear &form) {
  // 128 bits hold any sum of a few products of 64-bit numbers.
  __int128 low = form.constant, high = form.constant;
  for (auto [id, factor] : form.terms) {
    __int128 a = static_cast<__int128>(factor) * atoms[id].low, b = static_cast<__int128>(factor) * atoms[id].high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  if (low < -kFormLimit || high > kFormLimit)
    return std::nullopt;
  return std::pair<int64_t, int64_t>(low, high);
}

bool LinearForms::isLimited(const Linear &form) {
  return llvm::any_of(form.terms, [&](auto term) { return atoms[term.first].isLimited; });
}

std::optional<Linear> LinearForms::checked(Linear form) {
  for (auto term = form.terms.begin(); term != form.terms.end();)
    term = term->second ? std::next(term) : form.terms.erase(term);
  Linear others;
  others.constant = form.constant;
  unsigned limited = 0;
  for (auto [id, factor] : form.terms) {
    if (!atoms[id].isLimited)
      others.terms[id] = factor;
    else if (++limited > 1 || (factor != 1 && factor != -1))
      return std::nullopt;
  }
  if (limited) {
    auto range = interval(others);
    if (!range || range->first < -kUniformLimit / 4 || range->second > kUniformLimit / 4)
      return std::nullopt;
  }
  return interval(form) ? std::optional<Linear>(std::move(form)) : std::nullopt;
}

std::optional<Linear> LinearForms::scale(const Linear &form, int64_t factor) {
  Linear result;
  if (llvm::MulOverflow(form.constant, factor, result.constant))
    return std::nullopt;
  for (auto [id, coefficient] : form.terms)
    if (llvm::MulOverflow(coefficient, factor, result.terms[id]))
      return std::nullopt;
  return checked(std::move(result));
}

std::optional<Linear> LinearForms::add(const Linear &a, const Linear &b) {
  Linear result = a;
  if (llvm::AddOverflow(a.constant, b.constant, result.constant))
    return std::nullopt;
  for (auto [id, coefficient] : b.terms)
    if (int64_t &sum = result.terms[id]; llvm::AddOverflow(sum, coefficient, sum))
      return std::nullopt;
  return checked(std::move(result));
}

std::optional<Linear> LinearForms::subtract(const Linear &a, const Linear &b) {
  std::optional<Linear> negative = scale(b, -1);
  return negative ? add(a, *negative) : std::nullopt;
}

std::optional<Linear> LinearForms::divide(const Linear &form, int64_t divisor) {
  auto range = interval(form);
  if (!range || divisor <= 0 || isLimited(form))
    return std::nullopt;
  return fromAtom({Atom::Kind::FloorDiv,
                   {},
                   form,
                   {},
                   divisor,
                   hasKey(form),
                   llvm::divideFloorSigned(range->first, divisor),
                   llvm::divideFloorSigned(range->second, divisor)});
}

std::optional<Linear> LinearForms::extremum(const Linear &a, const Linear &b, bool isMax) {
  auto first = interval(a), second = interval(b);
  if (!first || !second)
    return std::nullopt;
  auto pick = [&](int64_t x, int64_t y) { return isMax ? std::max(x, y) : std::min(x, y); };
  return fromAtom({isMax ? Atom::Kind::Max : Atom::Kind::Min,
                   {},
                   a,
                   b,
                   1,
                   hasKey(a) || hasKey(b),
                   pick(first->first, second->first),
                   pick(first->second, second->second),
                   isLimited(a) || isLimited(b)});
}

bool LinearForms::isNonNegative(const Linear &form) {
  auto range = interval(form);
  return range && range->first >= 0;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Sizes and narrow integers keep their range; what may be larger is limited.
Linear LinearForms::fromUniform(Value value) {
  // Memory holds no more elements than this; captures of size 0 aside, where nothing is read.
  if (isa_and_nonnull<memref::DimOp, tensor::DimOp>(value.getDefiningOp()))
    ranges.assume(value, 0, kUniformLimit / 8);
  ConstantIntRanges range = ranges.get(value);
  bool isProved = range.smin().sge(-kUniformLimit) && range.smax().sle(kUniformLimit);
  int64_t low = isProved ? range.smin().getSExtValue() : -kUniformLimit;
  int64_t high = isProved ? range.smax().getSExtValue() : kUniformLimit;
  return fromAtom({Atom::Kind::Uniform, value, {}, {}, 1, false, low, high, !isProved});
}

std::optional<Linear> LinearForms::get(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Linear> form = compute(value);
  // Narrow arithmetic wraps: the form holds only where it stays in the type.
  if (auto type = dyn_cast<IntegerType>(value.getType()); form && type && type.getWidth() < 64) {
    auto range = interval(*form);
    if (!range || !llvm::isIntN(type.getWidth(), range->first) || !llvm::isIntN(type.getWidth(), range->second))
      form = std::nullopt;
  }
  known[value] = form;
  return form;
}

/// The operand of a cast that changes no value here: of the same or a larger type, or proved to fit.
static bool isExactCast(Operation *op) { return isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op); }

std::optional<Linear> LinearForms::compute(Value value) {
  if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.isSignedIntN(60)) {
    Linear form;
    form.constant = constant.getSExtValue();
    return checked(form);
  }
  Operation *op = value.getDefiningOp();
  bool isInside = value.getParentRegion() == &region;
  // What is computed outside is one value, unless it is plain arithmetic whose parts may cancel with others.
  if (op && op->getNumResults() == 1 && op->getNumOperands() > 0 &&
      (isInside || isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp>(op))) {
    auto operand = [&](unsigned k) { return get(op->getOperand(k)); };
    auto binary = [&](auto combine) -> std::optional<Linear> {
      std::optional<Linear> a = operand(0), b = operand(1);
      return a && b ? combine(*a, *b) : std::nullopt;
    };
    auto byConstant = [&](auto combine) -> std::optional<Linear> {
      std::optional<Linear> a = operand(0), b = operand(1);
      return a && b && b->terms.empty() ? combine(*a, b->constant) : std::nullopt;
    };
    std::optional<Linear> form;
    if (isa<arith::AddIOp>(op))
      form = binary([&](auto &a, auto &b) { return add(a, b); });
    else if (isa<arith::SubIOp>(op))
      form = binary([&](auto &a, auto &b) { return subtract(a, b); });
    else if (isa<arith::MulIOp>(op))
      form = byConstant([&](auto &a, int64_t factor) { return scale(a, factor); });
    else if (isa<arith::FloorDivSIOp>(op))
      form = byConstant([&](auto &a, int64_t divisor) { return divide(a, divisor); });
    else if (isa<arith::DivSIOp, arith::DivUIOp>(op)) // rounds down where nothing is negative
      form = byConstant([&](auto &a, int64_t divisor) -> std::optional<Linear> {
        return isNonNegative(a) ? divide(a, divisor) : std::nullopt;
      });
    else if (isa<arith::RemSIOp, arith::RemUIOp>(op))
      form = byConstant([&](auto &a, int64_t divisor) -> std::optional<Linear> {
        std::optional<Linear> quotient = isNonNegative(a) ? divide(a, divisor) : std::nullopt;
        std::optional<Linear> whole = quotient ? scale(*quotient, divisor) : std::nullopt;
        return whole ? subtract(a, *whole) : std::nullopt;
      });
    else if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
      form = binary([&](auto &a, auto &b) { return extremum(a, b, isa<arith::MaxSIOp>(op)); });
    else if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op)) {
      form = operand(0);
      if (form && !isNonNegative(*form))
        form = std::nullopt;
    } else if (isExactCast(op))
      form = operand(0);
    if (form)
      return form;
  }
  return isUniformInRegion(region, value) ? std::optional<Linear>(fromUniform(value)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Bounds over the rows of a tile
//===----------------------------------------------------------------------===//

Bound LinearForms::boundOfAtom(const Atom &atom, bool upper) {
  switch (atom.kind) {
  case Atom::Kind::Row:
    return upper ? Bound::lastRow() : Bound::firstRow();
  case Atom::Kind::Uniform:
    return Bound::uniform(atom.value, atom.low, atom.high);
  case Atom::Kind::FloorDiv:
    return Bound::floorDiv(bound(atom.first, upper), atom.divisor);
  case Atom::Kind::Min:
    return Bound::min(bound(atom.first, upper), bound(atom.second, upper));
  case Atom::Kind::Max:
    return Bound::max(bound(atom.first, upper), bound(atom.second, upper));
  case Atom::Kind::Key:
    break;
  }
  llvm_unreachable("bounds are taken of forms without the key");
}

Bound LinearForms::bound(const Linear &form, bool upper) {
  Bound sum = Bound::constant(form.constant);
  for (auto [id, factor] : form.terms) {
    // The atom is copied: bounds of its parts may be asked for while atoms are added elsewhere.
    Atom atom = atoms[id];
    sum = Bound::add(Bound::scale(boundOfAtom(atom, upper == (factor > 0)), factor), sum);
  }
  return sum;
}
