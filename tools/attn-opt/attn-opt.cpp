//===- attn-opt.cpp - run passes and pipelines on .mlir files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/InitAllDialects.h"
#include "attn/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllDialects(registry);
  mlir::registerAllPasses();
  attn::registerAllPasses();
  attn::registerFusionFlags();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "attention compiler driver\n", registry));
}
