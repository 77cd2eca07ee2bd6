//===- CommandLine.h - options of the tools -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_COMMANDLINE_H
#define ATTN_TOOLS_SUPPORT_COMMANDLINE_H

#include "attn/API/Result.h"
#include "llvm/Support/CommandLine.h"

namespace attn::tool {

/// LLVM's libraries register hundreds of options of their own, some under names that a tool uses: they leave the
/// command line, --help and --version aside. To be called before the tool makes its own options.
void dropLibraryOptions();

/// To be called first in main: see reportCrashes. What was closed of stdin, stdout and stderr stays useless, so that no
/// file that is opened takes its place and gets what is printed.
void startTool(const char *program);

/// What main returns: 0, or 1 after printing the error to stderr, as compilers have it: "file:line:column: error: ...".
/// That stdout did not take what was printed is an error, too.
int exitCode(const Status &status);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_COMMANDLINE_H
