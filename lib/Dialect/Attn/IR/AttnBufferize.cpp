//===- AttnBufferize.cpp - bufferization of the attn ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph level is bufferized whole, before tiling (Rationale.md). Regions move to the memref form as they are: the
// tensor.extract in them become memref.load by their own models.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {

template <typename OpTy>
struct DestinationModel : DstBufferizableOpInterfaceExternalModel<DestinationModel<OpTy>, OpTy> {
  /// Inits are overwritten whole: what they held is never read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        operands.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    OperationState fresh(op->getLoc(), op->getName(), operands, TypeRange{}, op->getAttrs());
    fresh.propertiesAttr = op->getPropertiesAsAttribute();
    for (unsigned k = 0; k < op->getNumRegions(); ++k)
      fresh.addRegion();
    Operation *bufferized = rewriter.create(fresh);
    for (auto [from, to] : llvm::zip(op->getRegions(), bufferized->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.begin());
    SmallVector<Value> buffers;
    for (OpOperand &init : cast<DestinationStyleOpInterface>(bufferized).getDpsInitsMutable())
      buffers.push_back(init.get());
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

} // namespace

void attn::registerBufferizableOpInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    AttentionOp::attachInterface<DestinationModel<AttentionOp>>(*context);
    MatmulOp::attachInterface<DestinationModel<MatmulOp>>(*context);
    MaskOp::attachInterface<DestinationModel<MaskOp>>(*context);
    SoftmaxOp::attachInterface<DestinationModel<SoftmaxOp>>(*context);
    ClassifyTilesOp::attachInterface<DestinationModel<ClassifyTilesOp>>(*context);
  });
}
