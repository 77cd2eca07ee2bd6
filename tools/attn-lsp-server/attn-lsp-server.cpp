//===- attn-lsp-server.cpp - editor support for .mlir files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/InitAllDialects.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
