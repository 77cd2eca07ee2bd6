//===- InputFile.h - the text of a file ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_SUPPORT_INPUTFILE_H
#define ATTN_SUPPORT_INPUTFILE_H

#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attn {

/// The text of a file, or of what has no size, a pipe or a device, up to 256 MiB of it: some of those never end. name:
/// for messages; empty: the path.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readInputFile(llvm::StringRef path, llvm::StringRef name = "");

} // namespace attn

#endif // ATTN_SUPPORT_INPUTFILE_H
