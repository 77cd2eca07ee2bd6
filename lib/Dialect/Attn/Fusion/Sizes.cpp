//===- Sizes.cpp - sizes of tensors, and reshapes by sizes that the run knows ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exporters of dynamic shapes compute the sizes of a reshape in scalar arithmetic. Two sizes are equal where they are
// the same expression of the sizes of arguments; a reshape falls into groups of dimensions with the same product.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "attn/Dialect/Attn/IR/ReshapeGroups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

bool fusion::isSizeOfDimension(tensor::DimOp op) {
  return op.getSpeculatability() == Speculation::Speculatable && *op.getConstantIndex() >= 0;
}

ExprRef Elements::readSize(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return expressions.integer(type.getDimSize(dimension));
  ExprRef size = readNewSize(tensor, dimension);
  size = size ? size : expressions.size(tensor, dimension);
  return equalSizes.empty() ? size : expressions.substitute(size, equalSizes);
}

/// n * x = n * y is x = y; the later one of x and y counts as the earlier.
void Elements::assumeEqual(ExprRef a, ExprRef b) {
  LinearForm first = Expressions::getLinear(a), second = Expressions::getLinear(b);
  if (a == b || first.offset != 0 || second.offset != 0 || first.terms.size() != 1 || second.terms.size() != 1)
    return;
  auto [x, n] = first.terms[0];
  auto [y, m] = second.terms[0];
  if (n != m)
    return;
  if (x->id < y->id)
    std::swap(x, y);
  if (contains(y, x))
    std::swap(x, y);
  if (contains(y, x))
    return;
  for (auto &[size, equal] : equalSizes)
    equal = expressions.substitute(equal, {{x, y}});
  equalSizes[x] = y;
}

void Elements::assumeEqualSizesOf(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
    return;
  SmallVector<ExprRef> sizes(op.getNumLoops(), nullptr);
  for (OpOperand &operand : op->getOpOperands())
    for (auto [k, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || !isa<RankedTensorType>(operand.get().getType()))
        continue;
      ExprRef size = readSize(operand.get(), k), &known = sizes[loop.getPosition()];
      if (known)
        assumeEqual(known, size);
      known = known ? known : size;
    }
}

void Elements::assumeEqualSizes(Block &block) {
  // Outer blocks first: what both know is told by the values that both see.
  SmallVector<Block *> blocks;
  for (Block *outer = &block; outer; outer = outer->getParentOp() ? outer->getParentOp()->getBlock() : nullptr)
    blocks.push_back(outer);
  for (Block *outer : llvm::reverse(blocks))
    for (auto op : outer->getOps<linalg::LinalgOp>())
      assumeEqualSizesOf(op);
  // What was read so far did not know.
  scalars.clear();
}

/// By the op that makes the tensor; null where that does not tell.
ExprRef Elements::readNewSize(Value tensor, int64_t dimension) {
  Operation *op = tensor.getDefiningOp();
  auto read = [&](OpFoldResult size) -> ExprRef {
    auto value = dyn_cast<Value>(size);
    return value ? readScalar(value) : expressions.integer(*getConstantIntValue(size));
  };
  if (op && OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return readSize(operand, dimension);
  if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(op))
    return read(empty.getMixedSizes()[dimension]);
  if (isa_and_present<SoftmaxOp, MaskOp, linalg::SoftmaxOp>(op))
    return readSize(op->getOperand(0), dimension);
  if (auto linalgOp = dyn_cast_if_present<linalg::LinalgOp>(op))
    return readSize(linalgOp.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get(), dimension);
  if (auto expand = dyn_cast_if_present<tensor::ExpandShapeOp>(op))
    return read(expand.getMixedOutputShape()[dimension]);
  if (auto cast = dyn_cast_if_present<tensor::CastOp>(op); cast && isa<RankedTensorType>(cast.getSource().getType()))
    return readSize(cast.getSource(), dimension);
  if (auto insertion = dyn_cast_if_present<tensor::InsertSliceOp>(op))
    return readSize(insertion.getDest(), dimension);
  if (auto reshape = dyn_cast_if_present<tensor::ReshapeOp>(op))
    if (auto sizes = reshape.getShape().getDefiningOp<tensor::FromElementsOp>())
      return readScalar(sizes.getElements()[dimension]);
  if (auto concat = dyn_cast_if_present<tensor::ConcatOp>(op)) {
    if (dimension != int64_t(concat.getDim()))
      return readSize(concat.getInputs().front(), dimension);
    ExprRef sum = expressions.integer(0);
    for (Value input : concat.getInputs())
      sum = expressions.add(sum, readSize(input, dimension));
    return sum;
  }
  if (auto pad = dyn_cast_if_present<tensor::PadOp>(op))
    return expressions.add(
        readSize(pad.getSource(), dimension),
        expressions.add(read(pad.getMixedLowPad()[dimension]), read(pad.getMixedHighPad()[dimension])));
  if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(op)) {
    ExprRef product = expressions.integer(1);
    mlir::ReassociationIndices group = attn::getGroups(collapse)[dimension];
    for (int64_t source : group)
      product = expressions.product(product, readSize(collapse.getSrc(), source));
    return product;
  }
  auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(op);
  if (!slice)
    return nullptr;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [k, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(k) && dimension-- == 0)
      return read(size);
  return nullptr;
}

ExprRef Elements::extentOf(ExprRef index) {
  if (index->is(Expr::Kind::Quotient)) {
    ExprRef whole = extentOf(index->operands[0]);
    return whole ? expressions.quotient(whole, index->offset) : nullptr;
  }
  if (!index->is(Expr::Kind::Dim))
    return nullptr;
  const Extent &extent = index->extent;
  return extent.isStatic() ? expressions.integer(extent.size)
                           : expressions.quotient(readSize(extent.tensor, extent.position), extent.divisor);
}

/// A dimension that broadcasts if the run finds its size to be 1 is read at `size == 1 ? 0 : index`: at the index, if
/// that runs to the same size.
ExprRef Elements::apply(Operation *op, ArrayRef<ExprRef> operands) {
  ExprRef result = expressions.apply(op, operands);
  if (!isa<arith::SelectOp>(op) || operands[1]->getInteger() != 0 || !operands[0]->isApply<arith::CmpIOp>())
    return result;
  ExprRef condition = operands[0], extent = extentOf(operands[2]);
  auto predicate = cast<arith::CmpIPredicateAttr>(cast<DictionaryAttr>(condition->attribute).get("predicate"));
  bool isUnit = predicate.getValue() == arith::CmpIPredicate::eq && condition->operands[0] == extent &&
                condition->operands[1]->getInteger() == 1;
  return isUnit ? operands[2] : result;
}

bool Elements::haveSameExtent(ExprRef a, ExprRef b) {
  const Extent &x = a->extent, &y = b->extent;
  if (x.isStatic() || y.isStatic())
    return x.size == y.size;
  return x.divisor == y.divisor && readSize(x.tensor, x.position) == readSize(y.tensor, y.position);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// What an integer is at most (or at least) for every value of its indices, as an expression of sizes.
ExprRef Elements::boundOf(ExprRef e, bool isUpper) {
  ExprRef bound = e;
  for (auto [operand, coefficient] : Expressions::getLinear(e).terms) {
    ExprRef extent = operand->is(Expr::Kind::Dim) ? extentOf(operand) : nullptr;
    if (!extent)
      continue;
    bound = expressions.add(bound, operand, -coefficient);
    if ((coefficient > 0) == isUpper)
      bound = expressions.add(bound, expressions.scaled(extent, 1, -1), coefficient);
  }
  return bound;
}

std::optional<bool> Elements::decide(arith::CmpIPredicate predicate, ExprRef a, ExprRef b) {
  using P = arith::CmpIPredicate;
  ExprRef difference = expressions.add(a, b, -1);
  IntegerRange upper = expressions.rangeOf(boundOf(difference, /*isUpper=*/true));
  IntegerRange lower = expressions.rangeOf(boundOf(difference, /*isUpper=*/false));
  if (!upper.isKnown() || !lower.isKnown())
    return std::nullopt;
  auto answer = [](bool yes, bool no) { return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt; };
  switch (predicate) {
  case P::slt:
    return answer(upper.high < 0, lower.low >= 0);
  case P::sge:
    return answer(lower.low >= 0, upper.high < 0);
  case P::sle:
    return answer(upper.high <= 0, lower.low > 0);
  case P::sgt:
    return answer(lower.low > 0, upper.high <= 0);
  default:
    return std::nullopt;
  }
}

ExprRef Elements::compare(arith::CmpIPredicate predicate, ExprRef a, ExprRef b) {
  std::optional<bool> known = decide(predicate, a, b);
  return known ? expressions.boolean(*known) : expressions.compare(predicate, a, b);
}

ExprRef Elements::foldComparisons(ExprRef e) {
  llvm::DenseMap<ExprRef, ExprRef> by;
  walk(e, [&](ExprRef part) {
    if (!part->isApply<arith::CmpIOp>() || part->operandTypes[0].isInteger(1))
      return;
    auto predicate = cast<arith::CmpIPredicateAttr>(cast<DictionaryAttr>(part->attribute).get("predicate"));
    if (std::optional<bool> known = decide(predicate.getValue(), part->operands[0], part->operands[1]))
      by[part] = expressions.boolean(*known);
  });
  return by.empty() ? e : expressions.substitute(e, by);
}

namespace {

/// A product of sizes.
struct Monomial {
  int64_t coefficient = 1;
  SmallVector<ExprRef> atoms;

  void multiply(ExprRef size) {
    LinearForm form = Expressions::getLinear(size);
    if (form.terms.empty() || form.terms.size() > 1 || form.offset != 0) {
      coefficient *= size->getInteger().value_or(1);
      if (!size->getInteger())
        atoms.push_back(size);
    } else {
      coefficient *= form.terms[0].second;
      ExprRef atom = form.terms[0].first;
      if (atom->isApply<arith::MulIOp>())
        llvm::for_each(atom->operands, [&](ExprRef factor) { multiply(factor); });
      else
        atoms.push_back(atom);
    }
    llvm::sort(atoms, [](ExprRef a, ExprRef b) { return a->id < b->id; });
  }
  bool operator==(const Monomial &other) const { return coefficient == other.coefficient && atoms == other.atoms; }
  bool divides(const Monomial &other) const {
    return coefficient != 0 && other.coefficient % coefficient == 0 &&
           std::includes(other.atoms.begin(), other.atoms.end(), atoms.begin(), atoms.end(),
                         [](ExprRef a, ExprRef b) { return a->id < b->id; });
  }
};

/// Dimensions of both shapes that hold the same elements in the same order.
struct ReshapeGroup {
  SmallVector<int64_t> source, target;
};

} // namespace

/// Falls apart into the smallest groups; fails where products do not meet.
static std::optional<SmallVector<ReshapeGroup>> groupDimensions(ArrayRef<ExprRef> source, ArrayRef<ExprRef> target) {
  SmallVector<ReshapeGroup> groups;
  size_t s = 0, t = 0;
  while (s < source.size() || t < target.size()) {
    ReshapeGroup group;
    Monomial from, to;
    auto takeSource = [&] { from.multiply(source[s]), group.source.push_back(s++); };
    auto takeTarget = [&] { to.multiply(target[t]), group.target.push_back(t++); };
    if (s < source.size())
      takeSource();
    if (t < target.size())
      takeTarget();
    while (!(from == to)) {
      if (from.divides(to) && s < source.size())
        takeSource();
      else if (to.divides(from) && t < target.size())
        takeTarget();
      else
        return std::nullopt;
    }
    groups.push_back(group);
  }
  return groups;
}

ExprRef Elements::readReshape(tensor::ReshapeOp op, ArrayRef<ExprRef> indices, Reader reader) {
  auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto targetType = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!sourceType || !targetType)
    return nullptr;
  SmallVector<ExprRef> source, target;
  for (int64_t k = 0; k < sourceType.getRank(); ++k)
    source.push_back(readSize(op.getSource(), k));
  for (int64_t k = 0; k < targetType.getRank(); ++k)
    target.push_back(readSize(op.getResult(), k));
  auto groups = groupDimensions(source, target);
  if (!groups)
    return nullptr;
  SmallVector<ExprRef> sourceIndices(source.size(), expressions.integer(0));
  for (const ReshapeGroup &group : *groups) {
    ExprRef position = expressions.integer(0);
    for (int64_t k : group.target) {
      std::optional<int64_t> size = target[k]->getInteger();
      if (position != expressions.integer(0) && !size)
        return nullptr;
      position = expressions.add(indices[k], position, size.value_or(1));
    }
    for (int64_t k : llvm::reverse(llvm::drop_begin(group.source, group.source.empty() ? 0 : 1))) {
      std::optional<int64_t> size = source[k]->getInteger();
      if (!size || *size < 1 || expressions.rangeOf(position).low < 0)
        return nullptr;
      sourceIndices[k] = expressions.remainder(position, *size);
      position = expressions.quotient(position, *size);
    }
    if (!group.source.empty())
      sourceIndices[group.source.front()] = position;
  }
  return reader(op.getSource(), sourceIndices);
}
