//===- attn-bench.cpp - measure attention workloads --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "Driver.h"

int main(int argc, char **argv) {
  attn::tool::startTool("attn-bench");
  auto settings = attn::tool::parseBenchCommandLine(argc, argv);
  return attn::tool::exitCode(settings ? attn::tool::runBenchTool(*settings) : attn::Status(settings.error()));
}
