//===- attn-compile.cpp - kernels of a GPU in files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "Driver.h"

int main(int argc, char **argv) {
  attn::tool::startTool("attn-compile");
  auto settings = attn::tool::parseCommandLine(argc, argv);
  return attn::tool::exitCode(settings ? attn::tool::runTool(*settings) : attn::Status(settings.error()));
}
