//===- ReuseResultBuffers.cpp - results in their buffers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReuseResultBuffers.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

/// True if the use only reads: it makes no tensor that may lie in the same buffer.
static bool isRead(OpOperand &use) {
  if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner()))
    return op.isDpsInput(&use);
  return llvm::none_of(use.getOwner()->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// What the use's op makes of the tensor; null where that is not one tensor.
static Value resultOf(OpOperand &use) {
  if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner()))
    return op.isDpsInit(&use) ? op.getTiedOpResult(&use) : OpResult();
  return use.getOwner()->getNumResults() == 1 ? use.getOwner()->getResult(0) : Value();
}

/// True if the use comes in front of `end`, in its block or in a region there.
static bool isInFrontOf(OpOperand &use, Operation *end) {
  Operation *user = end->getBlock()->findAncestorOpInBlock(*use.getOwner());
  return user && user->isBeforeInBlock(end);
}

/// What else is made of `value` in the same buffer, if that is one use, and nobody reads the value itself once the
/// result is written; null if not.
static OpOperand *nextInBuffer(Value value, Operation *result) {
  OpOperand *next = nullptr;
  for (OpOperand &use : value.getUses()) {
    bool isNext = !isRead(use);
    if (isNext ? next != nullptr : !isInFrontOf(use, result))
      return nullptr;
    next = isNext ? &use : next;
  }
  return next;
}

/// True if from `user` of the empty tensor to what `result` writes each tensor is begun once, and read in front of it
/// alone.
static bool isAlone(tensor::EmptyOp empty, Operation *user, SubsetInsertionOpInterface result) {
  Value end = result.getSourceOperand().get();
  auto begin = llvm::find_if(empty->getUses(), [&](OpOperand &use) { return use.getOwner() == user; });
  Value value = resultOf(*begin);
  while (value && value != end) {
    OpOperand *next = nextInBuffer(value, result);
    value = next ? resultOf(*next) : Value();
  }
  return value && llvm::count_if(end.getUses(), [](OpOperand &use) { return !isRead(use); }) == 0;
}

static Value reuseIfAlone(RewriterBase &rewriter, SubsetInsertionOpInterface insertion, tensor::EmptyOp empty,
                          Operation *user) {
  bool isResult = isa<bufferization::MaterializeInDestinationOp>(insertion);
  if (isResult && !isAlone(empty, user, insertion))
    return {};
  return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
}

namespace {

struct ReuseResultBuffers : PassWrapper<ReuseResultBuffers, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReuseResultBuffers)

  StringRef getArgument() const override { return "attn-reuse-result-buffers"; }
  StringRef getDescription() const override { return "Compute results in their buffers"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    // Upstream takes a tensor.reshape between equal types for the same tensor, and would compute what is in front of it
    // in a buffer of other sizes.
    attn::reshapeByValues(getOperation());
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    bufferization::OneShotAnalysisState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    if (failed(bufferization::analyzeOp(getOperation(), state)) ||
        failed(bufferization::eliminateEmptyTensors(rewriter, getOperation(), state, reuseIfAlone)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> attn::createReuseResultBuffersPass() { return std::make_unique<ReuseResultBuffers>(); }
