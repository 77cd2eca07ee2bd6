//===- CompileTime.h - how long a workload takes to compile --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_ATTNBENCH_COMPILETIME_H
#define ATTN_TOOLS_ATTNBENCH_COMPILETIME_H

#include "Workload.h"

namespace attn::tool {

/// Milliseconds of wall time, medians.
struct CompileTimes {
  /// Of Module::compile in a process that has compiled before; parsing not included.
  double warm = 0;
  /// Of a process that parses the workload's file, compiles its function and ends: from its start to its end.
  double cold = 0;
};

/// Compiles the workload several times here, and several times in processes of its own: `executable` with the arguments
/// of compileOnce.
Result<CompileTimes> timeCompiles(const Workload &workload, const std::string &executable);

/// What such a process does: `attn-bench SOURCE --compile-only=FUNCTION`.
Status compileOnce(const std::string &source, const std::string &function);

} // namespace attn::tool

#endif // ATTN_TOOLS_ATTNBENCH_COMPILETIME_H
