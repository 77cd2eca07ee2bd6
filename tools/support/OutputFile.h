//===- OutputFile.h - what the tools write ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_OUTPUTFILE_H
#define ATTN_TOOLS_SUPPORT_OUTPUTFILE_H

#include "attn/API/Result.h"
#include "llvm/ADT/StringRef.h"

namespace attn::tool {

/// Writes a file. It appears whole or not at all: a temporary file beside it, gone after an interrupt, takes its name
/// when all bytes are written, with the permissions of a file that it replaces. Symbolic links stay, and so do devices,
/// pipes and what stdout and stderr are: the bytes go through them, in the order in which they come.
Status writeFile(const std::string &path, llvm::StringRef bytes);

/// Finds out, in front of work that takes long, whether writeFile could write a file. Changes none and makes none.
Status checkWritable(const std::string &path);

/// An error where stdout did not take all that was printed to it with stdio.
Status flushStdout();

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_OUTPUTFILE_H
