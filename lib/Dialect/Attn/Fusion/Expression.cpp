//===- Expression.cpp - unique expressions of elements and indices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expression.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

//===----------------------------------------------------------------------===//
// Expr
//===----------------------------------------------------------------------===//

std::optional<int64_t> Expr::getInteger() const {
  if (kind == Kind::Linear && operands.empty())
    return offset;
  return std::nullopt;
}

std::optional<double> Expr::getReal() const {
  auto real = kind == Kind::Constant ? dyn_cast<FloatAttr>(attribute) : FloatAttr();
  return real ? std::optional(real.getValueAsDouble()) : std::nullopt;
}

std::optional<bool> Expr::getBool() const {
  auto boolean = kind == Kind::Constant ? dyn_cast<IntegerAttr>(attribute) : IntegerAttr();
  return boolean ? std::optional(!boolean.getValue().isZero()) : std::nullopt;
}

void Expr::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(int(kind));
  id.AddPointer(type.getAsOpaquePointer());
  id.AddPointer(attribute.getAsOpaquePointer());
  id.AddPointer(opName.getAsOpaquePointer());
  id.AddPointer(value.getAsOpaquePointer());
  id.AddInteger(offset);
  for (auto [k, operand] : llvm::enumerate(operands)) {
    id.AddPointer(operand);
    if (kind == Kind::Linear)
      id.AddInteger(coefficients[k]);
  }
}

void fusion::walk(ExprRef root, llvm::function_ref<void(ExprRef)> visit) {
  llvm::DenseSet<ExprRef> seen;
  SmallVector<std::pair<ExprRef, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [e, areOperandsDone] = stack.pop_back_val();
    if (areOperandsDone) {
      visit(e);
    } else if (seen.insert(e).second) {
      stack.push_back({e, true});
      for (ExprRef operand : llvm::reverse(e->operands))
        stack.push_back({operand, false});
    }
  }
}

bool fusion::contains(ExprRef e, ExprRef part) {
  bool found = false;
  walk(e, [&](ExprRef sub) { found |= sub == part; });
  return found;
}

static void printValue(llvm::raw_ostream &out, Value value) {
  if (value)
    value.printAsOperand(out, OpPrintingFlags());
  else
    out << "argument";
}

void fusion::print(llvm::raw_ostream &out, ExprRef e) {
  auto list = [&](StringRef open, StringRef close) {
    out << open;
    llvm::interleaveComma(e->operands, out, [&](ExprRef operand) { print(out, operand); });
    out << close;
  };
  switch (e->kind) {
  case Expr::Kind::Constant:
    e->attribute.print(out, /*elideType=*/true);
    return;
  case Expr::Kind::Dim:
    out << "d" << e->id;
    return;
  case Expr::Kind::Linear:
    out << "(" << e->offset;
    for (auto [operand, coefficient] : llvm::zip_equal(e->operands, e->coefficients)) {
      out << " + " << coefficient << " * ";
      print(out, operand);
    }
    out << ")";
    return;
  case Expr::Kind::Quotient:
  case Expr::Kind::Remainder:
    list("(", e->is(Expr::Kind::Quotient) ? " / " : " mod ");
    out << e->offset << ")";
    return;
  case Expr::Kind::Apply:
    out << e->opName.getValue();
    return list("(", ")");
  case Expr::Kind::Element:
    printValue(out, e->value);
    return list("[", "]");
  case Expr::Kind::Size:
    out << "size " << e->offset << " of ";
    return printValue(out, e->value);
  case Expr::Kind::Outside:
    return printValue(out, e->value);
  }
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

ExprRef Expressions::unique(Expr &&expr) {
  llvm::FoldingSetNodeID id;
  expr.Profile(id);
  void *position;
  if (Expr *known = set.FindNodeOrInsertPos(id, position))
    return known;
  expr.id = storage.size();
  storage.push_back(std::move(expr));
  set.InsertNode(&storage.back(), position);
  return &storage.back();
}

static Expr makeExpr(Expr::Kind kind, Type type) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  return expr;
}

ExprRef Expressions::integer(int64_t value) { return linear({{}, value}); }

ExprRef Expressions::boolean(bool value) { return constant(BoolAttr::get(context, value)); }

ExprRef Expressions::constant(TypedAttr value) {
  auto integerAttr = dyn_cast<IntegerAttr>(value);
  if (integerAttr && !value.getType().isInteger(1))
    return integer(integerAttr.getValue().getSExtValue());
  Expr expr = makeExpr(Expr::Kind::Constant, value.getType());
  expr.attribute = value;
  return unique(std::move(expr));
}

ExprRef Expressions::dim(Extent extent) {
  if (extent.size == 1)
    return integer(0);
  Expr expr = makeExpr(Expr::Kind::Dim, IndexType::get(context));
  expr.extent = extent;
  expr.offset = storage.size(); // each is its own
  return unique(std::move(expr));
}

ExprRef Expressions::element(Value tensor, ArrayRef<ExprRef> indices) {
  Expr expr = makeExpr(Expr::Kind::Element, cast<ShapedType>(tensor.getType()).getElementType());
  expr.value = tensor;
  expr.operands.assign(indices.begin(), indices.end());
  return unique(std::move(expr));
}

ExprRef Expressions::outside(Value scalar) {
  Expr expr = makeExpr(Expr::Kind::Outside, scalar.getType());
  expr.value = scalar;
  return unique(std::move(expr));
}

ExprRef Expressions::size(Value tensor, int64_t dimension) {
  Expr expr = makeExpr(Expr::Kind::Size, IndexType::get(context));
  expr.value = tensor;
  expr.offset = dimension;
  return unique(std::move(expr));
}

ExprRef Expressions::argument(Type type) {
  Expr expr = makeExpr(Expr::Kind::Outside, type);
  expr.offset = storage.size(); // each is its own
  return unique(std::move(expr));
}

void Expressions::assumePartial(ExprRef e) {
  walk(e, [&](ExprRef part) {
    if (part->is(Expr::Kind::Element))
      partial.insert(part->value);
  });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

LinearForm Expressions::getLinear(ExprRef e) {
  if (e->kind != Expr::Kind::Linear)
    return {{{e, 1}}, 0};
  LinearForm form;
  form.offset = e->offset;
  for (auto [operand, coefficient] : llvm::zip_equal(e->operands, e->coefficients))
    form.terms.push_back({operand, coefficient});
  return form;
}

/// c * s * (y / s) + c * (y mod s) is c * y.
static bool recompose(Expressions &expressions, LinearForm &form) {
  for (auto [k, term] : llvm::enumerate(form.terms)) {
    auto [rest, coefficient] = term;
    if (!rest->is(Expr::Kind::Remainder))
      continue;
    ExprRef whole = rest->operands[0];
    ExprRef part = expressions.quotient(whole, rest->offset);
    int64_t needed = coefficient * rest->offset;
    auto other = llvm::find_if(form.terms, [&](auto &t) { return t.first == part && t.second == needed; });
    if (other == form.terms.end())
      continue;
    size_t first = std::min<size_t>(k, other - form.terms.begin()),
           last = std::max<size_t>(k, other - form.terms.begin());
    form.terms.erase(form.terms.begin() + last);
    form.terms.erase(form.terms.begin() + first);
    LinearForm wholeForm = Expressions::getLinear(whole);
    form.offset += coefficient * wholeForm.offset;
    for (auto &t : wholeForm.terms)
      form.terms.push_back({t.first, coefficient * t.second});
    return true;
  }
  return false;
}

/// One term for each operand, in the order of their ids, none with coefficient 0.
static void mergeTerms(LinearForm &form) {
  llvm::sort(form.terms, [](auto &a, auto &b) { return a.first->id < b.first->id; });
  SmallVector<std::pair<ExprRef, int64_t>, 4> merged;
  for (auto [operand, coefficient] : form.terms) {
    if (!merged.empty() && merged.back().first == operand)
      merged.back().second += coefficient;
    else
      merged.push_back({operand, coefficient});
  }
  llvm::erase_if(merged, [](auto &term) { return term.second == 0; });
  form.terms = merged;
}

ExprRef Expressions::linear(const LinearForm &given) {
  LinearForm form = given;
  do
    mergeTerms(form);
  while (recompose(*this, form));
  if (form.terms.size() == 1 && form.offset == 0 && form.terms[0].second == 1)
    return form.terms[0].first;
  Expr expr = makeExpr(Expr::Kind::Linear, IndexType::get(context));
  expr.offset = form.offset;
  for (auto [operand, coefficient] : form.terms) {
    expr.operands.push_back(operand);
    expr.coefficients.push_back(coefficient);
  }
  return unique(std::move(expr));
}

ExprRef Expressions::scaled(ExprRef a, int64_t factor, int64_t offset) {
  LinearForm form = getLinear(a);
  for (auto &term : form.terms)
    term.second = int64_t(uint64_t(term.second) * uint64_t(factor));
  form.offset = int64_t(uint64_t(form.offset) * uint64_t(factor) + uint64_t(offset));
  return linear(form);
}

ExprRef Expressions::add(ExprRef a, ExprRef b, int64_t factor) {
  LinearForm form = getLinear(a), second = getLinear(scaled(b, factor));
  form.terms.append(second.terms);
  form.offset = int64_t(uint64_t(form.offset) + uint64_t(second.offset));
  return linear(form);
}

ExprRef Expressions::product(ExprRef a, ExprRef b) {
  Type index = IndexType::get(context);
  return apply(arith::MulIOp::getOperationName(), nullptr, index, {a, b}, {index, index});
}

static IntegerRange addRanges(IntegerRange a, IntegerRange b) {
  IntegerRange sum;
  if (!a.isKnown() || !b.isKnown() || llvm::AddOverflow(a.low, b.low, sum.low) ||
      llvm::AddOverflow(a.high, b.high, sum.high))
    return {};
  return sum;
}

static IntegerRange scaleRange(IntegerRange a, int64_t factor) {
  int64_t x, y;
  if (!a.isKnown() || llvm::MulOverflow(a.low, factor, x) || llvm::MulOverflow(a.high, factor, y))
    return {};
  return {std::min(x, y), std::max(x, y)};
}

/// What the op alone tells of its result.
static IntegerRange rangeOfApply(Expressions &expressions, ExprRef e) {
  if (e->isApply<arith::ExtUIOp>() && e->operandTypes[0].isInteger(1))
    return {0, 1};
  if (e->isApply<arith::SelectOp>()) {
    IntegerRange yes = expressions.rangeOf(e->operands[1]), no = expressions.rangeOf(e->operands[2]);
    return yes.isKnown() && no.isKnown() ? IntegerRange{std::min(yes.low, no.low), std::max(yes.high, no.high)}
                                         : IntegerRange();
  }
  if (e->isApply<arith::MulIOp>()) {
    IntegerRange a = expressions.rangeOf(e->operands[0]), b = expressions.rangeOf(e->operands[1]);
    int64_t high;
    bool isKnown = a.isKnown() && b.isKnown() && a.low >= 0 && b.low >= 0 && !llvm::MulOverflow(a.high, b.high, high);
    return isKnown ? IntegerRange{a.low * b.low, high} : IntegerRange();
  }
  bool isMin = e->isApply<arith::MinSIOp>(), isMax = e->isApply<arith::MaxSIOp>();
  if (isMin || isMax) {
    IntegerRange a = expressions.rangeOf(e->operands[0]), b = expressions.rangeOf(e->operands[1]);
    return isMin ? IntegerRange{std::min(a.low, b.low), std::min(a.high, b.high)}
                 : IntegerRange{std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  return {};
}

IntegerRange Expressions::rangeOf(ExprRef e) {
  switch (e->kind) {
  case Expr::Kind::Dim:
    return {0, std::max<int64_t>(e->extent.isStatic() ? e->extent.size : kMaxExtent, 1) - 1};
  case Expr::Kind::Linear: {
    IntegerRange sum{e->offset, e->offset};
    for (auto [operand, coefficient] : llvm::zip_equal(e->operands, e->coefficients))
      sum = addRanges(sum, scaleRange(rangeOf(operand), coefficient));
    return sum;
  }
  case Expr::Kind::Quotient: {
    IntegerRange whole = rangeOf(e->operands[0]);
    return whole.isKnown() ? IntegerRange{whole.low / e->offset, whole.high / e->offset} : IntegerRange{0, INT64_MAX};
  }
  case Expr::Kind::Remainder:
    return {0, e->offset - 1};
  case Expr::Kind::Size:
    return {0, kMaxExtent};
  case Expr::Kind::Apply:
    return rangeOfApply(*this, e);
  default:
    return {};
  }
}

/// Splits e into divisor * whole + rest, with rest in [0, divisor); false where the terms do not fall apart so.
static bool splitByDivisor(Expressions &expressions, ExprRef e, int64_t divisor, ExprRef &whole, ExprRef &rest) {
  LinearForm form = Expressions::getLinear(e), wholeForm, restForm;
  wholeForm.offset = llvm::divideFloorSigned(form.offset, divisor);
  restForm.offset = form.offset - wholeForm.offset * divisor;
  for (auto [operand, coefficient] : form.terms) {
    if (coefficient % divisor == 0)
      wholeForm.terms.push_back({operand, coefficient / divisor});
    else
      restForm.terms.push_back({operand, coefficient});
  }
  rest = expressions.linear(restForm);
  whole = expressions.linear(wholeForm);
  return expressions.rangeOf(rest).isWithin(0, divisor - 1);
}

ExprRef Expressions::quotient(ExprRef a, int64_t divisor) {
  ExprRef whole, rest;
  if (divisor == 1)
    return a;
  if (splitByDivisor(*this, a, divisor, whole, rest))
    return whole;
  if (rest != a && rangeOf(rest).low >= 0)
    return add(whole, quotient(rest, divisor));
  if (a->is(Expr::Kind::Quotient))
    return quotient(a->operands[0], a->offset * divisor);
  if (a->is(Expr::Kind::Remainder) && a->offset % divisor == 0)
    return remainder(quotient(a->operands[0], divisor), a->offset / divisor);
  Expr expr = makeExpr(Expr::Kind::Quotient, IndexType::get(context));
  expr.operands = {a};
  expr.offset = divisor;
  return unique(std::move(expr));
}

ExprRef Expressions::remainder(ExprRef a, int64_t divisor) {
  ExprRef whole, rest;
  if (divisor == 1)
    return integer(0);
  if (splitByDivisor(*this, a, divisor, whole, rest))
    return rest;
  if (rest != a && rangeOf(rest).low >= 0)
    return remainder(rest, divisor);
  if (a->is(Expr::Kind::Remainder) && a->offset % divisor == 0)
    return remainder(a->operands[0], divisor);
  Expr expr = makeExpr(Expr::Kind::Remainder, IndexType::get(context));
  expr.operands = {a};
  expr.offset = divisor;
  return unique(std::move(expr));
}

//===----------------------------------------------------------------------===//
// Substitution
//===----------------------------------------------------------------------===//

ExprRef Expressions::substitute(ExprRef in, const llvm::DenseMap<ExprRef, ExprRef> &by) {
  llvm::DenseMap<ExprRef, ExprRef> done = by;
  walk(in, [&](ExprRef e) {
    if (done.contains(e))
      return;
    SmallVector<ExprRef> operands;
    for (ExprRef operand : e->operands)
      operands.push_back(done.lookup(operand));
    if (operands == e->operands) {
      done[e] = e;
      return;
    }
    switch (e->kind) {
    case Expr::Kind::Linear: {
      ExprRef sum = integer(e->offset);
      for (auto [operand, coefficient] : llvm::zip_equal(operands, e->coefficients))
        sum = add(sum, operand, coefficient);
      done[e] = sum;
      return;
    }
    case Expr::Kind::Quotient:
      done[e] = quotient(operands[0], e->offset);
      return;
    case Expr::Kind::Remainder:
      done[e] = remainder(operands[0], e->offset);
      return;
    case Expr::Kind::Apply:
      done[e] = apply(e->opName, e->attribute, e->type, operands, e->operandTypes);
      return;
    case Expr::Kind::Element:
      done[e] = element(e->value, operands);
      return;
    default:
      llvm_unreachable("leaves have no operands");
    }
  });
  return done.lookup(in);
}
