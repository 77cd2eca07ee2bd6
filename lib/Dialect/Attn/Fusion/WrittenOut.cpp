//===- WrittenOut.cpp - attention step by step ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tensor between has one dimension for each index, in the order batch, head, query, key or value dim.
//
//===----------------------------------------------------------------------===//

#include "WrittenOut.h"
#include "RegionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

using Atoms = SmallVector<ExprRef>;

/// A tensor with a dimension for each index.
struct Flat {
  Value tensor;
  Atoms atoms;
};

class Writer {
public:
  Writer(ImplicitLocOpBuilder &builder, Expressions &expressions, const AttentionMatch &match)
      : builder(builder), expressions(expressions), match(match), type(match.scoreType) {}

  WrittenOut write(Type outType, const std::optional<SmallVector<Axis>> &weightAxes);

private:
  using Values = llvm::DenseMap<ExprRef, Value>;
  using Compute = llvm::function_ref<Value(const Values &)>;

  /// The tensor whose elements `compute` gives, with the indices among the values.
  Flat tabulate(ArrayRef<ExprRef> atoms, Type elementType, Compute compute);
  Flat tabulate(ArrayRef<ExprRef> atoms, Compute compute) { return tabulate(atoms, type, compute); }
  Flat readOperand(const Operand &operand, ArrayRef<ExprRef> atoms);
  /// The sum over the indices that `kept` lacks of a times b.
  Flat contract(const Flat &a, const Flat &b, ArrayRef<ExprRef> kept);
  template <typename OpTy> Flat reduceKeys(const Flat &of, double init);
  Value at(const Flat &flat, const Values &values);
  Value buildScale();
  Value constant(double value) { return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value)); }
  Value filled(ArrayRef<ExprRef> atoms, double value);
  Flat writeScores();
  Flat writeSinks();
  Flat writeWeights(const Flat &scores);
  Value pack(const Flat &flat, ArrayRef<Axis> axes, Type elementType, SmallVector<ExprRef> &indices);
  Atoms gather(std::initializer_list<ArrayRef<ExprRef>> lists);

  ImplicitLocOpBuilder &builder;
  Expressions &expressions;
  const AttentionMatch &match;
  FloatType type;
  Atoms rows, keys;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> shapeOf(ArrayRef<ExprRef> atoms) {
  return llvm::map_to_vector(atoms, [](ExprRef atom) { return atom->extent.size; });
}

static Value toType(ImplicitLocOpBuilder &builder, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  return from < to ? arith::ExtFOp::create(builder, type, value).getResult()
                   : arith::TruncFOp::create(builder, type, value).getResult();
}

Atoms Writer::gather(std::initializer_list<ArrayRef<ExprRef>> lists) {
  Atoms all;
  for (ArrayRef<ExprRef> list : lists)
    llvm::append_range(all, list);
  return all;
}

Flat Writer::tabulate(ArrayRef<ExprRef> atoms, Type elementType, Compute compute) {
  auto tensorType = RankedTensorType::get(shapeOf(atoms), elementType);
  auto generate = tensor::GenerateOp::create(builder, tensorType, ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(atoms.size(), builder.getIndexType());
  SmallVector<Location> locations(atoms.size(), builder.getLoc());
  Block *body = builder.createBlock(&generate.getBody(), {}, types, locations);
  Values values;
  for (auto [atom, argument] : llvm::zip_equal(atoms, body->getArguments()))
    values[atom] = argument;
  Value element = toType(builder, compute(values), elementType);
  tensor::YieldOp::create(builder, element);
  return {generate, Atoms(atoms)};
}

Value Writer::at(const Flat &flat, const Values &values) {
  auto indices = llvm::map_to_vector(flat.atoms, [&](ExprRef atom) { return values.lookup(atom); });
  return tensor::ExtractOp::create(builder, flat.tensor, indices);
}

Flat Writer::readOperand(const Operand &operand, ArrayRef<ExprRef> atoms) {
  ExprRef element = expressions.element(operand.tensor, operand.indices);
  return tabulate(atoms, [&](const Values &values) {
    return toType(builder, RegionBuilder(builder, expressions, values).build(element), type);
  });
}

Value Writer::filled(ArrayRef<ExprRef> atoms, double value) {
  Value empty = tensor::EmptyOp::create(builder, shapeOf(atoms), type);
  return linalg::FillOp::create(builder, constant(value), empty).getResult(0);
}

/// The map from loops over `loops` to the dimensions of `atoms`.
static AffineMap mapOf(ArrayRef<ExprRef> loops, ArrayRef<ExprRef> atoms, MLIRContext *context) {
  auto results = llvm::map_to_vector(
      atoms, [&](ExprRef atom) { return getAffineDimExpr(llvm::find(loops, atom) - loops.begin(), context); });
  return AffineMap::get(loops.size(), 0, results, context);
}

static SmallVector<utils::IteratorType> iteratorsOf(ArrayRef<ExprRef> loops, ArrayRef<ExprRef> kept) {
  return llvm::map_to_vector(loops, [&](ExprRef loop) {
    return llvm::is_contained(kept, loop) ? utils::IteratorType::parallel : utils::IteratorType::reduction;
  });
}

Flat Writer::contract(const Flat &a, const Flat &b, ArrayRef<ExprRef> kept) {
  Atoms loops(kept);
  for (ExprRef atom : gather({a.atoms, b.atoms}))
    if (!llvm::is_contained(loops, atom))
      loops.push_back(atom);
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {mapOf(loops, a.atoms, context), mapOf(loops, b.atoms, context),
                                 mapOf(loops, kept, context)};
  Value init = filled(kept, 0);
  auto op = linalg::GenericOp::create(builder, init.getType(), ValueRange{a.tensor, b.tensor}, init, maps,
                                      iteratorsOf(loops, kept), [](OpBuilder &body, Location loc, ValueRange values) {
                                        Value product = arith::MulFOp::create(body, loc, values[0], values[1]);
                                        Value sum = arith::AddFOp::create(body, loc, values[2], product);
                                        linalg::YieldOp::create(body, loc, sum);
                                      });
  return {op.getResult(0), Atoms(kept)};
}

template <typename OpTy> Flat Writer::reduceKeys(const Flat &of, double init) {
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {mapOf(of.atoms, of.atoms, context), mapOf(of.atoms, rows, context)};
  Value start = filled(rows, init);
  auto op = linalg::GenericOp::create(builder, start.getType(), of.tensor, start, maps, iteratorsOf(of.atoms, rows),
                                      [](OpBuilder &body, Location loc, ValueRange values) {
                                        Value next = OpTy::create(body, loc, values[1], values[0]);
                                        linalg::YieldOp::create(body, loc, next);
                                      });
  return {op.getResult(0), rows};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value Writer::buildScale() {
  Value scale = constant(match.scale.constant);
  RegionBuilder scalars(builder, expressions);
  for (auto [factor, isDivisor] : match.scale.factors) {
    Value value = toType(builder, scalars.build(factor), type);
    scale = isDivisor ? arith::DivFOp::create(builder, scale, value).getResult()
                      : arith::MulFOp::create(builder, scale, value).getResult();
  }
  return scale;
}

Flat Writer::writeScores() {
  const Roles &roles = match.roles;
  ArrayRef<ExprRef> kvHead = ArrayRef<ExprRef>(roles.head).take_front(roles.numKvHead);
  Flat query = readOperand(match.query, gather({rows, roles.headDim}));
  Flat key = readOperand(match.key, gather({roles.batch, kvHead, roles.key, roles.headDim}));
  Flat dot = contract(query, key, gather({rows, keys}));
  Value scale = buildScale();
  return tabulate(dot.atoms, [&](const Values &values) -> Value {
    Values known = values;
    known[match.argument] = arith::MulFOp::create(builder, scale, at(dot, values));
    RegionBuilder expression(builder, expressions, known);
    Value score = expression.build(match.score);
    if (!match.keep)
      return score;
    return arith::SelectOp::create(builder, expression.build(match.keep), score, constant(-INFINITY));
  });
}

Flat Writer::writeSinks() {
  return tabulate(rows, [&](const Values &values) {
    return toType(builder, RegionBuilder(builder, expressions, values).build(match.sink), type);
  });
}

Flat Writer::writeWeights(const Flat &scores) {
  Flat maximum = reduceKeys<arith::MaximumFOp>(scores, -INFINITY), sinks;
  if (match.sink) {
    sinks = writeSinks();
    maximum = tabulate(rows, [&](const Values &values) -> Value {
      return arith::MaximumFOp::create(builder, at(maximum, values), at(sinks, values));
    });
  }
  auto exponential = [&](const Flat &of, const Values &values) -> Value {
    return math::ExpOp::create(builder, arith::SubFOp::create(builder, at(of, values), at(maximum, values)));
  };
  Flat exponentials = tabulate(scores.atoms, [&](const Values &values) { return exponential(scores, values); });
  Flat sum = reduceKeys<arith::AddFOp>(exponentials, 0);
  if (match.sink)
    sum = tabulate(rows, [&](const Values &values) -> Value {
      return arith::AddFOp::create(builder, at(sum, values), exponential(sinks, values));
    });
  return tabulate(scores.atoms, [&](const Values &values) -> Value {
    return arith::DivFOp::create(builder, at(exponentials, values), at(sum, values));
  });
}

/// The same elements with one dimension for each axis; `indices` are those of the new tensor.
Value Writer::pack(const Flat &flat, ArrayRef<Axis> axes, Type elementType, SmallVector<ExprRef> &indices) {
  Atoms whole;
  SmallVector<int64_t> shape;
  llvm::DenseMap<ExprRef, ExprRef> parts;
  for (const Axis &axis : axes) {
    int64_t size = 1;
    ExprRef index = expressions.integer(0);
    for (ExprRef atom : axis.atoms) {
      size *= atom->extent.size;
      index = expressions.add(atom, index, atom->extent.size);
    }
    indices.push_back(index);
    shape.push_back(size);
    whole.push_back(expressions.dim({size, Value(), 0, 1}));
    ExprRef rest = whole.back();
    for (ExprRef atom : llvm::reverse(axis.atoms)) {
      parts[atom] = expressions.remainder(rest, atom->extent.size);
      rest = expressions.quotient(rest, atom->extent.size);
    }
  }
  auto generate = tensor::GenerateOp::create(builder, RankedTensorType::get(shape, elementType), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(shape.size(), builder.getIndexType());
  SmallVector<Location> locations(shape.size(), builder.getLoc());
  Block *body = builder.createBlock(&generate.getBody(), {}, types, locations);
  Values values;
  for (auto [dim, argument] : llvm::zip_equal(whole, body->getArguments()))
    if (dim->is(Expr::Kind::Dim))
      values[dim] = argument;
  RegionBuilder places(builder, expressions, values);
  for (auto [atom, part] : parts)
    values[atom] = places.build(part, builder.getIndexType());
  tensor::YieldOp::create(builder, toType(builder, at(flat, values), elementType));
  return generate;
}

WrittenOut Writer::write(Type outType, const std::optional<SmallVector<Axis>> &weightAxes) {
  const Roles &roles = match.roles;
  rows = gather({roles.batch, roles.head, roles.query});
  keys = gather({roles.key});
  Flat weights = writeWeights(writeScores());
  WrittenOut written;
  if (weightAxes) {
    written.weights.emplace();
    written.weights->tensor = pack(weights, *weightAxes, type, written.weights->indices);
  }
  ArrayRef<ExprRef> kvHead = ArrayRef<ExprRef>(roles.head).take_front(roles.numKvHead);
  Flat value = readOperand(match.value, gather({roles.batch, kvHead, roles.key, roles.valueDim}));
  Flat out = contract(weights, value, gather({rows, roles.valueDim}));
  SmallVector<ExprRef> indices;
  written.out = pack(out, match.outAxes, outType, indices);
  return written;
}

WrittenOut fusion::writeOut(ImplicitLocOpBuilder &builder, Expressions &expressions, const AttentionMatch &match,
                            Type outType, const std::optional<SmallVector<Axis>> &weightAxes) {
  return Writer(builder, expressions, match).write(outType, weightAxes);
}
