//===- FlashToLLVM.cpp - the target level to the LLVM dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One full conversion with upstream's patterns, so that no cast between levels is left over, and then the entries.
//
//===----------------------------------------------------------------------===//

#include "../ByteBooleans/ByteBooleans.h"
#include "Patterns.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Canonicalization/PositiveList.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTFLASHTOLLVMPASS
#include "Conversion/ConversionPasses.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::machine;

static void populateConversions(const LLVMTypeConverter &converter, RewritePatternSet &patterns,
                                SymbolTableCollection &symbols, bool onDevice) {
  machine::populateRuntimeCallPatterns(converter, patterns);
  if (onDevice)
    machine::populateDeviceCallPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns, &symbols);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  // LLVM's own math ops first; libm for the functions that LLVM has none for (erf, cbrt, ...).
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false, /*benefit=*/2);
  populateMathToLibmConversionPatterns(patterns);
}

/// Keeps of each location the place in the file: upstream's debug scopes crash on call sites of globals.
static void simplifyLocations(ModuleOp module) {
  module.walk([](Operation *op) {
    auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
    op->setLoc(place ? Location(place) : UnknownLoc::get(op->getContext()));
  });
}

/// math.expm1 becomes a call of libm's: LLVM's dialect would get exp(x) - 1, which has no digits left next to 0.
static LogicalResult callExpM1(ModuleOp module) {
  auto isFound = [](math::ExpM1Op) { return WalkResult::interrupt(); };
  if (!module.walk(isFound).wasInterrupted())
    return success();
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::ExpM1Op>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
  return applyPartialConversion(module, target, std::move(patterns), attn::withoutFolding());
}

namespace {

struct ConvertFlashToLLVMPass : attn::impl::ConvertFlashToLLVMPassBase<ConvertFlashToLLVMPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (checkBounds) {
      module->setAttr(attn::kCheckBoundsAttrName, UnitAttr::get(&getContext()));
      simplifyLocations(module);
    }
    const auto &layout = getAnalysis<DataLayoutAnalysis>();
    LowerToLLVMOptions options(&getContext(), layout.getAtOrAbove(module));
    // The runtime's allocator, which counts and which ends the call where memory is short.
    options.allocLowering = LowerToLLVMOptions::AllocLowering::AlignedAlloc;
    options.useGenericFunctions = true;
    LLVMTypeConverter converter(&getContext(), options, &layout);
    SmallVector<machine::EntryFunction> entries = machine::collectEntryFunctions(module);

    if (failed(callExpM1(module)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    SymbolTableCollection symbols;
    populateConversions(converter, patterns, symbols, onDevice);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp, gpu::GPUModuleOp>();
    // Device code has a conversion of its own (convert-device-to-llvm).
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns), attn::withoutFolding())))
      return signalPassFailure();
    if (failed(machine::createEntries(module, entries, converter, checkBounds)) ||
        failed(attn::storeBooleansAsBytes(module)))
      signalPassFailure();
  }
};

} // namespace
