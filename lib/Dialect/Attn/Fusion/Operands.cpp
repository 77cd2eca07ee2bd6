//===- Operands.cpp - contractions and what they contract -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operands.h"
#include "SoftmaxMatch.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

void Scale::multiply(const Scale &other) {
  constant *= other.constant;
  factors.append(other.factors);
}

/// Reads a leaf whose indices are constants deep: what exporters keep in tensors of one element.
static ExprRef readIfFixed(Elements &elements, ExprRef e) {
  bool isFixed = e->is(Expr::Kind::Element) &&
                 llvm::all_of(e->operands, [](ExprRef index) { return index->getInteger().has_value(); });
  return isFixed ? elements.read(e->value, e->operands) : e;
}

bool fusion::takeScalar(Elements &elements, ExprRef e, bool isDivisor, Scale &scale) {
  e = readIfFixed(elements, e);
  if (std::optional<double> value = e->getReal()) {
    double result = isDivisor ? scale.constant / *value : scale.constant * *value;
    if (!std::isfinite(result))
      return false;
    scale.constant = result;
    return true;
  }
  bool dependsOnIndex = false;
  walk(e, [&](ExprRef part) { dependsOnIndex |= part->is(Expr::Kind::Dim); });
  if (dependsOnIndex || !isa<FloatType>(e->type))
    return false;
  scale.factors.push_back({e, isDivisor});
  return true;
}

static bool collectFactors(Elements &elements, ExprRef e, Scale &scale, SmallVector<ExprRef> &factors) {
  if (e->isApply<arith::ExtFOp>())
    return collectFactors(elements, e->operands[0], scale, factors);
  if (e->isApply<arith::MulFOp>())
    return collectFactors(elements, e->operands[0], scale, factors) &&
           collectFactors(elements, e->operands[1], scale, factors);
  if (takeScalar(elements, e, /*isDivisor=*/false, scale))
    return true;
  factors.push_back(e);
  return e->is(Expr::Kind::Element);
}

std::optional<Contraction> fusion::openContraction(Elements &elements, ExprRef leaf) {
  std::optional<Reduction> sum = elements.open(leaf, /*isDeep=*/false);
  if (!sum || sum->combiner != arith::AddFOp::getOperationName() || sum->init->getReal() != 0.0)
    return std::nullopt;
  ExprRef body = sum->body;
  while (true) {
    Contraction contraction;
    contraction.op = sum->op;
    contraction.dims = sum->dims;
    SmallVector<ExprRef> factors;
    if (!collectFactors(elements, body, contraction.scale, factors) || factors.empty() || factors.size() > 2)
      return std::nullopt;
    contraction.left = factors[0];
    if (factors.size() == 2) {
      contraction.right = factors[1];
      return contraction;
    }
    // The product may be a tensor of its own, behind views.
    body = elements.readStep(factors[0]->value, factors[0]->operands);
    if (!body)
      return std::nullopt;
  }
}

/// Takes conversions and scalar factors from an element; what is left is null where it is more than that.
static ExprRef stripScalars(Elements &elements, ExprRef e, bool allowScale, Scale &scale) {
  while (!e->is(Expr::Kind::Element)) {
    if (e->isApply<arith::ExtFOp>()) {
      e = e->operands[0];
      continue;
    }
    bool isDivision = e->isApply<arith::DivFOp>();
    if (!allowScale || (!isDivision && !e->isApply<arith::MulFOp>()))
      return nullptr;
    if (takeScalar(elements, e->operands[1], isDivision, scale))
      e = e->operands[0];
    else if (!isDivision && takeScalar(elements, e->operands[0], false, scale))
      e = e->operands[1];
    else
      return nullptr;
  }
  return e;
}

SmallVector<Operand> fusion::peel(Elements &elements, ExprRef element, bool allowScale) {
  SmallVector<Operand> operands;
  Operand current;
  while (element) {
    current.tensor = element->value;
    current.indices.assign(element->operands.begin(), element->operands.end());
    operands.push_back(current);
    element = elements.readStep(current.tensor, current.indices);
    if (element)
      element = stripScalars(elements, element, allowScale, current.scale);
  }
  return operands;
}

void fusion::readOnce(Elements &elements, Operand &operand, Value source) {
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  SmallVector<ExprRef> places;
  for (int64_t k = 0; k < type.getRank(); ++k)
    places.push_back(elements.expressions.dim({type.getDimSize(k), operand.tensor, k}));
  ExprRef element = elements.readStep(operand.tensor, places);
  for (int64_t k = 0; element && k < type.getRank(); ++k)
    if (!type.isDynamicDim(k) && type.getDimSize(k) > 1 && !contains(element, places[k])) {
      operand.indices[k] = elements.expressions.integer(0);
      operand.repeated = source;
    }
}

/// An index, or a part of one; how many values it has, ShapedType::kDynamic where that is not known.
static std::optional<int64_t> countValues(Expressions &expressions, ExprRef atom) {
  ExprRef root = atom;
  while (root->is(Expr::Kind::Quotient) || root->is(Expr::Kind::Remainder))
    root = root->operands[0];
  if (!root->is(Expr::Kind::Dim))
    return std::nullopt;
  if (atom->is(Expr::Kind::Remainder))
    return atom->offset;
  return root->extent.isStatic() ? expressions.rangeOf(atom).high + 1 : ShapedType::kDynamic;
}

std::optional<Axis> fusion::getAxis(Expressions &expressions, ExprRef index) {
  LinearForm form = Expressions::getLinear(index);
  llvm::sort(form.terms,
             [](auto &a, auto &b) { return std::pair(-a.second, a.first->id) < std::pair(-b.second, b.first->id); });
  Axis axis;
  axis.offset = form.offset;
  int64_t stride = 1;
  for (auto [atom, coefficient] : llvm::reverse(form.terms)) {
    std::optional<int64_t> count = countValues(expressions, atom);
    if (!count || ShapedType::isDynamic(stride) || coefficient != stride)
      return std::nullopt;
    axis.atoms.insert(axis.atoms.begin(), atom);
    stride = ShapedType::isDynamic(*count) ? *count : stride * *count;
  }
  return axis;
}

std::optional<SmallVector<Axis>> fusion::getAxes(Expressions &expressions, const Operand &operand) {
  SmallVector<Axis> axes;
  llvm::SmallDenseSet<ExprRef> met;
  auto type = cast<RankedTensorType>(operand.tensor.getType());
  for (auto [k, index] : llvm::enumerate(operand.indices)) {
    std::optional<Axis> axis = getAxis(expressions, index);
    if (!axis || axis->offset < 0 || (axis->offset != 0 && type.isDynamicDim(k)))
      return std::nullopt;
    for (ExprRef atom : axis->atoms)
      if (!met.insert(atom).second)
        return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

bool fusion::isReadWhole(Elements &elements, const Operand &operand) {
  Expressions &expressions = elements.expressions;
  auto axes = getAxes(expressions, operand);
  if (!axes)
    return false;
  for (auto [k, axis] : llvm::enumerate(*axes)) {
    ExprRef count = expressions.integer(1), size = elements.readSize(operand.tensor, k);
    for (ExprRef atom : axis.atoms)
      count = elements.extentOf(atom) ? expressions.product(count, elements.extentOf(atom)) : size;
    if (axis.offset != 0 || expressions.add(size, count, -1)->getInteger().value_or(0) != 0)
      return false;
  }
  return true;
}
