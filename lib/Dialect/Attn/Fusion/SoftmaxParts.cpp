//===- SoftmaxParts.cpp - exponentials, quotients and selects of a softmax -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SoftmaxParts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

ExprRef fusion::stripCasts(ExprRef e) {
  while (e->isApply<arith::ExtFOp>() || e->isApply<arith::TruncFOp>())
    e = e->operands[0];
  return e;
}

bool fusion::isNegation(ExprRef e, ExprRef &inner) {
  if (!e->isApply<arith::XOrIOp>())
    return false;
  for (int k : {0, 1}) {
    if (e->operands[k]->getBool() != true)
      continue;
    inner = e->operands[1 - k];
    return true;
  }
  return false;
}

arith::CmpFPredicate fusion::predicateOf(ExprRef comparison) {
  return cast<arith::CmpFPredicateAttr>(cast<DictionaryAttr>(comparison->attribute).get("predicate")).getValue();
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

std::optional<ZeroSelect> fusion::splitZeroSelect(ExprRef e) {
  if (!e->isApply<arith::SelectOp>())
    return std::nullopt;
  for (int zero : {1, 2})
    if (e->operands[zero]->getReal() == 0.0)
      return ZeroSelect{e->operands[0], stripCasts(e->operands[3 - zero]), zero == 2};
  return std::nullopt;
}

/// A quotient, or a product with a reciprocal.
static std::optional<Quotient> splitDivision(ExprRef e) {
  if (e->isApply<arith::DivFOp>())
    return Quotient(e->operands[0], e->operands[1]);
  if (!e->isApply<arith::MulFOp>())
    return std::nullopt;
  for (int k : {0, 1}) {
    ExprRef reciprocal = stripCasts(e->operands[k]);
    if (reciprocal->isApply<arith::DivFOp>() && reciprocal->operands[0]->getReal() == 1.0)
      return Quotient(e->operands[1 - k], reciprocal->operands[1]);
  }
  return std::nullopt;
}

/// exp(x - (m + log s)) and exp((x - m) - log s) are exp(x - m) / s.
static std::optional<Quotient> splitLogSumExp(Expressions &expressions, ExprRef e) {
  if (!e->isApply<math::ExpOp>() || !e->operands[0]->isApply<arith::SubFOp>())
    return std::nullopt;
  ExprRef x = e->operands[0]->operands[0], shift = stripCasts(e->operands[0]->operands[1]);
  auto exponential = [&](ExprRef exponent) {
    return expressions.apply(math::ExpOp::getOperationName(), nullptr, exponent->type, {exponent}, {exponent->type});
  };
  if (shift->isApply<math::LogOp>())
    return Quotient(exponential(x), shift->operands[0]);
  if (!shift->isApply<arith::AddFOp>())
    return std::nullopt;
  for (int k : {0, 1}) {
    ExprRef log = stripCasts(shift->operands[k]);
    if (log->isApply<math::LogOp>())
      return Quotient(exponential(expressions.apply(arith::SubFOp::getOperationName(), nullptr, x->type,
                                                    {x, shift->operands[1 - k]}, {x->type, x->type})),
                      log->operands[0]);
  }
  return std::nullopt;
}

std::optional<Quotient> fusion::splitWeights(Expressions &expressions, ExprRef e) {
  std::optional<Quotient> quotient = splitDivision(e);
  return quotient ? quotient : splitLogSumExp(expressions, e);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// The argument of exp or exp2 in natural units over `factor`; null where it is no exponential.
static ExprRef readExponent(ExprRef e, double &factor) {
  e = stripCasts(e);
  factor = 1;
  if (e->isApply<math::Exp2Op>())
    factor = M_LN2;
  else if (!e->isApply<math::ExpOp>())
    return nullptr;
  ExprRef exponent = stripCasts(e->operands[0]);
  while (exponent->isApply<arith::MulFOp>()) {
    int constant = exponent->operands[0]->getReal() ? 0 : 1;
    std::optional<double> value = exponent->operands[constant]->getReal();
    if (!value || !(*value > 0) || !std::isfinite(*value) ||
        !stripCasts(exponent->operands[1 - constant])->isApply<arith::SubFOp>())
      break;
    factor *= *value;
    exponent = stripCasts(exponent->operands[1 - constant]);
  }
  // log2(e), rounded to the graph's type, stands for natural units.
  if (std::abs(factor - 1) < 1e-6)
    factor = 1;
  return exponent;
}

std::optional<Exponential> fusion::readExponential(Expressions &expressions, ExprRef e) {
  Exponential exponential;
  e = stripCasts(e);
  while (std::optional<ZeroSelect> select = splitZeroSelect(e)) {
    ExprRef keep = select->isInverted ? select->condition : expressions.negation(select->condition);
    exponential.keep = exponential.keep ? expressions.conjunction(exponential.keep, keep) : keep;
    e = stripCasts(select->value);
  }
  exponential.exponent = readExponent(e, exponential.factor);
  return exponential.exponent ? std::optional(exponential) : std::nullopt;
}

std::optional<int64_t> fusion::getSoftmaxAxis(Operation *op) {
  if (auto softmax = dyn_cast_if_present<SoftmaxOp>(op))
    return softmax.getAxis();
  if (auto softmax = dyn_cast_if_present<linalg::SoftmaxOp>(op))
    return softmax.getDimension();
  return std::nullopt;
}

Operation *fusion::getSoftmaxOp(ExprRef leaf) {
  Operation *op = leaf->is(Expr::Kind::Element) ? leaf->value.getDefiningOp() : nullptr;
  return getSoftmaxAxis(op) ? op : nullptr;
}

/// A condition as 0 or 1.
static bool isCondition(ExprRef e) {
  e = stripCasts(e);
  return e->isApply<arith::UIToFPOp>() && e->operandTypes[0].isInteger(1);
}

Operation *fusion::findExponentialSum(Elements &elements, ExprRef leaf) {
  if (Operation *op = getSoftmaxOp(leaf))
    return op;
  std::optional<Reduction> sum = elements.open(leaf);
  if (!sum || sum->combiner != arith::AddFOp::getOperationName())
    return nullptr;
  ExprRef body = stripCasts(sum->body);
  if (body->isApply<arith::MulFOp>())
    for (int k : {0, 1})
      if (isCondition(body->operands[k]))
        body = body->operands[1 - k];
  return readExponential(elements.expressions, body) ? sum->op : nullptr;
}

/// An exponential over itself.
static bool isFoldedSoftmax(Expressions &expressions, ExprRef e) {
  std::optional<Quotient> quotient = splitWeights(expressions, e);
  if (!quotient)
    return false;
  ExprRef numerator = stripCasts(quotient->first);
  return numerator == stripCasts(quotient->second) &&
         (numerator->isApply<math::ExpOp>() || numerator->isApply<math::Exp2Op>());
}

Operation *fusion::findFoldedSoftmax(Elements &elements, ExprRef e) {
  ExprRef softmax = nullptr;
  walk(e, [&](ExprRef part) {
    if (!softmax && isFoldedSoftmax(elements.expressions, part))
      softmax = part;
  });
  if (!softmax)
    return nullptr;
  Operation *op = nullptr;
  walk(e, [&](ExprRef part) {
    ArrayRef<TensorElement> tensors = elements.findTensors(part);
    if (!op && !tensors.empty() && contains(part, softmax))
      op = tensors.front().tensor.getDefiningOp();
  });
  return op;
}
