//===- CommandLine.cpp - options of the tools --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>

using namespace attn;
namespace cl = llvm::cl;

void tool::dropLibraryOptions() {
  llvm::SmallVector<cl::Option *> dropped;
  for (const auto &entry : cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "help-list", "help-hidden", "help-list-hidden", "version"}, entry.first))
      dropped.push_back(entry.second);
  for (cl::Option *option : dropped)
    option->removeArgument();
}

int tool::exitCode(const Status &status) {
  std::fflush(stdout);
  if (status)
    return 0;
  std::string place = status.error().location.str();
  std::fprintf(stderr, "%s%serror: %s\n", place.c_str(), place.empty() ? "" : ": ", status.error().message.c_str());
  return 1;
}
