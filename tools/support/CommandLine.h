//===- CommandLine.h - options of the tools -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_COMMANDLINE_H
#define ATTN_TOOLS_SUPPORT_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"

namespace attn::tool {

/// LLVM's libraries register hundreds of options of their own, some under names that a tool uses: they leave the
/// command line, --help and --version aside. To be called before the tool makes its own options.
void dropLibraryOptions();

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_COMMANDLINE_H
