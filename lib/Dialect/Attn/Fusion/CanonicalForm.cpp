//===- CanonicalForm.cpp - what was matched, written out again ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CanonicalForm.h"
#include "RegionBuilder.h"
#include "WrittenOut.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

SmallVector<ExprRef> fusion::getAtoms(const AttentionMatch &match) {
  const Roles &roles = match.roles;
  SmallVector<ExprRef> atoms;
  for (const auto *role : {&roles.batch, &roles.head, &roles.query, &roles.key, &roles.headDim, &roles.valueDim})
    atoms.append(role->begin(), role->end());
  return atoms;
}

SmallVector<ExprRef> fusion::getExpressions(const AttentionMatch &match) {
  SmallVector<ExprRef> list;
  for (ExprRef e : {match.score, match.keep, match.keepIfAny, match.sink})
    if (e)
      list.push_back(e);
  for (auto &[factor, isDivisor] : match.scale.factors)
    list.push_back(factor);
  return list;
}

//===----------------------------------------------------------------------===//
// Sizes that stay
//===----------------------------------------------------------------------===//

static bool isConstantTensor(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// The outermost index of a mixed radix number is free, the others are its strides.
static SmallVector<ExprRef> findFixedByIndex(Expressions &expressions, ExprRef index) {
  SmallVector<ExprRef> fixed;
  std::optional<Axis> axis = getAxis(expressions, index);
  if (axis && axis->offset >= 0) {
    llvm::append_range(fixed, llvm::drop_begin(axis->atoms, axis->atoms.empty() ? 0 : 1));
    return fixed;
  }
  walk(index, [&](ExprRef e) {
    if (e->is(Expr::Kind::Dim))
      fixed.push_back(e);
  });
  return fixed;
}

llvm::MapVector<ExprRef, KeptSize> fusion::findKeptSizes(Expressions &expressions, const AttentionMatch &match) {
  llvm::MapVector<ExprRef, KeptSize> kept;
  SmallVector<ExprRef> atoms = getAtoms(match);
  auto keepAll = [&](ExprRef in, StringRef reason) {
    walk(in, [&](ExprRef e) {
      if (llvm::is_contained(atoms, e) && e->extent.isStatic())
        kept.insert({e, {e->extent.size, reason}});
    });
  };
  for (ExprRef expression : getExpressions(match))
    walk(expression, [&](ExprRef e) {
      if (e->is(Expr::Kind::Quotient) || e->is(Expr::Kind::Remainder))
        keepAll(e, "a constant divides it");
      if (!e->is(Expr::Kind::Element))
        return;
      for (ExprRef index : e->operands) {
        if (isConstantTensor(e->value))
          keepAll(index, "a constant tensor has it");
        for (ExprRef fixed : findFixedByIndex(expressions, index))
          keepAll(fixed, "a constant of an index fits it");
      }
    });
  return kept;
}

//===----------------------------------------------------------------------===//
// The match over other tensors
//===----------------------------------------------------------------------===//

namespace {

/// Copies a match: other indices for the atoms, arguments of a new function for the tensors and scalars.
class MatchCopier {
public:
  MatchCopier(ModuleOp module, Elements &elements, const AttentionMatch &match,
              const llvm::DenseMap<ExprRef, int64_t> &sizes)
      : module(module), elements(elements), expressions(elements.expressions), match(match), sizes(sizes) {}

  /// The function has no more than its entry block.
  std::pair<func::FuncOp, AttentionMatch> run();
  /// The dimensions of the weights; nullopt where the match has none.
  std::optional<SmallVector<Axis>> copyWeightAxes();

private:
  void chooseAtoms();
  void addOperandShape(const Operand &operand);
  void addReadShapes(ExprRef expression);
  void growShape(Value tensor, ArrayRef<int64_t> atLeast);
  func::FuncOp buildFunction();
  Axis copyAxis(const Axis &axis);
  Operand copyOperand(const Operand &operand);
  ExprRef copyExpression(ExprRef e);
  ExprRef copySink(ExprRef sink);
  SmallVector<ExprRef, 2> copyAtoms(ArrayRef<ExprRef> atoms);

  ModuleOp module;
  Elements &elements;
  Expressions &expressions;
  const AttentionMatch &match;
  const llvm::DenseMap<ExprRef, int64_t> &sizes;
  /// Copies of atoms and sizes, then of every expression that was met.
  llvm::DenseMap<ExprRef, ExprRef> copies;
  llvm::MapVector<Value, SmallVector<int64_t>> shapes;
  llvm::SetVector<Value> scalars, constants;
  llvm::DenseMap<Value, Value> values;
};

} // namespace

void MatchCopier::chooseAtoms() {
  for (ExprRef atom : getAtoms(match)) {
    int64_t size = sizes.lookup(atom);
    copies[atom] = expressions.dim({size, Value(), 0, 1});
    ExprRef extent = elements.extentOf(atom);
    if (extent && extent->is(Expr::Kind::Size))
      copies[extent] = expressions.integer(size);
  }
}

void MatchCopier::growShape(Value tensor, ArrayRef<int64_t> atLeast) {
  SmallVector<int64_t> &shape = shapes[tensor];
  shape.resize(atLeast.size(), 0);
  for (auto [size, least] : llvm::zip_equal(shape, atLeast))
    size = std::max(size, least);
}

void MatchCopier::addOperandShape(const Operand &operand) {
  SmallVector<int64_t> shape;
  SmallVector<Axis> axes = *getAxes(expressions, operand);
  for (const Axis &axis : axes) {
    int64_t size = 1;
    for (ExprRef atom : axis.atoms)
      size *= sizes.lookup(atom);
    shape.push_back(axis.offset + size);
  }
  growShape(operand.tensor, shape);
}

/// A dimension that one index runs along has its size, others keep theirs, and all hold every index that is known.
void MatchCopier::addReadShapes(ExprRef expression) {
  walk(expression, [&](ExprRef e) {
    if (e->is(Expr::Kind::Outside) && e->value)
      scalars.insert(e->value);
    if (!e->is(Expr::Kind::Element))
      return;
    if (isConstantTensor(e->value)) {
      constants.insert(e->value);
      return;
    }
    constexpr int64_t unknownSize = 8;
    SmallVector<int64_t> shape;
    for (auto [old, index] : llvm::zip_equal(cast<ShapedType>(e->value.getType()).getShape(), e->operands)) {
      IntegerRange range = expressions.rangeOf(expressions.substitute(index, copies));
      int64_t size = range.isKnown() ? range.high + 1 : ShapedType::isDynamic(old) ? unknownSize : old;
      bool isKept = !copies.contains(index) && !ShapedType::isDynamic(old);
      shape.push_back(isKept ? std::max(size, old) : size);
    }
    growShape(e->value, shape);
  });
}

func::FuncOp MatchCopier::buildFunction() {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types;
  for (auto &[tensor, shape] : shapes)
    types.push_back(RankedTensorType::get(shape, cast<ShapedType>(tensor.getType()).getElementType()));
  for (Value scalar : scalars)
    types.push_back(scalar.getType());
  auto function =
      func::FuncOp::create(builder, module.getLoc(), "canonical", builder.getFunctionType(types, TypeRange()));
  Block *body = function.addEntryBlock();
  auto argument = body->args_begin();
  for (auto &[tensor, shape] : shapes)
    values[tensor] = *argument++;
  for (Value scalar : scalars)
    values[scalar] = *argument++;
  builder.setInsertionPointToStart(body);
  for (Value constant : constants)
    values[constant] = builder.clone(*constant.getDefiningOp())->getResult(0);
  return function;
}

SmallVector<ExprRef, 2> MatchCopier::copyAtoms(ArrayRef<ExprRef> atoms) {
  SmallVector<ExprRef, 2> result;
  for (ExprRef atom : atoms)
    if (ExprRef copy = copies.lookup(atom); copy->is(Expr::Kind::Dim))
      result.push_back(copy);
  return result;
}

Axis MatchCopier::copyAxis(const Axis &axis) { return {copyAtoms(axis.atoms), axis.offset}; }

/// The strides of mixed radix indices follow from the sizes.
Operand MatchCopier::copyOperand(const Operand &operand) {
  Operand copy{values.lookup(operand.tensor), {}, {}};
  SmallVector<Axis> axes = *getAxes(expressions, operand);
  for (const Axis &axis : axes) {
    ExprRef index = expressions.integer(0);
    Axis copied = copyAxis(axis);
    for (ExprRef atom : copied.atoms)
      index = expressions.add(atom, index, atom->extent.size);
    copy.indices.push_back(expressions.scaled(index, 1, axis.offset));
  }
  return copy;
}

ExprRef MatchCopier::copyExpression(ExprRef e) {
  if (!e)
    return e;
  constexpr int64_t unknownSize = 4;
  walk(e, [&](ExprRef part) {
    if (copies.contains(part))
      return;
    if (part->is(Expr::Kind::Size)) {
      copies[part] = expressions.integer(unknownSize);
    } else if (part->is(Expr::Kind::Outside) && part->value) {
      copies[part] = expressions.outside(values.lookup(part->value));
    } else if (part->is(Expr::Kind::Element)) {
      SmallVector<ExprRef> indices;
      for (ExprRef index : part->operands)
        indices.push_back(expressions.substitute(index, copies));
      copies[part] = expressions.element(values.lookup(part->value), indices);
    }
  });
  return expressions.substitute(e, copies);
}

/// The sink as an operand of attention, if its indices are those of one.
static std::optional<Operand> asOperand(Expressions &expressions, ExprRef sink) {
  if (!sink || !sink->is(Expr::Kind::Element))
    return std::nullopt;
  Operand operand{sink->value, llvm::to_vector(ArrayRef<ExprRef>(sink->operands)), {}};
  return getAxes(expressions, operand) && !isConstantTensor(sink->value) ? std::optional(operand) : std::nullopt;
}

ExprRef MatchCopier::copySink(ExprRef sink) {
  std::optional<Operand> operand = asOperand(expressions, sink);
  if (!operand)
    return copyExpression(sink);
  Operand copy = copyOperand(*operand);
  return expressions.element(copy.tensor, copy.indices);
}

std::optional<SmallVector<Axis>> MatchCopier::copyWeightAxes() {
  if (!match.weights)
    return std::nullopt;
  return llvm::map_to_vector(*getAxes(expressions, *match.weights),
                             [&](const Axis &axis) { return Axis{copyAtoms(axis.atoms), 0}; });
}

std::pair<func::FuncOp, AttentionMatch> MatchCopier::run() {
  chooseAtoms();
  for (const Operand *operand : {&match.query, &match.key, &match.value})
    addOperandShape(*operand);
  for (ExprRef expression : getExpressions(match))
    if (auto sink = expression == match.sink ? asOperand(expressions, match.sink) : std::nullopt)
      addOperandShape(*sink);
    else
      addReadShapes(expression);
  func::FuncOp function = buildFunction();
  AttentionMatch copy = match;
  copy.weights.reset();
  copy.query = copyOperand(match.query);
  copy.key = copyOperand(match.key);
  copy.value = copyOperand(match.value);
  for (auto member : {&Roles::batch, &Roles::head, &Roles::query, &Roles::key, &Roles::headDim, &Roles::valueDim})
    copy.roles.*member = copyAtoms(match.roles.*member);
  copy.roles.numKvHead = copyAtoms(ArrayRef<ExprRef>(match.roles.head).take_front(match.roles.numKvHead)).size();
  for (Axis &axis : copy.outAxes)
    axis = copyAxis(axis);
  for (auto &[factor, isDivisor] : copy.scale.factors)
    factor = copyExpression(factor);
  copy.score = copyExpression(match.score);
  copy.keep = copyExpression(match.keep);
  copy.keepIfAny = copyExpression(match.keepIfAny);
  copy.sink = copySink(match.sink);
  return {function, copy};
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

CanonicalForm fusion::buildCanonicalForm(ModuleOp module, Elements &elements, const AttentionMatch &match,
                                         const llvm::DenseMap<ExprRef, int64_t> &sizes, BuildFunction build) {
  MatchCopier copier(module, elements, match, sizes);
  CanonicalForm form;
  std::tie(form.function, form.match) = copier.run();
  ImplicitLocOpBuilder builder = ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), &form.function.getBody().front());
  WrittenOut written =
      writeOut(builder, elements.expressions, form.match,
               cast<ShapedType>(match.root->getResult(0).getType()).getElementType(), copier.copyWeightAxes());
  form.match.root = written.out.getDefiningOp();
  form.before.push_back(written.out);
  if (written.weights) {
    form.match.weights = Operand{written.weights->tensor, written.weights->indices, {}};
    form.before.push_back(written.weights->tensor);
  }
  // What was read so far is of the graph.
  Elements fresh(elements.expressions);
  BuiltAttention built = build(fresh, form.match);
  form.after.push_back(built.out);
  if (built.weights)
    form.after.push_back(built.weights);
  return form;
}
