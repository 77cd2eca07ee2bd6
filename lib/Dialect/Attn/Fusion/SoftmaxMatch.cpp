//===- SoftmaxMatch.cpp - softmax in its spellings ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax is found from its weights: exp(x - max) over the sum of the same over one axis, as a quotient, a product
// with the reciprocal, or exp(x - (max + log sum)). That numerator, sum and maximum speak of the same scores and the
// same axis is no matter of shapes: the body of each reduction, read at the key, must be the same expression.
//
//===----------------------------------------------------------------------===//

#include "SoftmaxMatch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

ExprRef fusion::stripCasts(ExprRef e) {
  while (e->isApply<arith::ExtFOp>() || e->isApply<arith::TruncFOp>())
    e = e->operands[0];
  return e;
}

namespace {

/// One attempt. Members fill up as the spelling is taken apart.
class Matcher {
public:
  Matcher(Elements &elements, ExprRef key, const SoftmaxOptions &options, Miss &miss)
      : elements(elements), expressions(elements.expressions), options(options), miss(miss) {
    softmax.key = key;
  }

  FailureOr<Softmax> match(ExprRef weights);

private:
  LogicalResult fail(const Twine &reason) {
    if (miss.reason.empty())
      miss = {softmax.sum, reason.str(), miss.axis};
    return failure();
  }

  /// Takes a select of 0 away from the weights, and keeps its condition that the row has no key.
  ExprRef stripGuard(ExprRef weights);
  /// Splits the weights into numerator and sum; false where they are no quotient.
  bool splitQuotient(ExprRef weights);
  FailureOr<Softmax> matchOp(Operation *op);
  LogicalResult failNoQuotient();
  LogicalResult failAxis();
  ExprRef stripZeroSum(ExprRef e);
  LogicalResult matchSum();
  LogicalResult matchFoldedSum();
  LogicalResult matchNumerator();
  LogicalResult matchGuard();
  LogicalResult matchSink();

  /// The argument of exp or exp2 in natural units over `factor`; null where it is no exponential.
  ExprRef readExponent(ExprRef e, double &factor);
  /// Takes maxima over the keys away that are subtracted.
  ExprRef stripMaxima(ExprRef exponent, bool &hasMaximum);
  bool isMaximumOf(ExprRef maximum, ExprRef scores);
  bool isDeadRow(ExprRef condition, bool isNegated);
  bool isDeadKey(ExprRef condition, bool isNegated);
  /// The body of a reduction over the keys, at the key.
  ExprRef atKey(const Reduction &reduction) {
    return softmax.key ? expressions.substitute(reduction.body, {{reduction.dims[0], softmax.key}}) : reduction.body;
  }
  /// True if the reduction is over one axis; over none, where there is one key.
  bool isOverKeys(const Reduction &reduction) { return reduction.dims.size() == (softmax.key ? 1 : 0); }

  Elements &elements;
  Expressions &expressions;
  const SoftmaxOptions &options;
  Miss &miss;
  Softmax softmax;
  ExprRef given = nullptr, guard = nullptr, unguarded = nullptr, numerator = nullptr, denominator = nullptr;
  bool isGuardInverted = false;
  Reduction sum;
};

} // namespace

static arith::CmpFPredicate predicateOf(ExprRef comparison) {
  return cast<arith::CmpFPredicateAttr>(cast<DictionaryAttr>(comparison->attribute).get("predicate")).getValue();
}

//===----------------------------------------------------------------------===//
// The quotient
//===----------------------------------------------------------------------===//

std::optional<ZeroSelect> fusion::splitZeroSelect(ExprRef e) {
  if (!e->isApply<arith::SelectOp>())
    return std::nullopt;
  for (int zero : {1, 2})
    if (e->operands[zero]->getReal() == 0.0)
      return ZeroSelect{e->operands[0], stripCasts(e->operands[3 - zero]), zero == 2};
  return std::nullopt;
}

ExprRef Matcher::stripGuard(ExprRef weights) {
  std::optional<ZeroSelect> select = splitZeroSelect(weights);
  if (!select)
    return weights;
  guard = select->condition;
  isGuardInverted = select->isInverted;
  softmax.hasGuard = true;
  return select->value;
}

namespace {
/// Numerator and denominator.
using Quotient = std::pair<ExprRef, ExprRef>;
} // namespace

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

static std::optional<Quotient> splitWeights(Expressions &expressions, ExprRef e) {
  std::optional<Quotient> quotient = splitDivision(e);
  return quotient ? quotient : splitLogSumExp(expressions, e);
}

bool Matcher::splitQuotient(ExprRef weights) {
  std::optional<Quotient> quotient = splitWeights(expressions, weights);
  if (quotient)
    std::tie(numerator, denominator) = *quotient;
  return quotient.has_value();
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

//===----------------------------------------------------------------------===//
// Exponentials and maxima
//===----------------------------------------------------------------------===//

ExprRef Matcher::readExponent(ExprRef e, double &factor) {
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

static bool isLowest(ExprRef constant) {
  auto value = constant->is(Expr::Kind::Constant) ? dyn_cast<FloatAttr>(constant->attribute) : FloatAttr();
  return value && value.getValue().isNegative() && (value.getValue().isInfinity() || value.getValue().isLargest());
}

bool Matcher::isMaximumOf(ExprRef maximum, ExprRef scores) {
  maximum = stripCasts(maximum);
  // The maximum over one key, folded away.
  if (!softmax.key && maximum == stripCasts(scores))
    return true;
  if (maximum->isApply<arith::MaximumFOp>() || maximum->isApply<arith::MaxNumFOp>())
    for (int k : {0, 1})
      if (isLowest(maximum->operands[k]))
        return isMaximumOf(maximum->operands[1 - k], scores);
  // Zero in place of a maximum that is not finite.
  if (maximum->isApply<arith::SelectOp>())
    for (int k : {1, 2})
      if (maximum->operands[k]->getReal() == 0.0)
        return contains(maximum->operands[0], maximum->operands[3 - k]) &&
               isMaximumOf(maximum->operands[3 - k], scores);
  // Both times the same positive constant.
  if (maximum->isApply<arith::MulFOp>() && scores->isApply<arith::MulFOp>())
    for (int k : {0, 1})
      if (maximum->operands[k]->getReal().value_or(0) > 0)
        for (int other : {0, 1})
          if (scores->operands[other] == maximum->operands[k])
            return isMaximumOf(maximum->operands[1 - k], stripCasts(scores->operands[1 - other]));
  std::optional<Reduction> reduction = elements.open(maximum);
  if (!reduction || !isOverKeys(*reduction) ||
      (reduction->combiner != arith::MaximumFOp::getOperationName() &&
       reduction->combiner != arith::MaxNumFOp::getOperationName()) ||
      !isLowest(reduction->init) || (softmax.key && !elements.haveSameExtent(reduction->dims[0], sum.dims[0])))
    return false;
  return stripCasts(atKey(*reduction)) == stripCasts(scores);
}

ExprRef Matcher::stripMaxima(ExprRef exponent, bool &hasMaximum) {
  while (exponent->isApply<arith::SubFOp>() && isMaximumOf(exponent->operands[1], exponent->operands[0])) {
    exponent = stripCasts(exponent->operands[0]);
    hasMaximum = true;
  }
  return exponent;
}

//===----------------------------------------------------------------------===//
// Putting it together
//===----------------------------------------------------------------------===//

/// The sum varies along the keys. The axis that it is over is the one along which its body gives the numerators.
LogicalResult Matcher::failAxis() {
  walk(numerator, [&](ExprRef e) {
    ExprRef body = stripCasts(expressions.substitute(sum.body, {{sum.dims[0], e}}));
    if (e->is(Expr::Kind::Dim) && body == stripCasts(numerator))
      miss.axis = e;
  });
  return fail("the softmax is not over the axis that the product with the values contracts (the key axis)");
}

/// select(sum == 0, x, sum): a row without a key divides 0 by x.
ExprRef Matcher::stripZeroSum(ExprRef e) {
  for (int k : {1, 2}) {
    if (!e->isApply<arith::SelectOp>() || !e->operands[0]->isApply<arith::CmpFOp>())
      continue;
    ExprRef condition = e->operands[0], kept = e->operands[k];
    using P = arith::CmpFPredicate;
    bool isZero = llvm::is_contained({P::OEQ, P::UEQ}, predicateOf(condition)) && k == 2;
    bool isNotZero = llvm::is_contained({P::ONE, P::UNE, P::OGT}, predicateOf(condition)) && k == 1;
    if ((isZero || isNotZero) && condition->operands[0] == kept && condition->operands[1]->getReal() == 0.0 &&
        e->operands[3 - k]->getReal().value_or(0) > 0) {
      softmax.hasGuard = true;
      return stripCasts(kept);
    }
  }
  return e;
}

/// The sum over one key, folded away: the numerator itself.
LogicalResult Matcher::matchFoldedSum() {
  softmax.sum = findFoldedSoftmax(elements, given);
  if (!softmax.sum)
    return failure();
  if (softmax.key)
    return fail("the softmax is over one key, the product with the values over more");
  sum.op = softmax.sum;
  sum.init = expressions.constant(FloatAttr::get(denominator->type, 0.0));
  sum.body = numerator;
  return success();
}

LogicalResult Matcher::matchSum() {
  denominator = stripZeroSum(stripCasts(denominator));
  if (denominator == stripCasts(numerator))
    return matchFoldedSum();
  std::optional<Reduction> opened = elements.open(denominator);
  if (!opened || opened->combiner != arith::AddFOp::getOperationName()) {
    // The numerator is an exponential: it looks like a softmax.
    double factor;
    if (readExponent(numerator, factor))
      walk(denominator, [&](ExprRef e) {
        if (Operation *op = findExponentialSum(elements, e))
          softmax.sum = op;
      });
    return softmax.sum ? fail("the divisor is not the sum of the exponentials alone") : failure();
  }
  double factor;
  if (!readExponent(opened->body, factor))
    return failure();
  sum = *opened;
  softmax.sum = sum.op;
  if (!isOverKeys(sum))
    return fail(llvm::formatv("the sum is over {0} axes, softmax over 1", sum.dims.size()));
  if (sum.init->getReal() != 0.0)
    return fail("the sum does not start at 0");
  if (contains(denominator, softmax.key))
    return failAxis();
  if (denominator->type.getIntOrFloatBitWidth() < 32)
    return fail(
        llvm::formatv("the sum is kept in {0} bits, softmax needs 32", denominator->type.getIntOrFloatBitWidth()));
  return success();
}

LogicalResult Matcher::matchNumerator() {
  if (stripCasts(atKey(sum)) != stripCasts(numerator))
    return fail("the sum is not that of the numerators over the key axis");
  bool hasMaximum = false;
  ExprRef exponent = readExponent(numerator, softmax.factor);
  softmax.scores = stripMaxima(exponent, hasMaximum);
  if (hasMaximum || options.allowUnshifted)
    return success();
  if (exponent->isApply<arith::SubFOp>() &&
      (!contains(exponent->operands[1], softmax.key) || elements.open(stripCasts(exponent->operands[1]))))
    return fail("what is subtracted is not the maximum of the same scores over the key axis");
  return fail("no maximum is subtracted: exp overflows where a softmax does not (allow-unshifted-exp fuses it)");
}

/// A key more than the weights have, whose score does not depend on keys, is a sink.
LogicalResult Matcher::matchSink() {
  if (!softmax.key)
    return success();
  ExprRef dim = sum.dims[0], key = softmax.key;
  if (elements.haveSameExtent(dim, key))
    return success();
  if (!dim->extent.isStatic() || !key->extent.isStatic())
    return fail("the sum may have more keys than the values");
  if (dim->extent.size != key->extent.size + 1)
    return fail(llvm::formatv("the sum has {0} keys, the values have {1}", dim->extent.size, key->extent.size));
  double factor;
  ExprRef last = expressions.substitute(sum.body, {{dim, expressions.integer(key->extent.size)}});
  ExprRef exponent = readExponent(last, factor);
  // The maxima are the same expressions as in the numerator.
  ExprRef numeratorExponent = readExponent(numerator, factor);
  while (exponent && numeratorExponent != softmax.scores && exponent->isApply<arith::SubFOp>() &&
         numeratorExponent->isApply<arith::SubFOp>() && exponent->operands[1] == numeratorExponent->operands[1]) {
    exponent = stripCasts(exponent->operands[0]);
    numeratorExponent = stripCasts(numeratorExponent->operands[0]);
  }
  if (!exponent || numeratorExponent != softmax.scores || softmax.factor != 1)
    return fail("the key behind the last value is not understood");
  softmax.sink = exponent;
  return success();
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

/// True if the condition says that the key's score is -inf (or, negated, that it is not).
bool Matcher::isDeadKey(ExprRef condition, bool isNegated) {
  using P = arith::CmpFPredicate;
  ExprRef inner;
  if (isNegation(condition, inner))
    return isDeadKey(inner, !isNegated);
  if (!condition->isApply<arith::CmpFOp>())
    return false;
  P predicate = predicateOf(condition);
  bool isEqual = predicate == P::OEQ || predicate == P::UEQ, isUnequal = predicate == P::ONE || predicate == P::UNE;
  for (int k : {0, 1})
    if (condition->operands[k]->getReal() == -INFINITY)
      return (isNegated ? isUnequal : isEqual) && stripCasts(condition->operands[1 - k]) == softmax.scores;
  return false;
}

/// True if the condition says that every score of the row is -inf (or, negated, that one is not).
bool Matcher::isDeadRow(ExprRef condition, bool isNegated) {
  ExprRef inner;
  if (isNegation(condition, inner))
    return isDeadRow(inner, !isNegated);
  // The maximum is -inf.
  if (condition->isApply<arith::CmpFOp>()) {
    using P = arith::CmpFPredicate;
    bool isRight =
        llvm::is_contained(isNegated ? std::array{P::ONE, P::UNE} : std::array{P::OEQ, P::UEQ}, predicateOf(condition));
    for (int k : {0, 1})
      if (isRight && condition->operands[k]->getReal() == -INFINITY)
        return isMaximumOf(condition->operands[1 - k], softmax.scores);
    return false;
  }
  std::optional<Reduction> rows = elements.open(condition);
  StringRef combiner = isNegated ? arith::OrIOp::getOperationName() : arith::AndIOp::getOperationName();
  return rows && rows->combiner == combiner && isOverKeys(*rows) && rows->init->getBool() == !isNegated &&
         isDeadKey(atKey(*rows), isNegated);
}

LogicalResult Matcher::matchGuard() {
  if (!guard || isDeadRow(guard, isGuardInverted))
    return success();
  // Weights that are NaN: those of a row that is -inf throughout.
  bool isNaN = !isGuardInverted && guard->isApply<arith::CmpFOp>() && guard->operands[0] == guard->operands[1] &&
               predicateOf(guard) == arith::CmpFPredicate::UNO;
  if (isNaN && stripCasts(guard->operands[0]) == unguarded)
    return success();
  // It may be that of the mask, which is not known here.
  softmax.keptWhere = isGuardInverted ? guard : expressions.negation(guard);
  return success();
}

/// Weights that are no quotient, but hold one: the reason names what else they are.
LogicalResult Matcher::failNoQuotient() {
  walk(unguarded, [&](ExprRef e) {
    if (Operation *op = softmax.sum ? nullptr : findExponentialSum(elements, e))
      softmax.sum = op;
  });
  if (!softmax.sum)
    softmax.sum = findFoldedSoftmax(elements, given);
  if (!softmax.sum)
    return failure();
  return fail(unguarded->is(Expr::Kind::Apply)
                  ? llvm::formatv("'{0}' stands between the softmax and the product with the values",
                                  unguarded->opName.getValue())
                        .str()
                  : "the weights are read through another op than a quotient by the sum");
}

/// The axis of a whole softmax op.
static std::optional<int64_t> getSoftmaxAxis(Operation *op) {
  if (auto softmax = dyn_cast_if_present<SoftmaxOp>(op))
    return softmax.getAxis();
  if (auto softmax = dyn_cast_if_present<linalg::SoftmaxOp>(op))
    return softmax.getDimension();
  return std::nullopt;
}

static Operation *getSoftmaxOp(ExprRef leaf) {
  Operation *op = leaf->is(Expr::Kind::Element) ? leaf->value.getDefiningOp() : nullptr;
  return getSoftmaxAxis(op) ? op : nullptr;
}

FailureOr<Softmax> Matcher::matchOp(Operation *op) {
  softmax.sum = op;
  int64_t axis = *getSoftmaxAxis(op);
  Value input = op->getOperand(0);
  bool isOver = softmax.key && unguarded->operands[axis] == softmax.key;
  for (auto [k, index] : llvm::enumerate(unguarded->operands))
    isOver &= int64_t(k) == axis || !contains(index, softmax.key);
  if (!isOver && unguarded->operands[axis]->is(Expr::Kind::Dim))
    miss.axis = unguarded->operands[axis];
  if (!isOver)
    return fail("the softmax is not over the axis that the product with the values contracts (the key axis)");
  if (elements.readSize(input, axis) != elements.extentOf(softmax.key))
    return fail("the softmax has other keys than the values");
  if (isa<linalg::SoftmaxOp>(op) && unguarded->type.getIntOrFloatBitWidth() < 32)
    return fail("the sum is kept in 16 bits, softmax needs 32");
  softmax.scores = stripCasts(elements.read(input, unguarded->operands));
  if (failed(matchGuard()))
    return failure();
  return softmax;
}

FailureOr<Softmax> Matcher::match(ExprRef weights) {
  given = weights;
  softmax.weights = stripCasts(weights);
  unguarded = stripGuard(softmax.weights);
  if (Operation *op = getSoftmaxOp(unguarded))
    return matchOp(op);
  if (!splitQuotient(unguarded))
    return failNoQuotient();
  if (failed(matchSum()) || failed(matchNumerator()) || failed(matchSink()) || failed(matchGuard()))
    return miss.reason.empty() ? failNoQuotient() : failure();
  return softmax;
}

FailureOr<Softmax> fusion::matchSoftmax(Elements &elements, ExprRef weights, ExprRef key, const SoftmaxOptions &options,
                                        Miss &miss) {
  return Matcher(elements, key, options, miss).match(weights);
}

Operation *fusion::findExponentialSum(Elements &elements, ExprRef leaf) {
  if (Operation *op = getSoftmaxOp(leaf))
    return op;
  std::optional<Reduction> sum = elements.open(leaf);
  if (!sum || sum->combiner != arith::AddFOp::getOperationName())
    return nullptr;
  ExprRef body = stripCasts(sum->body);
  return body->isApply<math::ExpOp>() || body->isApply<math::Exp2Op>() ? sum->op : nullptr;
}
