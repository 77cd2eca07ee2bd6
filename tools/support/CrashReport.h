//===- CrashReport.h - a crash says what the tool was doing -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing that a user writes should crash a tool. Where it does, within MLIR, LLVM or our own code, one line says so:
//
//   attn-run: internal error in MLIR while parsing x.mlir: segmentation fault; please report it with the input
//
// llvm::CrashRecoveryContext would return to the tool, which has nothing left to do, and cannot see that the stack is
// used up, since its handler runs on that stack.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_SUPPORT_CRASHREPORT_H
#define ATTN_TOOLS_SUPPORT_CRASHREPORT_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"

namespace attn::tool {

/// What a tool that found an error of its own returns from main; EX_SOFTWARE of sysexits.h.
constexpr int internalErrorCode = 70;

/// From now on a crash (a fault, an abort, a trap, a fatal error of LLVM, a stack that is used up) ends the process
/// with that line on stderr and exit code 70, and a lack of memory with an error and exit code 1; either way temporary
/// files are removed. To be called first in main, on its thread.
void reportCrashes(llvm::StringRef program);

/// Reports, from now on, also where the stack of the calling thread is used up; without it such a thread ends the
/// process in silence. For threads that a library starts; calls after the first cost nothing.
void coverThread();

/// What the tool is doing while this lives, as in "parsing x.mlir". To be used on one thread; the innermost counts.
class Activity {
public:
  explicit Activity(const llvm::Twine &text);
  ~Activity();
  Activity(const Activity &) = delete;
  Activity &operator=(const Activity &) = delete;

  llvm::StringRef str() const { return text; }

private:
  llvm::SmallString<128> text;
  Activity *outer;
};

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_CRASHREPORT_H
