//===- VerifyPasses.h - which pass changes a value -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_VERIFYPASSES_H
#define ATTN_PIPELINES_VERIFYPASSES_H

#include "mlir/Pass/PassInstrumentation.h"
#include <memory>

namespace attn {

/// What the passes of a pass manager were found to do; shared by the instrumentation and its owner.
struct PassVerdict {
  /// Empty until a pass changed a value: then its name.
  std::string wrongPass;
};

/// Evaluates the public functions of a module by the reference interpreter, on small generated inputs, before the first
/// pass and after each one. The first pass after which a result is another one is an error at the function, and its
/// name is kept in `verdict`: instrumentations cannot fail a pass manager, so its owner asks there. Passes are not
/// verified, and remarks (attn-verify-passes) say so, where the reference cannot evaluate what they leave (from
/// bufferization on that is everything), or what was there before the first one. For one module and one thread at a
/// time.
std::unique_ptr<mlir::PassInstrumentation> createPassVerifier(std::shared_ptr<PassVerdict> verdict);

/// Adds --attn-verify-passes to the command line of a tool. Call before the command line is parsed.
void registerVerifyPassesFlag();
/// True if the flag is there and given.
bool isVerifyPassesFlagGiven();

} // namespace attn

#endif // ATTN_PIPELINES_VERIFYPASSES_H
