//===- attn-run.cpp - compile, run, check and time a function ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "Driver.h"

int main(int argc, char **argv) {
  attn::tool::startTool("attn-run");
  auto settings = attn::tool::parseCommandLine(argc, argv);
  return attn::tool::exitCode(settings ? attn::tool::runTool(*settings) : attn::Status(settings.error()));
}
