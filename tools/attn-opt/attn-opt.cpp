//===- attn-opt.cpp - run passes and pipelines on .mlir files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "Driver.h"

#include "attn/InitAllDialects.h"
#include "attn/InitAllPasses.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

int main(int argc, char **argv) {
  attn::tool::startTool("attn-opt");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllDialects(registry);
  mlir::registerAllPasses();
  attn::registerAllPasses();
  attn::registerFusionFlags();
  attn::registerVerifyPassesFlag();
  return attn::tool::runOpt(argc, argv, registry);
}
