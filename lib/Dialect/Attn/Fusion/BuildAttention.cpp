//===- BuildAttention.cpp - attn.attention from what was matched ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BuildAttention.h"
#include "DeadRows.h"
#include "RegionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

/// A role's letter in the layouts, and the indices that it stands for.
struct Role {
  LayoutDim letter;
  SmallVector<ExprRef, 2> atoms;
};

class AttentionBuilder {
public:
  AttentionBuilder(Elements &elements, const AttentionMatch &match)
      : elements(elements), match(match), builder(match.root->getLoc(), match.root) {}

  BuiltAttention build();

private:
  /// An operand in a layout of attention, and that layout.
  std::pair<Value, AffineMap> buildOperand(const Operand &operand, ArrayRef<Role> roles);
  Value buildEmpty(ArrayRef<Axis> axes, Type elementType);
  /// The tensor with its floats widened or narrowed.
  Value convertTo(Type elementType, Value tensor);
  /// The tensor under the type that the graph's users of what it replaces have seen.
  Value castTo(Type type, Value tensor);
  Value buildScale();
  ExprRef joinAtoms(ArrayRef<ExprRef> atoms, llvm::DenseMap<ExprRef, ExprRef> &by);
  Value computeSinks();
  std::optional<Operand> findSinks();
  Value buildSink();
  ExprRef buildMask();
  void buildRegions(AttentionOp op, ExprRef keep);

  Elements &elements;
  const AttentionMatch &match;
  ImplicitLocOpBuilder builder;
};

} // namespace

/// The axes of an operand in the order in which its indices lie in memory, or in the roles' own where they are mixed;
/// b and h are left out where they are 1.
static SmallVector<Role> orderRoles(ArrayRef<Role> roles, ArrayRef<Axis> axes) {
  SmallVector<Role> present;
  llvm::copy_if(roles, std::back_inserter(present), [](const Role &role) {
    return !role.atoms.empty() || role.letter == kLengthDim || role.letter == kFeatureDim;
  });
  SmallVector<ExprRef> flat;
  for (const Axis &axis : axes)
    flat.append(axis.atoms.begin(), axis.atoms.end());
  SmallVector<Role> ordered = present;
  auto place = [&](const Role &role) {
    return role.atoms.empty() ? -1 : llvm::find(flat, role.atoms[0]) - flat.begin();
  };
  llvm::sort(ordered, [&](const Role &a, const Role &b) {
    return std::pair(place(a), a.letter) < std::pair(place(b), b.letter);
  });
  SmallVector<ExprRef> joined;
  for (const Role &role : ordered)
    joined.append(role.atoms.begin(), role.atoms.end());
  return joined == flat ? ordered : present;
}

static SmallVector<Axis> toAxes(ArrayRef<Role> roles) {
  SmallVector<Axis> axes;
  for (const Role &role : roles)
    axes.push_back({role.atoms, 0});
  return axes;
}

/// The layout map; null for the default one.
static AffineMap toLayout(ArrayRef<Role> roles, MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (const Role &role : roles)
    results.push_back(getAffineDimExpr(role.letter, context));
  AffineMap map = AffineMap::get(4, 0, results, context);
  return map.isIdentity() ? AffineMap() : map;
}

std::pair<Value, AffineMap> AttentionBuilder::buildOperand(const Operand &operand, ArrayRef<Role> roles) {
  SmallVector<Axis> axes = *getAxes(elements.expressions, operand);
  SmallVector<Role> ordered = orderRoles(roles, axes);
  return {regroup(builder, elements, operand.tensor, axes, toAxes(ordered)), toLayout(ordered, builder.getContext())};
}

Value AttentionBuilder::buildEmpty(ArrayRef<Axis> axes, Type elementType) {
  return tensor::EmptyOp::create(builder, sizesOf(builder, elements, axes), elementType);
}

Value AttentionBuilder::convertTo(Type elementType, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == elementType)
    return tensor;
  bool isNarrow = type.getElementTypeBitWidth() < elementType.getIntOrFloatBitWidth();
  Type converted = type.clone(elementType);
  return isNarrow ? arith::ExtFOp::create(builder, converted, tensor).getResult()
                  : arith::TruncFOp::create(builder, converted, tensor).getResult();
}

Value AttentionBuilder::castTo(Type type, Value tensor) {
  tensor = convertTo(cast<RankedTensorType>(type).getElementType(), tensor);
  return type == tensor.getType() ? tensor : tensor::CastOp::create(builder, type, tensor);
}

Value AttentionBuilder::buildScale() {
  FloatType scoreType = match.scoreType;
  Value scale = arith::ConstantOp::create(builder, builder.getFloatAttr(scoreType, match.scale.constant));
  RegionBuilder scalars(builder, elements.expressions);
  for (auto [factor, isDivisor] : match.scale.factors) {
    Value value = scalars.build(factor);
    unsigned width = value.getType().getIntOrFloatBitWidth();
    if (width < scoreType.getWidth())
      value = arith::ExtFOp::create(builder, scoreType, value);
    else if (width > scoreType.getWidth())
      value = arith::TruncFOp::create(builder, scoreType, value);
    scale = isDivisor ? arith::DivFOp::create(builder, scale, value).getResult()
                      : arith::MulFOp::create(builder, scale, value).getResult();
  }
  return scale;
}

/// A quotient (floordivsi) or a remainder by a size that may be of the run: ops that a region may hold.
template <typename OpTy> static ExprRef divide(Expressions &expressions, ExprRef index, ExprRef size) {
  Type type = index->type;
  return expressions.apply(OpTy::getOperationName(), nullptr, type, {index, size}, {type, type});
}

/// The atoms as parts of one index that stands for all of them, outer first, in `by`. Null where there are none.
ExprRef AttentionBuilder::joinAtoms(ArrayRef<ExprRef> atoms, llvm::DenseMap<ExprRef, ExprRef> &by) {
  if (atoms.size() < 2)
    return atoms.empty() ? nullptr : atoms[0];
  Expressions &expressions = elements.expressions;
  Extent whole{1, Value(), 0};
  for (ExprRef atom : atoms)
    whole.size = atom->extent.isStatic() && whole.isStatic() ? whole.size * atom->extent.size : ShapedType::kDynamic;
  ExprRef index = expressions.dim(whole), rest = index;
  for (ExprRef atom : llvm::reverse(llvm::drop_begin(atoms))) {
    by[atom] = divide<arith::RemUIOp>(expressions, rest, elements.extentOf(atom));
    rest = divide<arith::FloorDivSIOp>(expressions, rest, elements.extentOf(atom));
  }
  by[atoms.front()] = rest;
  return index;
}

/// A tensor of the sinks of all heads, computed.
Value AttentionBuilder::computeSinks() {
  llvm::DenseMap<ExprRef, ExprRef> by;
  ExprRef head = joinAtoms(match.roles.head, by);
  Value empty = buildEmpty({Axis{match.roles.head, 0}}, match.scoreType);
  auto map = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(builder, TypeRange{empty.getType()}, ValueRange(), ValueRange{empty},
                                           ArrayRef{map}, utils::IteratorType::parallel);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&generic.getRegion(), {}, {match.scoreType}, {builder.getLoc()});
  llvm::DenseMap<ExprRef, Value> values;
  if (head)
    values[head] = linalg::IndexOp::create(builder, 0);
  Value sink =
      RegionBuilder(builder, elements.expressions, values).build(elements.expressions.substitute(match.sink, by));
  linalg::YieldOp::create(builder, sink);
  return generic.getResult(0);
}

/// The sinks where a tensor holds them as they are, but for their type; nullopt where they are computed.
std::optional<Operand> AttentionBuilder::findSinks() {
  ExprRef element = stripCasts(match.sink);
  if (!element->is(Expr::Kind::Element))
    return std::nullopt;
  Operand sinks{element->value, llvm::to_vector(ArrayRef<ExprRef>(element->operands)), {}};
  auto axes = getAxes(elements.expressions, sinks);
  SmallVector<ExprRef> atoms;
  if (axes)
    for (const Axis &axis : *axes)
      atoms.append(axis.atoms.begin(), axis.atoms.end());
  bool hasAll = axes && llvm::all_of(match.roles.head, [&](ExprRef head) { return llvm::is_contained(atoms, head); });
  return hasAll ? std::optional(sinks) : std::nullopt;
}

Value AttentionBuilder::buildSink() {
  if (!match.sink)
    return {};
  FloatType scoreType = match.scoreType;
  std::optional<Operand> sink = findSinks();
  if (!sink)
    return computeSinks();
  Value logits =
      regroup(builder, elements, sink->tensor, *getAxes(elements.expressions, *sink), {Axis{match.roles.head, 0}});
  return convertTo(scoreType, logits);
}

/// The condition of the mask region: what -inf drops; and finite constants, in rows that keep a key.
ExprRef AttentionBuilder::buildMask() {
  if (!match.keepIfAny)
    return match.keep;
  Expressions &expressions = elements.expressions;
  SmallVector<ExprRef> rows;
  for (ArrayRef<ExprRef> atoms : {ArrayRef<ExprRef>(match.roles.batch), ArrayRef<ExprRef>(match.roles.head),
                                  ArrayRef<ExprRef>(match.roles.query)})
    llvm::copy_if(atoms, std::back_inserter(rows), [&](ExprRef atom) { return contains(match.keepIfAny, atom); });
  ExprRef isDead = expressions.element(buildDeadRows(builder, elements, match.keepIfAny, rows, match.roles.key), rows);
  return expressions.disjunction(match.keepIfAny, match.keep ? expressions.conjunction(match.keep, isDead) : isDead);
}

void AttentionBuilder::buildRegions(AttentionOp op, ExprRef keep) {
  Expressions &expressions = elements.expressions;
  const Roles &roles = match.roles;
  llvm::DenseMap<ExprRef, ExprRef> by;
  SmallVector<ExprRef> arguments;
  for (ArrayRef<ExprRef> atoms : {ArrayRef<ExprRef>(roles.batch), ArrayRef<ExprRef>(roles.head),
                                  ArrayRef<ExprRef>(roles.query), ArrayRef<ExprRef>(roles.key)})
    arguments.push_back(joinAtoms(atoms, by));
  auto fill = [&](Region &region, ExprRef e, bool isScore) {
    SmallVector<Type> types(4, builder.getIndexType());
    if (isScore)
      types.insert(types.begin(), match.scoreType);
    SmallVector<Location> locations(types.size(), builder.getLoc());
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&region, region.end(), types, locations);
    llvm::DenseMap<ExprRef, Value> values;
    if (isScore)
      values[match.argument] = block->getArgument(0);
    for (auto [k, argument] : llvm::enumerate(arguments))
      if (argument)
        values[argument] = block->getArgument(k + (isScore ? 1 : 0));
    Value result = RegionBuilder(builder, expressions, values).build(expressions.substitute(e, by));
    YieldOp::create(builder, result);
  };
  if (match.score != match.argument)
    fill(op.getScoreRegion(), match.score, /*isScore=*/true);
  if (keep)
    fill(op.getMaskRegion(), keep, /*isScore=*/false);
}

BuiltAttention AttentionBuilder::build() {
  const Roles &roles = match.roles;
  SmallVector<ExprRef, 2> kvHead(roles.head.begin(), roles.head.begin() + roles.numKvHead);
  Role batch{kBatchDim, roles.batch}, head{kHeadDim, roles.head}, keyHead{kHeadDim, kvHead};
  Role rows{kLengthDim, roles.query}, keys{kLengthDim, roles.key};
  Role headDim{kFeatureDim, roles.headDim}, valueDim{kFeatureDim, roles.valueDim};
  auto [query, queryLayout] = buildOperand(match.query, {batch, head, rows, headDim});
  auto [key, keyLayout] = buildOperand(match.key, {batch, keyHead, keys, headDim});
  auto [value, valueLayout] = buildOperand(match.value, {batch, keyHead, keys, valueDim});
  SmallVector<Role> outRoles = orderRoles({batch, head, rows, valueDim}, match.outAxes);
  SmallVector<Axis> outAxes = toAxes(outRoles);
  Type outType = cast<ShapedType>(match.root->getResult(0).getType()).getElementType();
  Value out = buildEmpty(outAxes, outType);
  SmallVector<Axis> weightAxes = toAxes({batch, head, rows, keys});
  Value weights = match.weights ? buildEmpty(weightAxes, match.scoreType) : Value();
  SmallVector<Type> results = {out.getType()};
  if (weights)
    results.push_back(weights.getType());
  ExprRef keep = buildMask();
  auto layout = [](AffineMap map) { return map ? AffineMapAttr::get(map) : AffineMapAttr(); };
  auto op = AttentionOp::create(
      builder, results, query, key, value, buildScale(), ValueRange(), ValueRange(), buildSink(), Value(), Value(), out,
      Value(), weights, ArrayAttr(), ArrayAttr(), layout(queryLayout), layout(keyLayout), layout(valueLayout),
      layout(toLayout(outRoles, builder.getContext())), IntegerAttr(), IntegerAttr(), UnitAttr());
  buildRegions(op, keep);
  Value result = regroup(builder, elements, op->getResult(0), outAxes, match.outAxes);
  BuiltAttention built{op, castTo(match.root->getResult(0).getType(), result), Value()};
  if (match.weights) {
    SmallVector<Axis> axes = *getAxes(elements.expressions, *match.weights);
    Value whole = regroup(builder, elements, op->getResult(1), weightAxes, axes);
    built.weights = castTo(match.weights->tensor.getType(), whole);
  }
  return built;
}

BuiltAttention fusion::buildAttention(Elements &elements, const AttentionMatch &match) {
  return AttentionBuilder(elements, match).build();
}
