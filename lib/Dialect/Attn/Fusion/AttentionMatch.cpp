//===- AttentionMatch.cpp - which part of a graph is an attention ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the product with the values backwards: one of its factors must be a softmax over the index that it contracts,
// and the scores a function of one dot product, captured tensors and indices. Which index is batch, head, query or
// feature follows from which of query, key and value it reaches, never from its place or its size:
//
//   | reaches query | key | value | is |
//   |---|---|---|---|
//   | x | x | x | batch, or the head that keys have |
//   | x |   |   | query position, or one of the query heads that share a key head |
//   |   | x | x | key position (the contracted one) |
//   | x | x |   | head dim (contracted by the dot product) |
//   |   |   | x | value dim |
//
//===----------------------------------------------------------------------===//

#include "AttentionMatch.h"
#include "ScoreFunction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

class Matcher {
public:
  /// `isSwapped`: where there is one key, the left factor of the scores' product is the key.
  Matcher(Elements &elements, Operation *root, const SoftmaxOptions &options, Miss &miss, bool isSwapped)
      : elements(elements), expressions(elements.expressions), options(options), miss(miss), isSwapped(isSwapped) {
    match.root = root;
  }

  FailureOr<AttentionMatch> run(FindWeights findWeights);
  /// True if a softmax over one key was found.
  bool hasOneKey() const { return match.softmax.sum && !match.softmax.key; }

private:
  LogicalResult fail(const Twine &reason) {
    if (miss.reason.empty())
      miss = {match.softmax.sum, reason.str(), nullptr};
    return failure();
  }

  LogicalResult matchProduct();
  std::optional<Contraction> openFoldedProduct();
  void nameAxis(ExprRef values);
  ExprRef read(ExprRef factor);
  LogicalResult failContraction(ExprRef weights, size_t count);
  ExprRef openRoot(ExprRef leaf);
  LogicalResult matchScores();
  LogicalResult matchFunction();
  void matchFiniteMask(const ScoreFunction &function);
  ExprRef captureBiases(ExprRef score);
  std::optional<Contraction> findDotProduct(ExprRef leaf);
  LogicalResult chooseOperands();
  bool choose(ArrayRef<Operand> candidates, Type type, ArrayRef<ExprRef> contracted, Operand &chosen);
  LogicalResult splitIndices();
  LogicalResult assignRoles();
  LogicalResult checkReach(ExprRef index);
  bool areScoresMixed();
  void assignRows(ArrayRef<ExprRef> rows, ArrayRef<ExprRef> shared);
  ExprRef joinSinks(ExprRef a, ExprRef b);
  void matchSink();
  LogicalResult checkSink();
  LogicalResult checkWeights();
  LogicalResult failMixed(ExprRef factor, ExprRef key);
  void substituteAll(const llvm::DenseMap<ExprRef, ExprRef> &by);

  Elements &elements;
  Expressions &expressions;
  const SoftmaxOptions &options;
  Miss &miss;
  bool isSwapped;
  AttentionMatch match;
  /// The indices of the result's dimensions, in their order.
  SmallVector<ExprRef> outIndices;
  ExprRef dot = nullptr;
  /// What the root does to its contraction, `wrapped`; null for nothing.
  ExprRef wrap = nullptr, wrapped = nullptr;
  /// What is contracted by the two products, as the operands are indexed.
  SmallVector<ExprRef> headDims, keyIndices;
  SmallVector<Operand> queries, keys, values;
};

} // namespace

//===----------------------------------------------------------------------===//
// The two contractions
//===----------------------------------------------------------------------===//

/// Says which axis a softmax is over in place of the keys'.
void Matcher::nameAxis(ExprRef values) {
  if (miss.axis)
    miss.reason += contains(values, miss.axis) ? ": it is over a batch or head axis" : ": it is over the query axis";
  miss.axis = nullptr;
}

/// Finds weights and values among the factors of the root.
LogicalResult Matcher::matchProduct() {
  auto indices = elements.makeResultIndices(match.root);
  if (!indices)
    return failure();
  outIndices = *indices;
  ExprRef leaf = openRoot(expressions.element(match.root->getResult(0), outIndices));
  auto holdsSoftmax = [&](ExprRef e) {
    bool found = wrap || findFoldedSoftmax(elements, read(e));
    walk(read(e), [&](ExprRef part) { found = found || findExponentialSum(elements, part); });
    return found;
  };
  std::optional<Contraction> product = leaf ? openContraction(elements, leaf) : openFoldedProduct();
  if (!product)
    return failure();
  for (ExprRef weights : {product->left, product->right}) {
    ExprRef values = weights == product->left ? product->right : product->left;
    if (!weights->is(Expr::Kind::Element) || !values->is(Expr::Kind::Element))
      continue;
    if (!holdsSoftmax(weights)) {
      if (product->dims.size() == 1 && failed(failMixed(weights, product->dims[0])))
        return failure();
      continue;
    }
    if (product->dims.size() > 1)
      return failContraction(weights, product->dims.size());
    ExprRef key = product->dims.empty() ? nullptr : product->dims[0];
    auto softmax = matchSoftmax(elements, read(weights), key, options, miss);
    if (failed(softmax)) {
      nameAxis(values);
      continue;
    }
    match.softmax = *softmax;
    if (product->scale.constant != 1 || !product->scale.factors.empty())
      return fail("a factor stands between the softmax and the product with the values");
    this->values = peel(elements, values, /*allowScale=*/false);
    return success();
  }
  return failure();
}

/// Fails where the factor is itself a product of a softmax over the key with something that has no key: heads are mixed
/// between the softmax and the product with the values.
LogicalResult Matcher::failMixed(ExprRef factor, ExprRef key) {
  ExprRef product = nullptr;
  walk(read(factor), [&](ExprRef e) {
    if (e->is(Expr::Kind::Element) && contains(e, key))
      product = e;
  });
  std::optional<Contraction> mix = product ? openContraction(elements, product) : std::nullopt;
  if (!mix)
    return success();
  for (ExprRef weights : {mix->left, mix->right}) {
    Miss ignored;
    if (!weights->is(Expr::Kind::Element) || !contains(weights, key))
      continue;
    auto softmax = matchSoftmax(elements, elements.read(weights->value, weights->operands), key, options, ignored);
    if (failed(softmax))
      continue;
    match.softmax.sum = softmax->sum;
    return fail("another product mixes the weights (those of several heads, say) before they are multiplied by the "
                "values");
  }
  return success();
}

/// True if the values have an index of their own.
static bool haveOwnIndex(ExprRef values, ExprRef weights) {
  bool found = false;
  walk(values, [&](ExprRef e) { found |= e->is(Expr::Kind::Dim) && !contains(weights, e); });
  return found;
}

/// A root that multiplies values by the weights of a single key is the product of both, its sum folded away.
std::optional<Contraction> Matcher::openFoldedProduct() {
  ExprRef e = elements.readStep(match.root->getResult(0), outIndices);
  e = e ? stripCasts(e) : e;
  if (!e || !e->isApply<arith::MulFOp>())
    return std::nullopt;
  for (int k : {0, 1}) {
    ExprRef left = stripCasts(e->operands[k]), right = stripCasts(e->operands[1 - k]);
    if (!left->is(Expr::Kind::Element) || !right->is(Expr::Kind::Element))
      return std::nullopt;
    ExprRef weights = elements.read(left->value, left->operands);
    if (!findFoldedSoftmax(elements, weights) || !haveOwnIndex(elements.read(right->value, right->operands), weights))
      continue;
    Contraction product;
    product.op = match.root;
    product.left = left;
    product.right = right;
    return product;
  }
  return std::nullopt;
}

/// The weights of a factor, with what the root does to the product done to them.
ExprRef Matcher::read(ExprRef factor) {
  ExprRef weights = elements.read(factor->value, factor->operands);
  return wrap ? expressions.substitute(wrap, {{wrapped, weights}}) : weights;
}

LogicalResult Matcher::failContraction(ExprRef weights, size_t count) {
  walk(read(weights), [&](ExprRef part) {
    Operation *sum = match.softmax.sum ? nullptr : findExponentialSum(elements, part);
    match.softmax.sum = sum ? sum : match.softmax.sum;
  });
  return fail(llvm::formatv("the product with the values contracts {0} axes", count));
}

/// A root that is no contraction itself may divide one by the sum of each row, or give 0 for rows without a key: both
/// may be done to the weights as well. Returns the contraction, and keeps what is done to it.
ExprRef Matcher::openRoot(ExprRef leaf) {
  auto op = dyn_cast<linalg::LinalgOp>(match.root);
  if (isa<MatmulOp>(match.root) || (op && op.getNumReductionLoops() != 0))
    return leaf;
  ExprRef value = elements.read(leaf->value, leaf->operands), inner = stripCasts(value);
  if (std::optional<ZeroSelect> select = splitZeroSelect(inner))
    inner = select->value;
  if (inner->isApply<arith::DivFOp>())
    inner = stripCasts(inner->operands[0]);
  else if (inner->isApply<arith::MulFOp>())
    inner = stripCasts(inner->operands[stripCasts(inner->operands[0])->isApply<arith::DivFOp>() ? 1 : 0]);
  if (inner == stripCasts(value) || !openContraction(elements, inner))
    return nullptr;
  wrap = value;
  wrapped = inner;
  return inner;
}

/// The dot product that an element leaf is: contracted indices reach both factors, the key's index one of them.
std::optional<Contraction> Matcher::findDotProduct(ExprRef leaf) {
  ExprRef key = match.softmax.key;
  if (!leaf->is(Expr::Kind::Element) || (key && !contains(leaf, key)))
    return std::nullopt;
  auto product = openContraction(elements, leaf);
  if (!key || !product)
    return product;
  if (contains(product->left, key) == contains(product->right, key))
    return std::nullopt;
  if (contains(product->left, key))
    std::swap(product->left, product->right);
  return product;
}

LogicalResult Matcher::matchScores() {
  SmallVector<std::pair<ExprRef, Contraction>> found;
  walk(match.softmax.scores, [&](ExprRef e) {
    if (auto product = findDotProduct(e))
      found.push_back({e, *product});
  });
  if (found.empty())
    return fail("the scores hold no product of queries and keys");
  // Of several (relative positions), the one that is read at the key's own place.
  auto isPlain = [&](auto &candidate) {
    return llvm::all_of(candidate.first->operands, [](ExprRef index) {
      return llvm::all_of(Expressions::getLinear(index).terms, [](auto &term) {
        return term.first->is(Expr::Kind::Dim) || term.first->is(Expr::Kind::Quotient) ||
               term.first->is(Expr::Kind::Remainder);
      });
    });
  };
  auto chosen = llvm::find_if(found, isPlain);
  if (chosen == found.end())
    return fail("the product of queries and keys is read at computed places");
  Contraction &product = chosen->second;
  dot = chosen->first;
  match.scoresOp = product.op;
  headDims = product.dims;
  if (match.softmax.key)
    keyIndices = {match.softmax.key};
  match.scale = product.scale;
  match.scale.constant *= match.softmax.factor;
  if (isSwapped && !match.softmax.key)
    std::swap(product.left, product.right);
  if (product.dims.size() > 1)
    return fail(llvm::formatv("the product of queries and keys contracts {0} axes", product.dims.size()));
  queries = peel(elements, product.left, /*allowScale=*/true);
  keys = peel(elements, product.right, /*allowScale=*/true);
  return success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool reaches(ExprRef index, const Operand &operand) {
  return llvm::any_of(operand.indices, [&](ExprRef e) { return contains(e, index); });
}

/// The candidate nearest to the graph's start of the given type whose indices are understood and hold the contracted
/// ones: behind a broadcast along one of those there is no operand of its size.
bool Matcher::choose(ArrayRef<Operand> candidates, Type type, ArrayRef<ExprRef> contracted, Operand &chosen) {
  auto holdsAll = [&](const Operand &operand) {
    std::optional<SmallVector<Axis>> axes = getAxes(expressions, operand);
    return axes && llvm::all_of(contracted, [&](ExprRef index) {
             return index->getInteger() ||
                    llvm::any_of(*axes, [&](const Axis &axis) { return llvm::is_contained(axis.atoms, index); });
           });
  };
  for (const Operand &candidate : llvm::reverse(candidates)) {
    if (candidate.getElementType() != type || !holdsAll(candidate))
      continue;
    chosen = candidate;
    // What it is read from is at computed places, but the same along some of its own dimensions.
    if (&candidate != &candidates.back())
      readOnce(elements, chosen, std::next(&candidate)->tensor);
    if (!holdsAll(chosen))
      chosen = candidate;
    return true;
  }
  return false;
}

LogicalResult Matcher::chooseOperands() {
  SmallVector<ExprRef> keyDims = headDims;
  keyDims.append(keyIndices);
  for (const Operand &candidate : llvm::reverse(queries)) {
    Type type = candidate.getElementType();
    auto outType = cast<ShapedType>(match.root->getResult(0).getType()).getElementType();
    bool isSupported = type.isF16() || type.isBF16() || type.isF32() || type.isF64();
    if (!isSupported || (outType != type && !outType.isF32()))
      continue;
    if (!choose(queries, type, headDims, match.query) || !choose(keys, type, keyDims, match.key) ||
        !choose(values, type, keyIndices, match.value))
      continue;
    Builder builder(expressions.getContext());
    match.scoreType = type.isF64() ? builder.getF64Type() : builder.getF32Type();
    match.scale.multiply(match.query.scale);
    match.scale.multiply(match.key.scale);
    return success();
  }
  return fail("query, key, value and result have no element type in common, or are read at computed places");
}

//===----------------------------------------------------------------------===//
// Splitting indices
//===----------------------------------------------------------------------===//

void Matcher::substituteAll(const llvm::DenseMap<ExprRef, ExprRef> &by) {
  auto substitute = [&](ExprRef &e) { e = e ? expressions.substitute(e, by) : e; };
  for (Operand *operand : {&match.query, &match.key, &match.value})
    llvm::for_each(operand->indices, substitute);
  if (match.weights)
    llvm::for_each(match.weights->indices, substitute);
  for (SmallVector<ExprRef> *indices : {&outIndices, &headDims, &keyIndices})
    llvm::for_each(*indices, substitute);
  for (ExprRef *e : {&match.softmax.scores, &match.score, &match.keep, &match.keepIfAny})
    substitute(*e);
  llvm::for_each(match.softmax.sinks, substitute);
}

/// The divisors by which operands take each index apart.
static llvm::MapVector<ExprRef, SmallVector<int64_t>> findDivisors(ArrayRef<const Operand *> operands) {
  llvm::MapVector<ExprRef, SmallVector<int64_t>> divisors;
  for (const Operand *operand : operands)
    for (ExprRef index : operand->indices)
      walk(index, [&](ExprRef e) {
        if (!e->is(Expr::Kind::Quotient) && !e->is(Expr::Kind::Remainder))
          return;
        // (x / a) mod b and x / (a * b) both take x apart at a and a * b.
        int64_t divisor = e->offset;
        ExprRef root = e->operands[0];
        for (; root->is(Expr::Kind::Quotient); root = root->operands[0])
          divisor *= root->offset;
        if (root->is(Expr::Kind::Dim))
          divisors[root].push_back(divisor);
      });
  return divisors;
}

/// b * heads + h in place of one index that stands for both. Fails where the parts do not nest.
LogicalResult Matcher::splitIndices() {
  SmallVector<const Operand *> operands = {&match.query, &match.key, &match.value};
  if (match.weights)
    operands.push_back(&*match.weights);
  auto divisors = findDivisors(operands);
  llvm::DenseMap<ExprRef, ExprRef> by;
  for (auto &[dim, list] : divisors) {
    llvm::sort(list);
    list.erase(llvm::unique(list), list.end());
    int64_t inner = 1;
    ExprRef sum = expressions.integer(0);
    Extent extent = dim->extent;
    for (int64_t divisor : list) {
      if (divisor % inner != 0 || (extent.isStatic() && extent.size % divisor != 0))
        return fail("operands take an index apart in ways that do not nest");
      sum = expressions.add(sum, expressions.dim({divisor / inner, Value(), 0}), inner);
      inner = divisor;
    }
    Extent outer = extent;
    outer.size = extent.isStatic() ? extent.size / inner : extent.size;
    outer.divisor = extent.divisor * inner;
    by[dim] = expressions.add(sum, expressions.dim(outer), inner);
  }
  if (!by.empty())
    substituteAll(by);
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Says what is wrong with an index that is none of attention's.
LogicalResult Matcher::checkReach(ExprRef index) {
  bool query = reaches(index, match.query), key = reaches(index, match.key), value = reaches(index, match.value);
  if (query ? key == value : (!key && value && !contains(match.softmax.scores, index)))
    return success();
  auto names = [&](bool wanted) {
    SmallVector<StringRef> list;
    for (auto [isReached, name] : {std::pair(query, "query"), std::pair(key, "key"), std::pair(value, "value")})
      if (isReached == wanted)
        list.push_back(name);
    return list.empty() ? std::string("none") : llvm::join(list, " and ");
  };
  return fail(
      llvm::formatv("an axis of the result reaches {0} and not {1}, which is no batch, head, query or value axis",
                    names(true), names(false)));
}

/// Query positions are the rows that masks speak of, or else the innermost; the others are heads that share keys.
void Matcher::assignRows(ArrayRef<ExprRef> rows, ArrayRef<ExprRef> shared) {
  Roles &roles = match.roles;
  ExprRef query = rows.empty() ? nullptr : rows.back();
  for (ExprRef row : rows)
    for (ExprRef mask : {match.keep, match.keepIfAny})
      if (mask && contains(mask, row))
        query = row;
  SmallVector<ExprRef> group;
  llvm::copy_if(rows, std::back_inserter(group), [&](ExprRef row) { return row != query; });
  if (query)
    roles.query.push_back(query);
  // A sink is one for each head.
  ExprRef head = shared.size() > 1 || (!shared.empty() && !group.empty()) ? shared.back() : nullptr;
  if (match.sink)
    for (ExprRef index : shared)
      head = contains(match.sink, index) ? index : head;
  for (ExprRef index : shared)
    if (index != head)
      roles.batch.push_back(index);
  if (head)
    roles.head.push_back(head);
  roles.numKvHead = roles.head.size();
  roles.head.append(group.begin(), group.end());
}

/// True if a row of the result reaches what stands for the keys alone, and that is computed by a product: it is a
/// tensor of scores, and the product with the "queries" mixes them.
bool Matcher::areScoresMixed() {
  bool hasRow = llvm::any_of(outIndices, [&](ExprRef index) {
    return reaches(index, match.key) && !reaches(index, match.query) && !reaches(index, match.value);
  });
  return hasRow && llvm::any_of(keys, [&](const Operand &candidate) {
           return openContraction(elements, expressions.element(candidate.tensor, candidate.indices)).has_value();
         });
}

LogicalResult Matcher::assignRoles() {
  if (areScoresMixed())
    return fail("another product mixes the scores (those of several heads, say) before the softmax");
  SmallVector<ExprRef> rows, shared;
  for (ExprRef index : outIndices) {
    std::optional<Axis> axis = getAxis(expressions, index);
    if (!axis || axis->offset != 0)
      return fail("a dimension of the result is no product of indices");
    match.outAxes.push_back(*axis);
    for (ExprRef atom : axis->atoms) {
      if (failed(checkReach(atom)))
        return failure();
      bool query = reaches(atom, match.query), key = reaches(atom, match.key);
      if (key)
        shared.push_back(atom);
      else if (query)
        rows.push_back(atom);
      else
        match.roles.valueDim.push_back(atom);
    }
  }
  for (auto [indices, role] : {std::pair(&keyIndices, &match.roles.key), {&headDims, &match.roles.headDim}})
    for (ExprRef index : *indices) {
      std::optional<Axis> axis = getAxis(expressions, index);
      if (!axis)
        return fail("a contracted axis is no product of indices");
      role->append(axis->atoms);
    }
  assignRows(rows, shared);
  return success();
}

/// One sink in place of two: larger + log(1 + exp(smaller - larger)), and -inf where both are none.
ExprRef Matcher::joinSinks(ExprRef a, ExprRef b) {
  auto apply = [&](StringRef name, ArrayRef<ExprRef> operands) {
    return expressions.apply(name, nullptr, match.scoreType, operands,
                             SmallVector<Type>(operands.size(), match.scoreType));
  };
  auto constant = [&](double value) { return expressions.constant(FloatAttr::get(match.scoreType, value)); };
  ExprRef larger = apply(arith::MaximumFOp::getOperationName(), {a, b});
  ExprRef smaller = apply(arith::MinimumFOp::getOperationName(), {a, b});
  ExprRef distance = apply(arith::SubFOp::getOperationName(), {smaller, larger});
  ExprRef more = apply(math::Log1pOp::getOperationName(), {apply(math::ExpOp::getOperationName(), {distance})});
  Builder builder(expressions.getContext());
  Attribute isEqual = builder.getDictionaryAttr(builder.getNamedAttr(
      "predicate", arith::CmpFPredicateAttr::get(expressions.getContext(), arith::CmpFPredicate::OEQ)));
  ExprRef isNone = expressions.apply(arith::CmpFOp::getOperationName(), isEqual, builder.getI1Type(),
                                     {larger, constant(-INFINITY)}, {match.scoreType, match.scoreType});
  return expressions.select(isNone, larger, apply(arith::AddFOp::getOperationName(), {larger, more}));
}

void Matcher::matchSink() {
  auto toScoreType = [&](ExprRef e) {
    if (e->type == match.scoreType)
      return e;
    bool isNarrow = e->type.getIntOrFloatBitWidth() < match.scoreType.getWidth();
    return expressions.apply(isNarrow ? arith::ExtFOp::getOperationName() : arith::TruncFOp::getOperationName(),
                             nullptr, match.scoreType, {e}, {e->type});
  };
  for (ExprRef sink : match.softmax.sinks)
    match.sink = match.sink ? joinSinks(match.sink, toScoreType(sink)) : toScoreType(sink);
}

/// Sinks are one logit for each head.
LogicalResult Matcher::checkSink() {
  bool isOfHead = true;
  if (match.sink)
    walk(match.sink,
         [&](ExprRef e) { isOfHead &= !e->is(Expr::Kind::Dim) || llvm::is_contained(match.roles.head, e); });
  return isOfHead ? success()
                  : fail("what joins the sum beside the keys is no sink: it varies along a batch or query axis");
}

/// True if computing the expression for every score would cost more than reading it.
static bool isExpensive(ExprRef e) {
  constexpr int kMaxOps = 24;
  int ops = 0;
  bool hasFunction = false;
  walk(e, [&](ExprRef part) {
    ops += part->is(Expr::Kind::Apply);
    hasFunction |=
        part->is(Expr::Kind::Apply) && (part->opName.getValue().starts_with("math.") || part->isApply<arith::DivFOp>());
  });
  return hasFunction || ops > kMaxOps;
}

/// What does not depend on the dot product and is expensive is read from the tensor that the graph has of it.
ExprRef Matcher::captureBiases(ExprRef score) {
  llvm::DenseMap<ExprRef, ExprRef> by;
  SmallVector<ExprRef> stack = {score};
  while (!stack.empty()) {
    ExprRef e = stack.pop_back_val();
    if (contains(e, match.argument)) {
      stack.append(e->operands.begin(), e->operands.end());
      continue;
    }
    ArrayRef<TensorElement> tensors = elements.findTensors(e);
    if (e->is(Expr::Kind::Apply) && isExpensive(e) && !tensors.empty())
      by[e] = expressions.element(tensors.front().tensor, tensors.front().indices);
  }
  return expressions.substitute(score, by);
}

/// Decides whether rows are looked at for the sake of a finite mask, and notes what it becomes.
void Matcher::matchFiniteMask(const ScoreFunction &function) {
  auto note = [&](const Twine &text) {
    match.notes.push_back(llvm::formatv("mask of {0:e} {1}", *function.finiteMask, text.str()));
  };
  if (function.isFiniteMaskTaken)
    return note(match.softmax.keptWhere ? "as -inf, for rows without a key are set to 0"
                                        : "as -inf, for every row is proved to keep a key");
  ExprRef key = match.softmax.key;
  IntegerRange keys = key ? expressions.rangeOf(key) : IntegerRange{0, 0};
  if (!function.keepIfAny || keys.high + 1 < options.leastCheckedKeys)
    return note("in the score function, for rows may keep no key, and no run of keys is long enough to skip");
  match.keepIfAny = function.keepIfAny;
  note("as -inf in rows that keep a key, which the run finds");
}

LogicalResult Matcher::matchFunction() {
  std::string reason;
  auto function = splitScores(elements, match.softmax.scores, dot, match.softmax.key, match.scoreType,
                              match.softmax.keptWhere, reason);
  if (failed(function))
    return fail(reason);
  match.scale.multiply(function->scale);
  match.argument = function->argument;
  match.score = captureBiases(function->score);
  match.keep = function->keep;
  if (function->finiteMask)
    matchFiniteMask(*function);
  return success();
}

/// A tensor of weights that something else uses must have the attention's, all of them and no more.
LogicalResult Matcher::checkWeights() {
  if (!getAxes(expressions, *match.weights))
    return fail("the weights have another user, and are read at computed places");
  if (!isReadWhole(elements, *match.weights))
    return fail("the weights have another user, and the product with the values reads a part of them");
  return success();
}

FailureOr<AttentionMatch> Matcher::run(FindWeights findWeights) {
  if (failed(matchProduct()) || failed(matchScores()) || failed(chooseOperands()) || failed(matchFunction()))
    return failure();
  match.weights = findWeights(match.softmax.weights);
  if (match.weights && failed(checkWeights()))
    return failure();
  if (failed(splitIndices()))
    return failure();
  matchSink();
  if (failed(assignRoles()) || failed(checkSink()))
    return failure();
  return match;
}

FailureOr<AttentionMatch> fusion::matchAttention(Elements &elements, Operation *root, const SoftmaxOptions &options,
                                                 FindWeights findWeights, Miss &miss) {
  Matcher matcher(elements, root, options, miss, /*isSwapped=*/false);
  FailureOr<AttentionMatch> match = matcher.run(findWeights);
  // No index tells a single key from a query. One of them reaches what attention allows.
  if (failed(match) && matcher.hasOneKey())
    match = Matcher(elements, root, options, miss, /*isSwapped=*/true).run(findWeights);
  return match;
}
