//===- SoftmaxMatch.cpp - softmax in its spellings ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax is found from its weights: exp(x - max) over the sum of the same over one axis, as a quotient, a product
// with the reciprocal, or exp(x - (max + log sum)). That numerator, sum and maximum speak of the same scores and the
// same axis is no matter of shapes: the body of each reduction, read at the key, must be the same expression.
//
// Sinks are columns beside the keys, in front or behind, or exponentials that are added to the sum. Keys that a
// condition leaves out of the sum, and gives the weight 0, have the score -inf.
//
//===----------------------------------------------------------------------===//

#include "SoftmaxMatch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

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
      miss = {softmax.sum, reason.str(), miss.axis, miss.isOfAxis};
    return failure();
  }

  /// Takes a select of 0 away from the weights, and keeps its condition that the row has no key.
  ExprRef stripGuard(ExprRef weights);
  /// Splits the weights into numerator and sum; false where they are no quotient.
  bool splitQuotient(ExprRef weights);
  FailureOr<Softmax> matchOp(Operation *op);
  LogicalResult failNoQuotient();
  LogicalResult failAxis();
  LogicalResult failOtherAxis();
  ExprRef stripZeroSum(ExprRef e);
  ExprRef splitDivisor(ExprRef e);
  LogicalResult openSum();
  LogicalResult matchSum();
  LogicalResult matchFoldedSum();
  LogicalResult countColumns();
  LogicalResult matchNumerator();
  LogicalResult matchKeep(ExprRef inSum, ExprRef inNumerator);
  LogicalResult readSinks();
  LogicalResult matchMaxima(ExprRef exponent);
  LogicalResult matchGuard();

  /// What each sink is without the maximum that is subtracted; empty where it is subtracted of none.
  std::optional<SmallVector<ExprRef>> stripShift(ExprRef maximum);
  bool isMaximumOf(ExprRef maximum, ExprRef scores, ArrayRef<ExprRef> sinkParts);
  bool isStartOfMaximum(const Reduction &reduction, ArrayRef<ExprRef> sinkParts);
  bool isMaximumReduction(const Reduction &reduction, ExprRef scores, ArrayRef<ExprRef> sinkParts);
  bool isDeadRow(ExprRef condition, bool isNegated);
  bool isDeadKey(ExprRef condition, bool isNegated);
  /// The scores, -inf where keys are not kept.
  ExprRef maskScores(ExprRef scores);
  /// The body of a reduction at one place of its axis.
  ExprRef bodyAt(const Reduction &reduction, ExprRef place) {
    return elements.foldComparisons(expressions.substitute(reduction.body, {{reduction.dims[0], place}}));
  }
  /// The body of a reduction over the keys, or over the columns of the sum, at the key; null for other reductions.
  ExprRef atKey(const Reduction &reduction);
  bool isOverColumns(const Reduction &reduction);
  /// The places of the columns of the sum that are no keys.
  SmallVector<ExprRef> getSinkPlaces();
  ExprRef getKey() { return softmax.key ? softmax.key : expressions.integer(0); }
  ExprRef getKeyCount() { return softmax.key ? elements.extentOf(softmax.key) : expressions.integer(1); }

  Elements &elements;
  Expressions &expressions;
  const SoftmaxOptions &options;
  Miss &miss;
  Softmax softmax;
  ExprRef given = nullptr, guard = nullptr, unguarded = nullptr, numerator = nullptr, denominator = nullptr;
  bool isGuardInverted = false;
  Reduction sum;
  /// The condition that keeps a key in the sum; null where all are kept.
  ExprRef keep = nullptr;
  /// How many columns of the sum are no keys, and how many of these are in front of the keys.
  int64_t numColumns = 0, numLeading = 0;
  /// Exponentials that are added to the sum; each sink's exponent, columns first, as maxima are taken away from it.
  SmallVector<ExprRef> added, sinks;
};

} // namespace

//===----------------------------------------------------------------------===//
// The quotient
//===----------------------------------------------------------------------===//

ExprRef Matcher::stripGuard(ExprRef weights) {
  std::optional<ZeroSelect> select = splitZeroSelect(weights);
  if (!select)
    return weights;
  guard = select->condition;
  isGuardInverted = select->isInverted;
  softmax.hasGuard = true;
  return select->value;
}

bool Matcher::splitQuotient(ExprRef weights) {
  std::optional<Quotient> quotient = splitWeights(expressions, weights);
  if (quotient)
    std::tie(numerator, denominator) = *quotient;
  return quotient.has_value();
}

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

static FloatAttr getFloat(ExprRef e) {
  return e->is(Expr::Kind::Constant) ? dyn_cast<FloatAttr>(e->attribute) : FloatAttr();
}

static bool isLowest(ExprRef constant) {
  FloatAttr value = getFloat(constant);
  return value && value.getValue().isNegative() && (value.getValue().isInfinity() || value.getValue().isLargest());
}

static bool isSink(ExprRef e, ArrayRef<ExprRef> sinkParts) {
  return llvm::any_of(sinkParts, [&](ExprRef sink) {
    std::optional<double> a = e->getReal(), b = sink->getReal();
    return stripCasts(e) == sink || (a && b && *a == *b);
  });
}

/// arith.maxnumf takes NaN for nothing: upstream's linalg.softmax starts from it. A maximum may start from a sink.
bool Matcher::isStartOfMaximum(const Reduction &reduction, ArrayRef<ExprRef> sinkParts) {
  bool ignoresNaN = reduction.combiner == arith::MaxNumFOp::getOperationName();
  if (!ignoresNaN && reduction.combiner != arith::MaximumFOp::getOperationName())
    return false;
  FloatAttr init = getFloat(reduction.init);
  return isLowest(reduction.init) || (ignoresNaN && init && init.getValue().isNaN()) ||
         isSink(reduction.init, sinkParts);
}

/// Over the keys alone, or over the columns of the sum with the same sinks. What the sum leaves out the maximum must
/// leave out, too: kept scores far below it would underflow.
bool Matcher::isMaximumReduction(const Reduction &reduction, ExprRef scores, ArrayRef<ExprRef> sinkParts) {
  ExprRef body = atKey(reduction);
  if (!body || !isStartOfMaximum(reduction, sinkParts) || stripCasts(body) != stripCasts(maskScores(scores)))
    return false;
  if (numColumns == 0 || !isOverColumns(reduction))
    return true;
  for (auto [place, sink] : llvm::zip(getSinkPlaces(), sinkParts))
    if (stripCasts(bodyAt(reduction, place)) != sink)
      return false;
  return true;
}

bool Matcher::isMaximumOf(ExprRef maximum, ExprRef scores, ArrayRef<ExprRef> sinkParts) {
  maximum = stripCasts(maximum);
  // The maximum over one key, folded away.
  if (!softmax.key && maximum == stripCasts(scores))
    return true;
  if (maximum->isApply<arith::MaximumFOp>() || maximum->isApply<arith::MaxNumFOp>())
    for (int k : {0, 1})
      if (isLowest(maximum->operands[k]) || isSink(maximum->operands[k], sinkParts))
        return isMaximumOf(maximum->operands[1 - k], scores, sinkParts);
  // Zero in place of a maximum that is not finite.
  if (maximum->isApply<arith::SelectOp>())
    for (int k : {1, 2})
      if (maximum->operands[k]->getReal() == 0.0)
        return contains(maximum->operands[0], maximum->operands[3 - k]) &&
               isMaximumOf(maximum->operands[3 - k], scores, sinkParts);
  // Both times the same positive constant.
  if (maximum->isApply<arith::MulFOp>() && scores->isApply<arith::MulFOp>())
    for (int k : {0, 1})
      if (maximum->operands[k]->getReal().value_or(0) > 0)
        for (int other : {0, 1})
          if (scores->operands[other] == maximum->operands[k])
            return isMaximumOf(maximum->operands[1 - k], stripCasts(scores->operands[1 - other]), sinkParts);
  std::optional<Reduction> reduction = elements.open(maximum);
  return reduction && isMaximumReduction(*reduction, scores, sinkParts);
}

std::optional<SmallVector<ExprRef>> Matcher::stripShift(ExprRef maximum) {
  SmallVector<ExprRef> parts;
  for (ExprRef sink : sinks) {
    if (sink->isApply<arith::SubFOp>() && sink->operands[1] == maximum)
      parts.push_back(stripCasts(sink->operands[0]));
    else if (sink->isApply<arith::NegFOp>() && sink->operands[0] == maximum)
      parts.push_back(expressions.constant(FloatAttr::get(sink->type, 0.0)));
    else
      return std::nullopt;
  }
  return parts;
}

/// Takes maxima over the keys away that are subtracted from the exponents of scores and sinks alike.
LogicalResult Matcher::matchMaxima(ExprRef exponent) {
  bool hasMaximum = false;
  while (exponent->isApply<arith::SubFOp>()) {
    ExprRef maximum = exponent->operands[1], scores = stripCasts(exponent->operands[0]);
    std::optional<SmallVector<ExprRef>> parts = stripShift(maximum);
    if (!isMaximumOf(maximum, exponent->operands[0], parts.value_or(SmallVector<ExprRef>())))
      break;
    if (!parts)
      return fail(
          "what joins the sum beside the keys is not shifted by the maximum that is subtracted from the scores");
    sinks = *parts;
    exponent = scores;
    hasMaximum = true;
  }
  softmax.scores = maskScores(exponent);
  if (hasMaximum || options.allowUnshifted)
    return success();
  if (exponent->isApply<arith::SubFOp>() &&
      (!contains(exponent->operands[1], softmax.key) || elements.open(stripCasts(exponent->operands[1]))))
    return fail("what is subtracted is not the maximum of the same scores over the key axis");
  return fail("no maximum is subtracted: exp overflows where a softmax does not (allow-unshifted-exp fuses it)");
}

//===----------------------------------------------------------------------===//
// Keys and columns
//===----------------------------------------------------------------------===//

bool Matcher::isOverColumns(const Reduction &reduction) {
  return reduction.dims.size() == 1 && sum.dims.size() == 1 && elements.haveSameExtent(reduction.dims[0], sum.dims[0]);
}

ExprRef Matcher::atKey(const Reduction &reduction) {
  if (reduction.dims.empty())
    return softmax.key ? nullptr : reduction.body;
  if (reduction.dims.size() != 1)
    return nullptr;
  if (isOverColumns(reduction))
    return bodyAt(reduction, expressions.scaled(getKey(), 1, numLeading));
  return softmax.key && elements.haveSameExtent(reduction.dims[0], softmax.key) ? bodyAt(reduction, softmax.key)
                                                                                : nullptr;
}

SmallVector<ExprRef> Matcher::getSinkPlaces() {
  SmallVector<ExprRef> places;
  for (int64_t k = 0; k < numColumns; ++k)
    places.push_back(k < numLeading ? expressions.integer(k) : expressions.scaled(getKeyCount(), 1, k));
  return places;
}

ExprRef Matcher::maskScores(ExprRef scores) {
  if (!keep)
    return scores;
  ExprRef dropped = expressions.constant(
      FloatAttr::get(scores->type, APFloat::getInf(cast<FloatType>(scores->type).getFloatSemantics(), true)));
  ExprRef masked = expressions.select(keep, scores, dropped);
  // They may be masked already.
  bool isMasked =
      scores->isApply<arith::SelectOp>() && scores->operands[0] == keep && scores->operands[2]->getReal() == -INFINITY;
  ExprRef inverse = expressions.negation(keep);
  isMasked |= scores->isApply<arith::SelectOp>() && scores->operands[0] == inverse &&
              scores->operands[1]->getReal() == -INFINITY;
  return isMasked ? scores : masked;
}

/// How many columns of the sum are no keys. A few: sinks.
LogicalResult Matcher::countColumns() {
  constexpr int64_t kMaxSinks = 8;
  if (sum.dims.empty() || (softmax.key && elements.haveSameExtent(sum.dims[0], softmax.key)))
    return success();
  ExprRef columns = elements.extentOf(sum.dims[0]);
  std::optional<int64_t> more = expressions.add(columns, getKeyCount(), -1)->getInteger();
  if (!more)
    return fail("the sum may have more keys than the values");
  if (*more >= 0 && *more <= kMaxSinks) {
    numColumns = *more;
    return success();
  }
  if (std::optional<int64_t> count = columns->getInteger())
    return fail(llvm::formatv("the sum has {0} keys, the values have {1}", *count, *getKeyCount()->getInteger()));
  return fail("the sum and the values have different numbers of keys");
}

/// Every other column of the sum is a sink, and so is what is added to it.
LogicalResult Matcher::readSinks() {
  SmallVector<ExprRef> terms;
  for (ExprRef place : getSinkPlaces())
    terms.push_back(bodyAt(sum, place));
  terms.append(added);
  for (ExprRef term : terms) {
    std::optional<Exponential> sink = readExponential(expressions, term);
    if (!sink || sink->keep || sink->factor != softmax.factor || contains(sink->exponent, softmax.key))
      return fail("what joins the sum beside the keys is no exponential of a sink");
    sinks.push_back(sink->exponent);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Putting it together
//===----------------------------------------------------------------------===//

LogicalResult Matcher::failOtherAxis() {
  miss.isOfAxis = miss.reason.empty();
  return fail("the softmax is not over the axis that the product with the values contracts (the key axis)");
}

/// The sum varies along the keys. The axis that it is over is the one along which its body gives the numerators.
LogicalResult Matcher::failAxis() {
  walk(numerator, [&](ExprRef e) {
    ExprRef body = stripCasts(expressions.substitute(sum.body, {{sum.dims[0], e}}));
    if (e->is(Expr::Kind::Dim) && body == stripCasts(numerator))
      miss.axis = e;
  });
  return failOtherAxis();
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

/// Takes exponentials that are added to the sum away from it.
ExprRef Matcher::splitDivisor(ExprRef e) {
  SmallVector<ExprRef> stack = {e}, others;
  ExprRef found = nullptr;
  while (!stack.empty()) {
    ExprRef part = stripCasts(stack.pop_back_val());
    if (part->isApply<arith::AddFOp>() && part->type.getIntOrFloatBitWidth() >= 32)
      stack.append(part->operands.begin(), part->operands.end());
    else if (!found && !getSoftmaxOp(part) && findExponentialSum(elements, part))
      found = part;
    else
      others.push_back(part);
  }
  if (!found || !llvm::all_of(others, [&](ExprRef other) { return readExponential(expressions, other); }))
    return e;
  added = others;
  return found;
}

/// Finds the sum that the numerators are divided by.
LogicalResult Matcher::openSum() {
  denominator = splitDivisor(denominator);
  std::optional<Reduction> opened = elements.open(denominator);
  if (!opened || opened->combiner != arith::AddFOp::getOperationName()) {
    // The numerator is an exponential: it looks like a softmax.
    if (readExponential(expressions, numerator))
      walk(denominator, [&](ExprRef e) {
        if (Operation *op = findExponentialSum(elements, e))
          softmax.sum = op;
      });
    return softmax.sum ? fail("the divisor is not the sum of the exponentials alone") : failure();
  }
  sum = *opened;
  softmax.sum = findExponentialSum(elements, denominator);
  if (!softmax.sum)
    return failure();
  if (!readExponential(expressions, sum.body))
    return fail("exponentials are multiplied by a condition before they are summed; a select is understood");
  if (readExponential(expressions, sum.init))
    added.push_back(sum.init);
  else if (sum.init->getReal() != 0.0)
    return fail("the sum does not start at 0");
  return success();
}

LogicalResult Matcher::matchSum() {
  denominator = stripZeroSum(stripCasts(denominator));
  if (denominator == stripCasts(numerator))
    return matchFoldedSum();
  if (failed(openSum()))
    return failure();
  if (sum.dims.size() > 1 || (softmax.key && sum.dims.empty()))
    return fail(llvm::formatv("the sum is over {0} axes, softmax over 1", sum.dims.size()));
  if (softmax.key && contains(denominator, softmax.key))
    return failAxis();
  if (denominator->type.getIntOrFloatBitWidth() < 32)
    return fail(
        llvm::formatv("the sum is kept in {0} bits, softmax needs 32", denominator->type.getIntOrFloatBitWidth()));
  return countColumns();
}

/// Keys that the sum leaves out must have the weight 0.
LogicalResult Matcher::matchKeep(ExprRef inSum, ExprRef inNumerator) {
  if (guard && inSum && !inNumerator)
    if (inSum == (isGuardInverted ? guard : expressions.negation(guard)))
      inNumerator = inSum;
  keep = inSum ? inSum : inNumerator;
  // The scores may be -inf there.
  bool isMasked = false;
  walk(numerator, [&](ExprRef e) {
    isMasked |= keep && isa<FloatType>(e->type) && e->isApply<arith::SelectOp>() && maskScores(e) == e;
  });
  bool isSame = inSum == inNumerator || (isMasked && (!inSum || !inNumerator));
  return isSame ? success() : fail("the sum is over other keys than those that get weights");
}

LogicalResult Matcher::matchNumerator() {
  std::optional<Exponential> own = readExponential(expressions, numerator), inSum;
  auto isAtKey = [&] {
    inSum = readExponential(expressions, atKey(sum));
    return own && inSum && inSum->exponent == own->exponent && inSum->factor == own->factor;
  };
  for (numLeading = 0; !isAtKey() && numLeading < numColumns;)
    ++numLeading;
  if (!isAtKey())
    return fail("the sum is not that of the numerators over the key axis");
  softmax.factor = own->factor;
  if (failed(matchKeep(inSum->keep, own->keep)) || failed(readSinks()) || failed(matchMaxima(own->exponent)))
    return failure();
  for (ExprRef sink : sinks) {
    ExprRef factor = expressions.constant(FloatAttr::get(sink->type, softmax.factor));
    softmax.sinks.push_back(expressions.apply(arith::MulFOp::getOperationName(), nullptr, sink->type, {sink, factor},
                                              {sink->type, sink->type}));
  }
  return success();
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
        return isMaximumOf(condition->operands[1 - k], softmax.scores, {});
    return false;
  }
  std::optional<Reduction> rows = elements.open(condition);
  StringRef combiner = isNegated ? arith::OrIOp::getOperationName() : arith::AndIOp::getOperationName();
  ExprRef body = rows ? atKey(*rows) : nullptr;
  return body && rows->combiner == combiner && rows->init->getBool() == !isNegated && isDeadKey(body, isNegated);
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

FailureOr<Softmax> Matcher::matchOp(Operation *op) {
  softmax.sum = op;
  int64_t axis = *getSoftmaxAxis(op);
  Value input = op->getOperand(0);
  ExprRef place = unguarded->operands[axis];
  std::optional<int64_t> first =
      softmax.key ? expressions.add(place, softmax.key, -1)->getInteger() : std::optional<int64_t>();
  for (auto [k, index] : llvm::enumerate(unguarded->operands))
    if (int64_t(k) != axis && softmax.key && contains(index, softmax.key))
      first.reset();
  if (!first && place->is(Expr::Kind::Dim))
    miss.axis = place;
  if (!first)
    return failOtherAxis();
  auto type = cast<RankedTensorType>(input.getType());
  sum.dims = {expressions.dim({type.getDimSize(axis), input, axis})};
  if (failed(countColumns()))
    return failure();
  if (*first < 0 || *first > numColumns)
    return fail("the softmax has other keys than the values");
  numLeading = *first;
  if (isa<linalg::SoftmaxOp>(op) && unguarded->type.getIntOrFloatBitWidth() < 32)
    return fail("the sum is kept in 16 bits, softmax needs 32");
  SmallVector<ExprRef> indices = llvm::to_vector(ArrayRef<ExprRef>(unguarded->operands));
  softmax.scores = stripCasts(elements.read(input, indices));
  for (ExprRef column : getSinkPlaces()) {
    indices[axis] = column;
    softmax.sinks.push_back(stripCasts(elements.foldComparisons(elements.read(input, indices))));
  }
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
  if (failed(matchSum()) || failed(matchNumerator()) || failed(matchGuard()))
    return miss.reason.empty() ? failNoQuotient() : failure();
  return softmax;
}

FailureOr<Softmax> fusion::matchSoftmax(Elements &elements, ExprRef weights, ExprRef key, const SoftmaxOptions &options,
                                        Miss &miss) {
  return Matcher(elements, key, options, miss).match(weights);
}
