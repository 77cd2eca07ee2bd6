//===- ScoreFunction.cpp - from scores to scale, score function and mask --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before: select(j <= i, dot * 0.125 + bias(i, j), -inf). After: scale 0.125, score(s) = s + bias(i, j), keep = j <= i.
// Arithmetic in 16 bits becomes that of the score type. -inf that is selected or added is a mask; so is a finite
// constant of -1e30 or below where each row is proved to keep a key: the others' weights are 0 to the last bit then,
// and a row without a key, which is uniform in the graph, cannot be. Where that is not proved the score stays as it is,
// and the run finds the rows for which the constant is a mask.
//
//===----------------------------------------------------------------------===//

#include "ScoreFunction.h"
#include "SoftmaxMatch.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

/// Constants from here on down make a weight 0 beside any kept score.
static constexpr double kMaskConstant = -1e30;

namespace {

class Splitter {
public:
  Splitter(Elements &elements, ExprRef dot, ExprRef key, FloatType scoreType)
      : elements(elements), expressions(elements.expressions), dot(dot), key(key), scoreType(scoreType) {}

  /// The expression in the score type throughout.
  ExprRef widen(ExprRef e);
  /// Moves factors of the argument into the scale.
  void takeScale(ScoreFunction &function);
  /// Takes masks out of the score, and gathers them.
  ExprRef takeMasks(ExprRef score, bool isFiniteTaken);

  SmallVector<ExprRef> keeps;
  std::optional<double> finiteMask;
  bool everyRowKeepsAKey(ExprRef all);
  ExprRef conjunctionOf(ArrayRef<ExprRef> conditions);
  bool isMask(ExprRef keptWhere, ExprRef keep);

private:
  ExprRef widenApply(ExprRef e);
  ExprRef takeSelect(ExprRef score, bool isFiniteTaken);
  bool isMaskConstant(ExprRef e, bool isFiniteTaken);
  ExprRef binary(StringRef name, ExprRef a, ExprRef b) {
    return expressions.apply(name, nullptr, a->type, {a, b}, {a->type, b->type});
  }

  Elements &elements;
  Expressions &expressions;
  ExprRef dot, key;
  FloatType scoreType;
  llvm::DenseMap<ExprRef, ExprRef> widened;
};

} // namespace

//===----------------------------------------------------------------------===//
// One type
//===----------------------------------------------------------------------===//

ExprRef Splitter::widenApply(ExprRef e) {
  if (e->isApply<arith::ExtFOp>() || e->isApply<arith::TruncFOp>())
    return widen(e->operands[0]);
  SmallVector<ExprRef> operands;
  SmallVector<Type> types;
  for (auto [operand, type] : llvm::zip_equal(e->operands, e->operandTypes)) {
    operands.push_back(isa<FloatType>(operand->type) ? widen(operand) : operand);
    types.push_back(operands.back()->type == operand->type ? type : Type(scoreType));
  }
  return expressions.apply(e->opName, e->attribute, scoreType, operands, types);
}

/// What leads from the dot product to the score is in the score type, and so is what joins it from narrower types. What
/// is computed in a wider type beside it, or decides a condition or an index, stays as it is and is rounded at the end.
ExprRef Splitter::widen(ExprRef e) {
  if (ExprRef known = widened.lookup(e))
    return known;
  ExprRef result = e;
  bool isNarrow = e->type.getIntOrFloatBitWidth() < scoreType.getWidth();
  auto real = e->is(Expr::Kind::Constant) ? dyn_cast<FloatAttr>(e->attribute) : FloatAttr();
  if (real && e->type != scoreType)
    result = expressions.constant(FloatAttr::get(scoreType, real.getValueAsDouble()));
  else if (e->is(Expr::Kind::Apply) && (isNarrow || contains(e, dot) || e->type == scoreType))
    result = widenApply(e);
  else if (e->type != scoreType)
    result = expressions.apply(isNarrow ? arith::ExtFOp::getOperationName() : arith::TruncFOp::getOperationName(),
                               nullptr, scoreType, {e}, {e->type});
  widened[e] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// The scale
//===----------------------------------------------------------------------===//

/// The only expression in which `part` is an operand; null where there are several, or none.
static ExprRef findOnlyUser(ExprRef root, ExprRef part) {
  ExprRef user = nullptr;
  unsigned count = 0;
  walk(root, [&](ExprRef e) {
    for (ExprRef operand : e->operands) {
      if (operand != part)
        continue;
      user = e;
      ++count;
    }
  });
  return count == 1 ? user : nullptr;
}

void Splitter::takeScale(ScoreFunction &function) {
  while (ExprRef user = findOnlyUser(function.score, function.argument)) {
    bool isDivision = user->isApply<arith::DivFOp>() && user->operands[0] == function.argument;
    if (!isDivision && !user->isApply<arith::MulFOp>())
      return;
    ExprRef factor = user->operands[user->operands[0] == function.argument ? 1 : 0];
    if (!takeScalar(elements, factor, isDivision, function.scale))
      return;
    function.score = expressions.substitute(function.score, {{user, function.argument}});
  }
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

bool Splitter::isMaskConstant(ExprRef e, bool isFiniteTaken) {
  std::optional<double> value = e->getReal();
  if (!value || !(*value <= kMaskConstant))
    return false;
  if (*value == -INFINITY)
    return true;
  if (isFiniteTaken)
    finiteMask = *value;
  return isFiniteTaken;
}

/// select(c, -inf, x) keeps where not c, select(c, x, -inf) where c.
ExprRef Splitter::takeSelect(ExprRef score, bool isFiniteTaken) {
  for (int k : {1, 2}) {
    if (!isMaskConstant(score->operands[k], isFiniteTaken))
      continue;
    ExprRef condition = score->operands[0];
    keeps.push_back(k == 1 ? expressions.negation(condition) : condition);
    return takeMasks(score->operands[3 - k], isFiniteTaken);
  }
  return score;
}

ExprRef Splitter::takeMasks(ExprRef score, bool isFiniteTaken) {
  if (score->isApply<arith::SelectOp>())
    return takeSelect(score, isFiniteTaken);
  if (!score->isApply<arith::AddFOp>())
    return score;
  ExprRef a = takeMasks(score->operands[0], isFiniteTaken), b = takeMasks(score->operands[1], isFiniteTaken);
  return a == score->operands[0] && b == score->operands[1] ? score : binary(score->opName, a, b);
}

/// Tries keys that masks of the field keep: the first, the last, the row's own. Proved is what folds to true for every
/// row.
bool Splitter::everyRowKeepsAKey(ExprRef all) {
  if (!key)
    return all->getBool() == true;
  SmallVector<ExprRef> tries = {expressions.integer(0)};
  IntegerRange keyRange = expressions.rangeOf(key);
  bool isStatic = key->is(Expr::Kind::Dim) && key->extent.isStatic();
  if (isStatic)
    tries.push_back(expressions.integer(keyRange.high));
  walk(all, [&](ExprRef e) {
    if (e->is(Expr::Kind::Dim) && e != key && isStatic && expressions.rangeOf(e).high <= keyRange.high)
      tries.push_back(e);
  });
  return llvm::any_of(
      tries, [&](ExprRef candidate) { return expressions.substitute(all, {{key, candidate}})->getBool() == true; });
}

ExprRef Splitter::conjunctionOf(ArrayRef<ExprRef> conditions) {
  ExprRef all = expressions.boolean(true);
  for (ExprRef condition : conditions)
    all = expressions.conjunction(all, condition);
  return all;
}

/// True if the condition is that the key, or any key of its row, is kept.
bool Splitter::isMask(ExprRef keptWhere, ExprRef keep) {
  if (keptWhere == keep || !key)
    return keptWhere == keep;
  ExprRef inner = keptWhere;
  bool isNegated = isNegation(keptWhere, inner);
  std::optional<Reduction> row = elements.open(inner);
  StringRef combiner = isNegated ? arith::AndIOp::getOperationName() : arith::OrIOp::getOperationName();
  if (!row || row->combiner != combiner || row->dims.size() != 1 || row->init->getBool() != isNegated ||
      !elements.haveSameExtent(row->dims[0], key))
    return false;
  ExprRef body = expressions.substitute(row->body, {{row->dims[0], key}});
  return (isNegated ? expressions.negation(body) : body) == keep;
}

FailureOr<ScoreFunction> fusion::splitScores(Elements &elements, ExprRef scores, ExprRef dot, ExprRef key,
                                             FloatType scoreType, ExprRef keptWhere, std::string &reason) {
  Expressions &expressions = elements.expressions;
  ScoreFunction function;
  function.argument = expressions.argument(scoreType);
  Splitter splitter(elements, dot, key, scoreType);
  function.score = expressions.substitute(splitter.widen(scores), {{splitter.widen(dot), function.argument}});
  if (contains(function.score, dot)) {
    reason = "the product of queries and keys is used otherwise than in a function of one score";
    return failure();
  }
  splitter.takeScale(function);
  ExprRef infinite = splitter.takeMasks(function.score, /*isFiniteTaken=*/false);
  ExprRef infiniteKeep = splitter.conjunctionOf(splitter.keeps);
  bool isGuarded =
      keptWhere && (splitter.isMask(keptWhere, infiniteKeep) || llvm::is_contained(splitter.keeps, keptWhere));
  splitter.keeps.clear();
  ExprRef finite = splitter.takeMasks(function.score, /*isFiniteTaken=*/true);
  ExprRef finiteKeep = splitter.conjunctionOf(splitter.keeps);
  bool isGuardedFinite = keptWhere && splitter.finiteMask && splitter.isMask(keptWhere, finiteKeep);
  bool isFinite = splitter.finiteMask && (isGuardedFinite || (!keptWhere && splitter.everyRowKeepsAKey(finiteKeep)));
  if (keptWhere && !isGuarded && !isGuardedFinite) {
    reason = "a select sets weights to 0 by another condition than that the row has no key";
    return failure();
  }
  function.score = isFinite ? finite : infinite;
  function.keep = isFinite ? finiteKeep : infiniteKeep;
  if (function.keep->getBool() == true)
    function.keep = nullptr;
  function.finiteMask = splitter.finiteMask;
  function.isFiniteMaskTaken = isFinite;
  if (splitter.finiteMask && !isFinite && !finiteKeep->getBool())
    function.keepIfAny = finiteKeep;
  // A factor may have been behind a mask.
  splitter.takeScale(function);
  return function;
}
