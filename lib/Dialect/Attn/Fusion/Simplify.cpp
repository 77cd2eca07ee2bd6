//===- Simplify.cpp - applied ops as the simplest equal expression --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters wrap positions in casts, guards that never hold and additions of nothing. What is exact is done away with
// here: integer arithmetic becomes linear forms where no result wraps, comparisons and selects that the ranges of
// indices decide fold, and so does what constants decide (by the ops' own folders). Float arithmetic is never
// reassociated; x + 0 counts as x, which only changes the sign of a zero.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

static bool isCommutative(StringRef name) {
  return llvm::is_contained(
      {arith::AddFOp::getOperationName(), arith::MulFOp::getOperationName(), arith::MaximumFOp::getOperationName(),
       arith::MaxNumFOp::getOperationName(), arith::MinimumFOp::getOperationName(),
       arith::MinNumFOp::getOperationName(), arith::AndIOp::getOperationName(), arith::OrIOp::getOperationName(),
       arith::XOrIOp::getOperationName(), arith::AddIOp::getOperationName(), arith::MulIOp::getOperationName(),
       arith::MaxSIOp::getOperationName(), arith::MinSIOp::getOperationName()},
      name);
}

/// The attributes that say what an op computes: flags that only allow more are left behind.
static Attribute meaningOf(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("fastmath");
  attributes.erase("overflowFlags");
  return attributes.empty() ? Attribute() : Attribute(attributes.getDictionary(op->getContext()));
}

ExprRef Expressions::apply(Operation *op, ArrayRef<ExprRef> operands) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || op->getNumSuccessors() != 0)
    return nullptr;
  return apply(op->getName().getStringRef(), meaningOf(op), op->getResult(0).getType(), operands,
               SmallVector<Type>(op->getOperandTypes()));
}

ExprRef Expressions::apply(Operation *op, ArrayRef<ExprRef> operands, Type type, ArrayRef<Type> operandTypes) {
  return apply(op->getName().getStringRef(), meaningOf(op), type, operands, operandTypes);
}

ExprRef Expressions::apply(StringRef name, Attribute attributes, Type type, ArrayRef<ExprRef> givenOperands,
                           ArrayRef<Type> operandTypes) {
  SmallVector<ExprRef> operands(givenOperands);
  if (isCommutative(name) && operands[1]->id < operands[0]->id)
    std::swap(operands[0], operands[1]);
  if (ExprRef simple = simplify(name, attributes, type, operands))
    return simple;
  if (ExprRef folded = fold(name, attributes, type, operands, operandTypes))
    return folded;
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.type = type;
  expr.opName = StringAttr::get(context, name);
  expr.attribute = attributes;
  expr.operands.assign(operands.begin(), operands.end());
  expr.operandTypes.assign(operandTypes.begin(), operandTypes.end());
  return unique(std::move(expr));
}

ExprRef Expressions::simplify(StringRef name, Attribute attributes, Type type, ArrayRef<ExprRef> operands) {
  if (name == arith::SelectOp::getOperationName()) {
    std::optional<bool> condition = operands[0]->getBool();
    if (operands[1] == operands[2] || (condition && *condition))
      return operands[1];
    return condition ? operands[2] : nullptr;
  }
  if (name == arith::CmpIOp::getOperationName() || type.isInteger(1)) {
    if (name == arith::CmpIOp::getOperationName() && !operands[0]->type.isInteger(1)) {
      auto predicate = cast<arith::CmpIPredicateAttr>(cast<DictionaryAttr>(attributes).get("predicate"));
      return compare(predicate.getValue(), operands[0], operands[1]);
    }
    return simplifyBoolean(name, operands);
  }
  if (isa<IndexType, IntegerType>(type))
    return simplifyInteger(name, type, operands);
  return simplifyReal(name, type, operands);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// True if the values of a type of this width hold the range, so that nothing wraps.
static bool holds(Type type, IntegerRange range) {
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  return width >= 64 || range.isWithin(llvm::minIntN(width), llvm::maxIntN(width));
}

ExprRef Expressions::simplifyInteger(StringRef name, Type type, ArrayRef<ExprRef> operands) {
  auto is = [&](auto op) { return name == decltype(op)::getOperationName(); };
  ExprRef a = operands[0], b = operands.size() > 1 ? operands[1] : nullptr;
  if (!isa<IndexType, IntegerType>(a->type) || a->type.isInteger(1))
    return nullptr;
  IntegerRange range = rangeOf(a);
  if (is(arith::IndexCastOp()) || is(arith::ExtSIOp()) || is(arith::TruncIOp()))
    return holds(type, range) ? a : nullptr;
  if (is(arith::ExtUIOp()) || is(arith::IndexCastUIOp()))
    return range.low >= 0 && holds(type, range) ? a : nullptr;
  if (is(math::AbsIOp()))
    return range.low >= 0 ? a : nullptr;
  if (!b)
    return nullptr;
  ExprRef sum = is(arith::AddIOp()) ? add(a, b) : is(arith::SubIOp()) ? add(a, b, -1) : nullptr;
  if (is(arith::MulIOp()) && (a->getInteger() || b->getInteger()))
    sum = b->getInteger() ? scaled(a, *b->getInteger()) : scaled(b, *a->getInteger());
  if (sum)
    return holds(type, rangeOf(sum)) ? sum : nullptr;
  IntegerRange other = rangeOf(b);
  if (is(arith::MinSIOp()) || is(arith::MaxSIOp())) {
    bool isLess = range.high <= other.low, isMore = range.low >= other.high;
    return isLess || isMore ? (is(arith::MinSIOp()) == isLess ? a : b) : nullptr;
  }
  int64_t divisor = b->getInteger().value_or(0);
  if (divisor < 1 || range.low < 0)
    return nullptr;
  if (is(arith::DivSIOp()) || is(arith::DivUIOp()) || is(arith::FloorDivSIOp()))
    return quotient(a, divisor);
  return is(arith::RemSIOp()) || is(arith::RemUIOp()) ? remainder(a, divisor) : nullptr;
}

static arith::CmpIPredicate makeSigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::ult:
    return P::slt;
  case P::ule:
    return P::sle;
  case P::ugt:
    return P::sgt;
  case P::uge:
    return P::sge;
  default:
    return predicate;
  }
}

/// What a signed comparison with 0 gives for every value of the range, where it gives one thing.
static std::optional<bool> decide(arith::CmpIPredicate predicate, IntegerRange difference) {
  using P = arith::CmpIPredicate;
  bool isZero = difference.isWithin(0, 0), isBelow = difference.high < 0, isAbove = difference.low > 0;
  bool isNotAbove = difference.high <= 0, isNotBelow = difference.low >= 0;
  auto answer = [](bool yes, bool no) { return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt; };
  switch (predicate) {
  case P::eq:
    return answer(isZero, isBelow || isAbove);
  case P::ne:
    return answer(isBelow || isAbove, isZero);
  case P::slt:
    return answer(isBelow, isNotBelow);
  case P::sle:
    return answer(isNotAbove, isAbove);
  case P::sgt:
    return answer(isAbove, isNotAbove);
  case P::sge:
    return answer(isNotBelow, isBelow);
  default:
    return std::nullopt;
  }
}

ExprRef Expressions::compare(arith::CmpIPredicate predicate, ExprRef a, ExprRef b) {
  IntegerRange first = rangeOf(a), second = rangeOf(b);
  if (first.low >= 0 && second.low >= 0)
    predicate = makeSigned(predicate);
  if (first.isKnown() && second.isKnown())
    if (std::optional<bool> result = decide(predicate, rangeOf(add(a, b, -1))))
      return boolean(*result);
  // A condition as a number, compared with 0.
  if (a->isApply<arith::ExtUIOp>() && a->operandTypes[0].isInteger(1) && b->getInteger() == 0) {
    if (predicate == arith::CmpIPredicate::ne || predicate == arith::CmpIPredicate::sgt)
      return a->operands[0];
    if (predicate == arith::CmpIPredicate::eq)
      return negation(a->operands[0]);
  }
  Expr expr;
  expr.kind = Expr::Kind::Apply;
  expr.type = IntegerType::get(context, 1);
  expr.opName = StringAttr::get(context, arith::CmpIOp::getOperationName());
  Builder builder(context);
  expr.attribute =
      builder.getDictionaryAttr(builder.getNamedAttr("predicate", arith::CmpIPredicateAttr::get(context, predicate)));
  expr.operands = {a, b};
  // In 64 bits: what wraps in fewer is no linear form, but an op of its own.
  expr.operandTypes.assign(2, IndexType::get(context));
  return unique(std::move(expr));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

ExprRef Expressions::select(ExprRef condition, ExprRef yes, ExprRef no) {
  return apply(arith::SelectOp::getOperationName(), nullptr, yes->type, {condition, yes, no},
               {condition->type, yes->type, no->type});
}

ExprRef Expressions::conjunction(ExprRef a, ExprRef b) {
  return apply(arith::AndIOp::getOperationName(), nullptr, a->type, {a, b}, {a->type, b->type});
}

ExprRef Expressions::disjunction(ExprRef a, ExprRef b) {
  return apply(arith::OrIOp::getOperationName(), nullptr, a->type, {a, b}, {a->type, b->type});
}

ExprRef Expressions::negation(ExprRef a) {
  return apply(arith::XOrIOp::getOperationName(), nullptr, a->type, {a, boolean(true)}, {a->type, a->type});
}

ExprRef Expressions::simplifyBoolean(StringRef name, ArrayRef<ExprRef> operands) {
  bool isAnd = name == arith::AndIOp::getOperationName(), isOr = name == arith::OrIOp::getOperationName();
  bool isXor = name == arith::XOrIOp::getOperationName();
  if (!isAnd && !isOr && !isXor)
    return nullptr;
  if (operands[0] == operands[1])
    return isXor ? boolean(false) : operands[0];
  for (int k : {0, 1}) {
    std::optional<bool> known = operands[k]->getBool();
    ExprRef other = operands[1 - k];
    if (!known)
      continue;
    if (isXor && *known) // not (not x)
      return other->isApply<arith::XOrIOp>() && other->operands[0]->getBool() == true   ? other->operands[1]
             : other->isApply<arith::XOrIOp>() && other->operands[1]->getBool() == true ? other->operands[0]
                                                                                        : nullptr;
    return isXor || *known == isAnd ? other : operands[k];
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

ExprRef Expressions::simplifyReal(StringRef name, Type type, ArrayRef<ExprRef> operands) {
  auto is = [&](auto op) { return name == decltype(op)::getOperationName(); };
  // The op's own folder leaves inexact ones.
  if (std::optional<double> value = operands[0]->getReal(); value && (is(arith::TruncFOp()) || is(arith::ExtFOp())))
    return constant(FloatAttr::get(type, *value));
  if (operands.size() != 2 || operands[0]->type != type)
    return nullptr;
  std::optional<double> a = operands[0]->getReal(), b = operands[1]->getReal();
  if (is(arith::AddFOp()) && (a == 0.0 || b == 0.0))
    return a == 0.0 ? operands[1] : operands[0];
  if (is(arith::SubFOp()) && b == 0.0)
    return operands[0];
  if (is(arith::AddFOp()))
    for (int k : {0, 1})
      if (operands[k]->isApply<arith::NegFOp>())
        return apply(arith::SubFOp::getOperationName(), nullptr, type, {operands[1 - k], operands[k]->operands[0]},
                     {type, type});
  if (is(arith::MulFOp()) && (a == 1.0 || b == 1.0))
    return a == 1.0 ? operands[1] : operands[0];
  if (is(arith::DivFOp()) && b == 1.0)
    return operands[0];
  if ((is(arith::MaximumFOp()) || is(arith::MaxNumFOp())) && (a == -INFINITY || b == -INFINITY))
    return a == -INFINITY ? operands[1] : operands[0];
  if (is(arith::MaxNumFOp()) && (std::isnan(a.value_or(0)) || std::isnan(b.value_or(0))))
    return std::isnan(a.value_or(0)) ? operands[1] : operands[0];
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Attribute constantOf(ExprRef e, Type type) {
  if (e->is(Expr::Kind::Constant))
    return e->attribute;
  if (std::optional<int64_t> value = e->getInteger(); value && isa<IndexType, IntegerType>(type))
    return IntegerAttr::get(type, *value);
  return nullptr;
}

/// The op's own folder on constants, by way of a copy of the op that lives for as long.
ExprRef Expressions::fold(StringRef name, Attribute attributes, Type type, ArrayRef<ExprRef> operands,
                          ArrayRef<Type> operandTypes) {
  SmallVector<Attribute> constants;
  for (auto [operand, operandType] : llvm::zip_equal(operands, operandTypes)) {
    constants.push_back(constantOf(operand, operandType));
    if (!constants.back())
      return nullptr;
  }
  OpBuilder builder(context);
  Block block;
  builder.setInsertionPointToStart(&block);
  OperationState state(builder.getUnknownLoc(), name);
  for (Attribute constant : constants)
    state.addOperands(arith::ConstantOp::create(builder, state.location, cast<TypedAttr>(constant)).getResult());
  state.addTypes(type);
  if (attributes)
    state.addAttributes(cast<DictionaryAttr>(attributes).getValue());
  SmallVector<OpFoldResult> results;
  if (failed(builder.create(state)->fold(constants, results)) || results.size() != 1)
    return nullptr;
  auto result = dyn_cast_if_present<TypedAttr>(dyn_cast_if_present<Attribute>(results[0]));
  return result ? constant(result) : nullptr;
}
