//===- PassChecks.h - what a run of passes must not do -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that leaves invalid IR or changes a value is a fault of the compiler, not of its input. Instrumentations find
// both, fail the pass, and keep what they found in a verdict, so that the caller can tell it from an error of the
// input.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_PASSCHECKS_H
#define ATTN_PIPELINES_PASSCHECKS_H

#include "mlir/Pass/PassManager.h"
#include <memory>
#include <mutex>

namespace attn {

/// What the passes of a pass manager were found to do wrong; shared by its instrumentations and its owner.
class PassVerdict {
public:
  /// Keeps the pass, unless one was found before. For any thread.
  void setInvalid(llvm::StringRef pass);
  void setWrong(llvm::StringRef pass);

  /// The pass that left IR that is not valid; empty if there was none.
  std::string invalidPass() const;
  /// The pass that changed a value; empty if there was none.
  std::string wrongPass() const;

private:
  mutable std::mutex mutex;
  std::string invalid, wrong;
};

/// Puts the pass that runs onto LLVM's list of what a thread is doing (llvm::PrettyStackTraceEntry), as "running pass
/// attn-fuse", for reports of crashes. LLVM's own passes do so themselves. Costs nothing that could be measured.
void tracePasses(mlir::PassManager &passes);

/// When IR is verified: behind each pass; or, in at most 3 ms a kernel, behind those that end a level of the pipeline
/// and behind bufferization (verifiedPasses). What is parsed is verified by the parser.
enum class VerifyIr { EachPass, Levels };

/// Levels, or EachPass where the environment variable ATTN_VERIFY_EACH is set, as it is for the tests.
VerifyIr defaultVerifyIr();

/// Verifies the IR in place of the pass manager's own verifier, which does not say which pass it was. A pass that
/// leaves invalid IR fails; behind the verifier's error comes one that is internal, with the pass's name.
void verifyIr(mlir::PassManager &passes, VerifyIr when, std::shared_ptr<PassVerdict> verdict);

/// Evaluates the public functions of a module by the reference interpreter, on small generated inputs, before the first
/// pass and after each one. The first pass after which a result is another one fails, with an error at the function.
/// Passes are not verified, and remarks (attn-verify-passes) say so, where the reference cannot evaluate what they
/// leave (from bufferization on that is everything), or what was there before the first one. For one module and one
/// thread at a time.
void verifyValues(mlir::PassManager &passes, std::shared_ptr<PassVerdict> verdict);

/// Traces passes and verifies IR, and values, too, where `values` is true. What is found is in the verdict.
std::shared_ptr<PassVerdict> checkPasses(mlir::PassManager &passes, VerifyIr when = defaultVerifyIr(),
                                         bool values = false);

/// Adds --attn-verify-passes to the command line of a tool. Call before the command line is parsed.
void registerVerifyPassesFlag();
/// True if the flag is there and given.
bool isVerifyPassesFlagGiven();

} // namespace attn

#endif // ATTN_PIPELINES_PASSCHECKS_H
