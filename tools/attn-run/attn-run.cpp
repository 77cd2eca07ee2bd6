//===- attn-run.cpp - compile, run, check and time a function ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include <cstdio>

int main(int argc, char **argv) {
  auto settings = attn::tool::parseCommandLine(argc, argv);
  attn::Status status = settings ? attn::tool::runTool(*settings) : attn::Status(settings.error());
  std::fflush(stdout);
  if (status)
    return 0;
  // "error" stands after the location, as compilers have it.
  std::string place = status.error().location.str();
  std::fprintf(stderr, "%s%serror: %s\n", place.c_str(), place.empty() ? "" : ": ", status.error().message.c_str());
  return 1;
}
