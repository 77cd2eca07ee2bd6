//===- DeadRows.cpp - which rows keep no key ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A finite mask constant is -inf in rows that keep a key, and a score in the others. Where masks are data only the run
// can tell these apart: dead(rows) = and over keys of not keep(rows, keys). Cost: one look at the mask for each row and
// key, of each batch entry and head that it depends on; a few hundredths of the attention of one head.
//
//===----------------------------------------------------------------------===//

#include "DeadRows.h"
#include "BuildAttention.h"
#include "RegionBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

namespace {

/// The inputs of the reduction, and which elements they are.
struct Inputs {
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  SmallVector<ExprRef> elements;
};

} // namespace

/// The map from loops to indices; null where one of them is neither a loop nor a constant.
static AffineMap mapOf(ArrayRef<ExprRef> indices, ArrayRef<ExprRef> loops, MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (ExprRef index : indices) {
    auto loop = llvm::find(loops, index);
    if (loop != loops.end())
      results.push_back(getAffineDimExpr(loop - loops.begin(), context));
    else if (std::optional<int64_t> constant = index->getInteger())
      results.push_back(getAffineConstantExpr(*constant, context));
    else
      return AffineMap();
  }
  return AffineMap::get(loops.size(), 0, results, context);
}

/// What is read at plain places is an input; other tensors are read in the body, and those whose sizes are not the
/// loops'.
static Inputs findInputs(const Expressions &expressions, ExprRef keep, ArrayRef<ExprRef> loops, MLIRContext *context) {
  Inputs inputs;
  walk(keep, [&](ExprRef e) {
    bool isWhole = e->is(Expr::Kind::Element) && !expressions.isPartial(e->value);
    AffineMap map = isWhole ? mapOf(e->operands, loops, context) : AffineMap();
    if (!map)
      return;
    inputs.tensors.push_back(e->value);
    inputs.maps.push_back(map);
    inputs.elements.push_back(e);
  });
  return inputs;
}

static SmallVector<OpFoldResult> sizesOfIndices(ImplicitLocOpBuilder &builder, Elements &elements,
                                                ArrayRef<ExprRef> indices) {
  return sizesOf(builder, elements, llvm::map_to_vector(indices, [](ExprRef index) { return Axis{{index}, 0}; }));
}

Value fusion::buildDeadRows(ImplicitLocOpBuilder &builder, Elements &elements, ExprRef keep, ArrayRef<ExprRef> rows,
                            ArrayRef<ExprRef> keys) {
  MLIRContext *context = builder.getContext();
  SmallVector<ExprRef> loops(rows);
  loops.append(keys.begin(), keys.end());
  Inputs inputs = findInputs(elements.expressions, keep, loops, context);
  // Some operand must say how many keys there are.
  inputs.tensors.push_back(
      tensor::EmptyOp::create(builder, sizesOfIndices(builder, elements, keys), builder.getI1Type()));
  inputs.maps.push_back(mapOf(keys, loops, context));
  inputs.maps.push_back(mapOf(rows, loops, context));
  Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  Value empty = tensor::EmptyOp::create(builder, sizesOfIndices(builder, elements, rows), builder.getI1Type());
  Value out = linalg::FillOp::create(builder, yes, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(rows.size(), utils::IteratorType::parallel);
  kinds.append(keys.size(), utils::IteratorType::reduction);
  auto reduction =
      linalg::GenericOp::create(builder, TypeRange{out.getType()}, inputs.tensors, ValueRange{out}, inputs.maps, kinds);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (Value operand : reduction->getOperands())
    types.push_back(getElementTypeOrSelf(operand));
  Block *body = builder.createBlock(&reduction.getRegion(), reduction.getRegion().end(), types,
                                    SmallVector<Location>(types.size(), builder.getLoc()));
  llvm::DenseMap<ExprRef, Value> values;
  for (auto [k, loop] : llvm::enumerate(loops))
    values[loop] = linalg::IndexOp::create(builder, k);
  for (auto [k, element] : llvm::enumerate(inputs.elements))
    values[element] = body->getArgument(k);
  Value isDropped = RegionBuilder(builder, elements.expressions, values).build(elements.expressions.negation(keep));
  Value areAll = arith::AndIOp::create(builder, isDropped, body->getArguments().back());
  linalg::YieldOp::create(builder, areAll);
  return reduction.getResult(0);
}
