//===- attn-opt.cpp - run passes and pipelines on .mlir files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<attn::AttnDialect, attn::flash::FlashDialect>();
  attn::registerBufferizableOpInterfaceModels(registry);
  mlir::registerAllPasses();
  attn::registerConvertAttnToFlashPass();
  attn::registerConvertFlashToCpuPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "attention compiler driver\n", registry));
}
