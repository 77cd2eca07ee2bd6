//===- RaiseTosa.cpp - tosa to linalg, tensor and arith -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RaiseForeign.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

namespace {

/// Row [n, position, :] of a tensor of rank 3, as [1, 1, C].
struct Row {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Row(OpBuilder &builder, Value n, Value position, OpFoldResult channels)
      : offsets({n, position, builder.getIndexAttr(0)}),
        sizes({builder.getIndexAttr(1), builder.getIndexAttr(1), channels}), strides(3, builder.getIndexAttr(1)) {}
};

} // namespace

/// One step: `values` with row [n, indices[n, w], :] taken from row [n, w, :] of the input.
static Value scatterRow(ImplicitLocOpBuilder &builder, tosa::ScatterOp op, Value values, Value n, Value w) {
  Value position = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                              tensor::ExtractOp::create(builder, op.getIndices(), ValueRange{n, w}));
  OpFoldResult channels = tensor::getMixedSize(builder, builder.getLoc(), values, 2);
  Row from(builder, n, w, channels), to(builder, n, position, channels);
  Value row = tensor::ExtractSliceOp::create(builder, op.getInput(), from.offsets, from.sizes, from.strides);
  return tensor::InsertSliceOp::create(builder, row, values, to.offsets, to.sizes, to.strides);
}

/// scf.for over one dimension of a tensor, carrying `initial`.
static Value loopOver(ImplicitLocOpBuilder &builder, Value shaped, int64_t dimension, Value initial,
                      llvm::function_ref<Value(Value index, Value carried)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, 0), one = arith::ConstantIndexOp::create(builder, 1);
  auto loop = scf::ForOp::create(builder, zero, getDimension(builder, shaped, dimension), one, initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(builder, body(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

void attn::raiseTosaScatter(tosa::ScatterOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  // Indices repeat nowhere (tosa's rule), so any order of the steps gives the same result.
  Value result = loopOver(builder, op.getIndices(), 0, op.getValuesIn(), [&](Value n, Value outer) {
    return loopOver(builder, op.getIndices(), 1, outer,
                    [&](Value w, Value inner) { return scatterRow(builder, op, inner, n, w); });
  });
  if (result.getType() != op.getType())
    result = tensor::CastOp::create(builder, op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

void attn::buildTosaPipeline(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Two of upstream's passes fold all that folds. Of arith that makes a constant of x < x, also where a size is open.
  functions.addPass(createLowerElementwisePass());
  // Static shapes as far as they follow from others, and equal ranks: the conversions ask for both.
  functions.addPass(tosa::createTosaOptionalDecompositionsPass());
  functions.addPass(tosa::createTosaInferShapesPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  // Control flow first, then what it holds: contractions as named ops; elementwise, gather and reductions; then
  // constants, shapes and slices.
  functions.addPass(createTosaToSCFPass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToArithPass());
  functions.addPass(createTosaToTensorPass());
}
