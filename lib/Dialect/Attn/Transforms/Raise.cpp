//===- Raise.cpp - exported graphs in linalg, tensor, arith, math and attn ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk finds what needs work, so that a module without foreign operations costs that walk alone. Whole attentions
// and scans of other dialects are replaced by name first; tosa goes through upstream's conversions.
//
//===----------------------------------------------------------------------===//

#include "RaiseForeign.h"

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSwitch.h"

namespace attn {
#define GEN_PASS_DEF_RAISEPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static LogicalResult raiseTorch(Operation *op) {
  raiseTorchAttention(op);
  return success();
}

using RaiseFunction = LogicalResult (*)(Operation *);

/// What replaces an op; null for those that nothing replaces.
static RaiseFunction findRaise(Operation *op) {
  if (isa<affine::AffineDelinearizeIndexOp, affine::AffineLinearizeIndexOp>(op))
    return raiseGridIndex;
  if (op->isRegistered())
    return isa<index::IndexDialect>(op->getDialect()) ? raiseIndex : isa<tensor::GatherOp>(op) ? raiseGather : nullptr;
  return llvm::StringSwitch<RaiseFunction>(op->getName().getStringRef())
      .Case("tm_tensor.attention", raiseTmTensorAttention)
      .Case("iree_linalg_ext.attention", raiseIreeAttention)
      .Case("torch.aten.scaled_dot_product_attention", raiseTorch)
      .Cases({"tm_tensor.scan", "iree_linalg_ext.scan"}, raiseScan)
      .Default(nullptr);
}

/// linalg.softmax has no lowering of its own; attn.softmax is the same, but for rows of -inf, which it makes 0.
static LogicalResult raiseSoftmax(Operation *op) {
  auto softmax = cast<linalg::SoftmaxOp>(op);
  OpBuilder builder(op);
  auto raised = SoftmaxOp::create(builder, op->getLoc(), op->getResultTypes(), softmax.getInput(), softmax.getOutput(),
                                  builder.getI64IntegerAttr(softmax.getDimension()));
  op->replaceAllUsesWith(raised);
  op->erase();
  return success();
}

/// tosa.const_shape has done its work once the ops that read it are gone.
static void eraseDeadShapes(ModuleOp module) {
  module.walk([](tosa::ConstShapeOp op) {
    if (op->use_empty())
      op->erase();
  });
}

namespace {

struct Raise : attn::impl::RaisePassBase<Raise> {
  LogicalResult raiseTosa() {
    getOperation().walk([](tosa::ScatterOp op) { raiseTosaScatter(op); });
    OpPassManager pm(ModuleOp::getOperationName());
    buildTosaPipeline(pm);
    if (failed(runPipeline(pm, getOperation())))
      return failure();
    eraseDeadShapes(getOperation());
    return success();
  }

  void runOnOperation() override {
    SmallVector<std::pair<Operation *, RaiseFunction>> foreign;
    bool hasTosa = false;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::SoftmaxOp>(op) && op->getNumResults() == 1)
        foreign.push_back({op, raiseSoftmax});
      else if (auto loops = dyn_cast<linalg::LinalgOp>(op))
        initializeReductions(loops);
      else if (isa_and_nonnull<tosa::TosaDialect>(op->getDialect()))
        hasTosa = true;
      else if (RaiseFunction raise = findRaise(op))
        foreign.push_back({op, raise});
    });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        rankResults(function);
    bool isRaised = true;
    for (auto [op, raise] : foreign)
      isRaised &= succeeded(raise(op));
    // Nothing has verified the foreign ops, whose dialects are not known: what is wrong with them is wrong with what
    // they become, and is the input's fault.
    isRaised = isRaised && (foreign.empty() || succeeded(verify(getOperation())));
    if (!isRaised || (hasTosa && failed(raiseTosa())))
      signalPassFailure();
  }
};

} // namespace
