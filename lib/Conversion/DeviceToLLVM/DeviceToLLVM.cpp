//===- DeviceToLLVM.cpp - a device module to the LLVM and NVVM dialects -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One full conversion with upstream's patterns; then functions with `flash.kernel` become kernels.
//
//===----------------------------------------------------------------------===//

#include "../ByteBooleans/ByteBooleans.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTDEVICETOLLVMPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;

/// Math that a GPU has instructions for, or LLVM expands into some.
static bool hasInstructions(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundEvenOp, math::RoundOp,
             math::SqrtOp, math::TruncOp>(op);
}

static LogicalResult checkMath(Operation *module) {
  auto walked = module->walk([](Operation *op) {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) || hasInstructions(op))
      return WalkResult::advance();
    op->emitOpError("of ")
        << op->getResult(0).getType()
        << " is not supported in a kernel of a GPU target; compute it outside of the attention, as a "
           "tensor that the region reads";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

static void populateConversions(const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
}

/// The last arguments of a kernel are tensor maps, each with a flag (convert-flash-to-nvvm): a map is 128 bytes that
/// the launch hands over by value.
static LogicalResult markTensorMaps(LLVM::LLVMFuncOp function, unsigned count) {
  if (function.getNumArguments() < 2 * count)
    return function.emitOpError("expects 2 arguments for each of ")
           << count << " tensor maps, but got " << function.getNumArguments();
  Builder b(function.getContext());
  for (unsigned k = 0; k < count; ++k) {
    unsigned number = function.getNumArguments() - 2 * (count - k);
    Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
    function.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    function.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  return success();
}

/// What NVVM has to know of a kernel.
static LogicalResult markKernels(Operation *module) {
  auto walked = module->walk([](LLVM::LLVMFuncOp function) -> WalkResult {
    attn::flash::KernelAttr kernel = attn::flash::KernelAttr::of(function);
    if (!kernel)
      return WalkResult::advance();
    Builder b(function.getContext());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                      b.getDenseI32ArrayAttr({static_cast<int32_t>(kernel.getThreads()), 1, 1}));
    return markTensorMaps(function, kernel.getTensorMaps().size());
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct ConvertDeviceToLLVMPass : attn::impl::ConvertDeviceToLLVMPassBase<ConvertDeviceToLLVMPass> {
  void runOnOperation() override {
    Operation *module = getOperation();
    if (failed(checkMath(module)))
      return signalPassFailure();
    LLVMTypeConverter converter(&getContext(), LowerToLLVMOptions(&getContext()));
    RewritePatternSet patterns(&getContext());
    populateConversions(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns), attn::withoutFolding())))
      return signalPassFailure();
    if (failed(markKernels(module)) || failed(attn::storeBooleansAsBytes(module)))
      signalPassFailure();
  }
};

} // namespace
