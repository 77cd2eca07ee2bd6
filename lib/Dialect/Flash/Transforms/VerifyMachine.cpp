//===- VerifyMachine.cpp - check the machine level ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Dialect/Flash/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn::flash {
#define GEN_PASS_DEF_VERIFYMACHINEPASS
#include "Flash/FlashPasses.h.inc"
} // namespace attn::flash

using namespace mlir;

namespace {

struct VerifyMachine : attn::flash::impl::VerifyMachinePassBase<VerifyMachine> {
  void runOnOperation() override {
    bool isValid = true;
    getOperation()->walk([&](Operation *op) {
      if (isa<ModuleOp, gpu::GPUModuleOp>(op) || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        return;
      if (isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()) && op->getParentOfType<gpu::GPUModuleOp>())
        return;
      op->emitError("the machine level expects ops of the llvm dialect alone, but got ") << op->getName();
      isValid = false;
    });
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
