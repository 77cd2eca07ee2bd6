//===- Elements.cpp - reading a graph by the elements of its tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::fusion;

ExprRef Elements::read(Value tensor, ArrayRef<ExprRef> indices) {
  ExprRef leaf = expressions.element(tensor, indices);
  if (ExprRef known = deep.lookup(leaf))
    return known;
  ExprRef result = readThrough(tensor, indices, [&](Value t, ArrayRef<ExprRef> i) { return read(t, i); });
  if (!result)
    result = leaf;
  deep[leaf] = result;
  tensors[result].push_back({tensor, SmallVector<ExprRef>(indices)});
  return result;
}

ExprRef Elements::readStep(Value tensor, ArrayRef<ExprRef> indices) {
  return readThrough(tensor, indices,
                     [&](Value t, ArrayRef<ExprRef> i) -> ExprRef { return expressions.element(t, i); });
}

ArrayRef<TensorElement> Elements::findTensors(ExprRef e) const {
  auto found = tensors.find(e);
  return found == tensors.end() ? ArrayRef<TensorElement>() : ArrayRef<TensorElement>(found->second);
}

/// An integer op on scalars, which is read like one in a body.
static bool isIntegerOp(Operation *op) {
  return op && op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         isa<arith::ArithDialect>(op->getDialect()) && isa<IndexType, IntegerType>(op->getResult(0).getType());
}

ExprRef Elements::readScalar(Value scalar) {
  if (ExprRef known = scalars.lookup(scalar))
    return known;
  TypedAttr constant;
  Operation *op = scalar.getDefiningOp();
  ExprRef result = expressions.outside(scalar);
  if (matchPattern(scalar, m_Constant(&constant))) {
    result = expressions.constant(constant);
  } else if (auto extract = dyn_cast_if_present<tensor::ExtractOp>(op)) {
    SmallVector<ExprRef> indices;
    for (Value index : extract.getIndices())
      indices.push_back(readScalar(index));
    result = read(extract.getTensor(), indices);
  } else if (auto dim = dyn_cast_if_present<tensor::DimOp>(op); dim && isSizeOfDimension(dim)) {
    result = readSize(dim.getSource(), *dim.getConstantIndex());
  } else if (isIntegerOp(op)) {
    SmallVector<ExprRef> operands;
    for (Value operand : op->getOperands())
      operands.push_back(readScalar(operand));
    result = expressions.apply(op, operands);
  }
  scalars[scalar] = result;
  return result;
}

ExprRef Elements::evaluate(AffineExpr expr, ArrayRef<ExprRef> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return expressions.integer(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return nullptr;
  ExprRef left = evaluate(binary.getLHS(), dims), right = evaluate(binary.getRHS(), dims);
  if (!left || !right)
    return nullptr;
  if (expr.getKind() == AffineExprKind::Add)
    return expressions.add(left, right);
  std::optional<int64_t> factor = right->getInteger();
  if (!factor)
    return nullptr;
  if (expr.getKind() == AffineExprKind::Mul)
    return expressions.scaled(left, *factor);
  if (*factor < 1 || expressions.rangeOf(left).low < 0)
    return nullptr;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return expressions.quotient(left, *factor);
  return expr.getKind() == AffineExprKind::Mod ? expressions.remainder(left, *factor) : nullptr;
}

//===----------------------------------------------------------------------===//
// Bodies of linalg ops
//===----------------------------------------------------------------------===//

namespace {

/// Reads the scalars of one block, for given indices of its loops.
class BodyReader {
public:
  BodyReader(Elements &elements, Block &block, llvm::function_ref<ExprRef(BlockArgument)> readArgument,
             ArrayRef<ExprRef> loops, llvm::function_ref<ExprRef(Value, ArrayRef<ExprRef>)> reader)
      : elements(elements), block(block), readArgument(readArgument), loops(loops), reader(reader) {}

  /// Null where the scalar is no pure function of elements.
  ExprRef read(Value scalar) {
    if (ExprRef known = done.lookup(scalar))
      return known;
    ExprRef result = readNew(scalar);
    done[scalar] = result;
    return result;
  }

  /// True if nothing in the block has effects, but assertions that always hold.
  bool isPure() {
    return llvm::all_of(block.without_terminator(), [&](Operation &op) {
      auto assertion = dyn_cast<cf::AssertOp>(op);
      if (!assertion)
        return isMemoryEffectFree(&op);
      ExprRef condition = read(assertion.getArg());
      return condition && condition->getBool() == true;
    });
  }

private:
  ExprRef readNew(Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar))
      return argument.getOwner() == &block ? readArgument(argument) : elements.readScalar(scalar);
    Operation *op = scalar.getDefiningOp();
    if (op->getBlock() != &block || matchPattern(op, m_Constant()))
      return elements.readScalar(scalar);
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return loops[index.getDim()];
    SmallVector<ExprRef> operands;
    for (Value operand : op->getOperands().drop_front(isa<tensor::ExtractOp>(op) ? 1 : 0)) {
      operands.push_back(read(operand));
      if (!operands.back())
        return nullptr;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return reader(extract.getTensor(), operands);
    return isMemoryEffectFree(op) ? elements.apply(op, operands) : nullptr;
  }

  Elements &elements;
  Block &block;
  llvm::function_ref<ExprRef(BlockArgument)> readArgument;
  ArrayRef<ExprRef> loops;
  llvm::function_ref<ExprRef(Value, ArrayRef<ExprRef>)> reader;
  llvm::DenseMap<Value, ExprRef> done;
};

} // namespace

/// The operand's element for given indices of the loops; null where the map is none that is understood.
static ExprRef readOperand(Elements &elements, linalg::LinalgOp op, OpOperand &operand, ArrayRef<ExprRef> loops,
                           llvm::function_ref<ExprRef(Value, ArrayRef<ExprRef>)> reader) {
  SmallVector<ExprRef> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    indices.push_back(elements.evaluate(expr, loops));
    if (!indices.back())
      return nullptr;
  }
  if (!isa<ShapedType>(operand.get().getType()))
    return elements.readScalar(operand.get());
  return reader(operand.get(), indices);
}

/// The index of each loop that makes the output's index the given one. Null for loops that the output does not name.
static std::optional<SmallVector<ExprRef>> invert(AffineMap map, ArrayRef<ExprRef> indices) {
  SmallVector<ExprRef> loops(map.getNumDims(), nullptr);
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices)) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || loops[dim.getPosition()])
      return std::nullopt;
    loops[dim.getPosition()] = index;
  }
  return loops;
}

ExprRef Elements::readLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<ExprRef> indices, Reader reader) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || !op.getBlock())
    return nullptr;
  OpOperand *out = op.getDpsInitOperand(result);
  auto loops = invert(op.getMatchingIndexingMap(out), indices);
  if (!loops)
    return nullptr;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (auto [loop, extent] : llvm::zip_equal(*loops, extents)) {
    if (!loop && extent != 1)
      return nullptr;
    loop = loop ? loop : expressions.integer(0);
  }
  auto readArgument = [&](BlockArgument argument) {
    return readOperand(*this, op, op->getOpOperand(argument.getArgNumber()), *loops, reader);
  };
  BodyReader body(*this, *op.getBlock(), readArgument, *loops, reader);
  return body.isPure() ? body.read(op.getBlock()->getTerminator()->getOperand(result)) : nullptr;
}

ExprRef Elements::readMask(MaskOp op, ArrayRef<ExprRef> indices, Reader reader) {
  ExprRef score = reader(op.getInput(), indices);
  if (op.getMaskRegion().empty() || op.getMasks() || !score)
    return op.getMasks() ? nullptr : score;
  Block &block = op.getMaskRegion().front();
  auto readArgument = [&](BlockArgument argument) { return indices[argument.getArgNumber()]; };
  BodyReader body(*this, block, readArgument, {}, reader);
  ExprRef keep = body.isPure() ? body.read(block.getTerminator()->getOperand(0)) : nullptr;
  if (!keep)
    return nullptr;
  auto type = cast<FloatType>(score->type);
  auto dropped = FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  return expressions.select(keep, score, expressions.constant(dropped));
}

SmallVector<ExprRef> Elements::makeLoops(linalg::LinalgOp op) {
  SmallVector<ExprRef> loops;
  for (auto [k, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    Extent extent{size, Value(), 0};
    SmallVector<std::pair<Value, unsigned>> places;
    if (!extent.isStatic()) {
      op.mapIterationSpaceDimToAllOperandDims(k, places);
      extent.tensor = places.front().first;
      extent.position = places.front().second;
    }
    loops.push_back(expressions.dim(extent));
  }
  return loops;
}

std::optional<SmallVector<ExprRef>> Elements::makeResultIndices(Operation *op, unsigned result) {
  SmallVector<ExprRef> indices;
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    if (!matmul.getResult())
      return std::nullopt;
    auto type = cast<RankedTensorType>(matmul.getOut().getType());
    for (auto [k, size] : llvm::enumerate(type.getShape()))
      indices.push_back(expressions.dim({size, matmul.getOut(), int64_t(k)}));
    return indices;
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1) {
    if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType())) {
      for (auto [k, size] : llvm::enumerate(type.getShape()))
        indices.push_back(expressions.dim({size, op->getResult(0), int64_t(k)}));
      return indices;
    }
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() || result >= linalgOp.getNumDpsInits())
    return std::nullopt;
  SmallVector<ExprRef> loops = makeLoops(linalgOp);
  for (AffineExpr expr : linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(result)).getResults()) {
    indices.push_back(evaluate(expr, loops));
    if (!indices.back())
      return std::nullopt;
  }
  return indices;
}

/// The comparison form of a maximum: select(x > acc, x, acc). The name of the op that it counts as; empty for none.
static StringRef matchSelectedMaximum(ExprRef e, ExprRef accumulator, ExprRef &other) {
  if (!e->isApply<arith::SelectOp>() || !e->operands[0]->isApply<arith::CmpFOp>() || e->operands[2] != accumulator)
    return {};
  ExprRef comparison = e->operands[0];
  using P = arith::CmpFPredicate;
  P predicate = cast<arith::CmpFPredicateAttr>(cast<DictionaryAttr>(comparison->attribute).get("predicate")).getValue();
  if (comparison->operands[0] != e->operands[1] || comparison->operands[1] != accumulator)
    return {};
  other = e->operands[1];
  if (predicate == P::UGT || predicate == P::UGE)
    return arith::MaxNumFOp::getOperationName();
  return predicate == P::OGT || predicate == P::OGE ? arith::MaximumFOp::getOperationName() : StringRef();
}

std::optional<Reduction> Elements::openMatmul(MatmulOp op, ArrayRef<ExprRef> indices, Reader reader) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  int64_t last = lhs.getRank() - 1;
  ExprRef k = expressions.dim({lhs.getDimSize(last), op.getLhs(), last});
  SmallVector<ExprRef> left(indices.drop_back()), right(indices.drop_back(2));
  left.push_back(k);
  right.append({op.getTransposeRhs() ? indices.back() : k, op.getTransposeRhs() ? k : indices.back()});
  Reduction reduction;
  reduction.op = op;
  reduction.combiner = arith::AddFOp::getOperationName();
  if (k->is(Expr::Kind::Dim))
    reduction.dims = {k};
  Type sumType =
      lhs.getElementType().isF64() ? Type(Float64Type::get(op.getContext())) : Type(Float32Type::get(op.getContext()));
  auto widen = [&](ExprRef e) {
    return e->type == sumType ? e
                              : expressions.apply(arith::ExtFOp::getOperationName(), nullptr, sumType, {e}, {e->type});
  };
  reduction.init = expressions.constant(FloatAttr::get(sumType, 0.0));
  reduction.body =
      expressions.apply(arith::MulFOp::getOperationName(), nullptr, sumType,
                        {widen(reader(op.getLhs(), left)), widen(reader(op.getRhs(), right))}, {sumType, sumType});
  return reduction;
}

std::optional<Reduction> Elements::open(ExprRef leaf, bool isDeep) {
  auto deepReader = [&](Value t, ArrayRef<ExprRef> i) { return read(t, i); };
  auto stepReader = [&](Value t, ArrayRef<ExprRef> i) -> ExprRef { return expressions.element(t, i); };
  Reader reader = isDeep ? Reader(deepReader) : Reader(stepReader);
  if (auto matmul = leaf->is(Expr::Kind::Element) ? leaf->value.getDefiningOp<MatmulOp>() : MatmulOp())
    return openMatmul(matmul, leaf->operands, reader);
  auto op = leaf->is(Expr::Kind::Element) ? leaf->value.getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || !op.getBlock())
    return std::nullopt;
  unsigned result = cast<OpResult>(leaf->value).getResultNumber();
  OpOperand *out = op.getDpsInitOperand(result);
  auto outer = invert(op.getMatchingIndexingMap(out), leaf->operands);
  if (!outer)
    return std::nullopt;
  Reduction reduction;
  reduction.op = op;
  SmallVector<ExprRef> loops = makeLoops(op);
  for (auto [k, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::parallel && ((*outer)[k] || loops[k] == expressions.integer(0)))
      loops[k] = (*outer)[k] ? (*outer)[k] : loops[k];
    else if (kind == utils::IteratorType::reduction && loops[k]->is(Expr::Kind::Dim))
      reduction.dims.push_back(loops[k]);
    else if (kind == utils::IteratorType::parallel)
      return std::nullopt;
  }
  BlockArgument accumulated = op.getMatchingBlockArgument(out);
  ExprRef accumulator = expressions.outside(accumulated);
  auto readArgument = [&](BlockArgument argument) {
    return argument == accumulated ? accumulator
                                   : readOperand(*this, op, op->getOpOperand(argument.getArgNumber()), loops, reader);
  };
  BodyReader body(*this, *op.getBlock(), readArgument, loops, reader);
  ExprRef combined = body.isPure() ? body.read(op.getBlock()->getTerminator()->getOperand(result)) : nullptr;
  if (!combined || !combined->is(Expr::Kind::Apply))
    return std::nullopt;
  if (StringRef maximum = matchSelectedMaximum(combined, accumulator, reduction.body); !maximum.empty()) {
    reduction.combiner = maximum;
  } else if (combined->operands.size() == 2 && llvm::is_contained(combined->operands, accumulator)) {
    reduction.combiner = combined->opName.getValue();
    reduction.body = combined->operands[combined->operands[0] == accumulator ? 1 : 0];
  }
  if (!reduction.body || contains(reduction.body, accumulator))
    return std::nullopt;
  reduction.init = read(out->get(), leaf->operands);
  return reduction;
}
