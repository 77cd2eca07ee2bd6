//===- invalid-ir.cpp - a pass with a fault, for attn-opt --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-opt --load-pass-plugin=<this> --pass-pipeline="builtin.module(func.func(attn-test-invalid-ir))" leaves each
// function without its terminator.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

struct InvalidIrPass : PassWrapper<InvalidIrPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InvalidIrPass)
  StringRef getArgument() const override { return "attn-test-invalid-ir"; }
  StringRef getDescription() const override { return "Leave each function without its terminator"; }
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      block.getTerminator()->erase();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AttnTestInvalidIr", "1", [] { PassRegistration<InvalidIrPass>(); }};
}
