//===- Settings.h - the command line of attn-run ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNRUN_SETTINGS_H
#define ATTN_TOOLS_ATTNRUN_SETTINGS_H

#include "Data.h"

namespace attn::tool {

/// Everything that the command line says. `attn-run --help` is its documentation.
struct Settings {
  std::string file;
  std::string function;

  DataSettings data;

  std::optional<Stage> emit;
  Target target = Target::host();
  CompileOptions compile;
  int64_t threads = 0;
  bool remarks = false;

  std::string output;
  std::string referenceOutput;
  bool print = false;
  bool check = false;
  bool profile = false;
  bool bench = false;
  int64_t repeat = 15;
};

/// Reads the command line; handles --help and --version by itself (both end the process), and unknown options too.
Result<Settings> parseCommandLine(int argc, char **argv);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNRUN_SETTINGS_H
