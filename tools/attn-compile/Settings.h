//===- Settings.h - the command line of attn-compile --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNCOMPILE_SETTINGS_H
#define ATTN_TOOLS_ATTNCOMPILE_SETTINGS_H

#include "attn/API/Result.h"
#include "attn/CodeGen/Assembler.h"
#include <string>
#include <vector>

namespace attn::tool {

/// What is written.
enum class Emit { Llvm, Ptx, Cubin, Fat };

/// Everything that the command line says. `attn-compile --help` is its documentation.
struct Settings {
  std::string file;
  std::vector<std::string> chips;
  /// The only function that is compiled; empty: all public ones.
  std::string function;
  Emit emit = Emit::Ptx;
  /// "-": stdout.
  std::string output = "-";
  AssemblerOptions assembler;
  bool allowTf32 = false;
  bool resources = false;
};

/// Reads the command line; handles --help and --version by itself (both end the process), and unknown options too.
Result<Settings> parseCommandLine(int argc, char **argv);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNCOMPILE_SETTINGS_H
