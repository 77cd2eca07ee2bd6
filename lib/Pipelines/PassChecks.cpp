//===- PassChecks.cpp - which pass runs, and whether it leaves valid IR ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Pipelines/PassChecks.h"

#include "attn/Pipelines/Pipelines.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Verdict
//===----------------------------------------------------------------------===//

void PassVerdict::setInvalid(StringRef pass) {
  std::lock_guard<std::mutex> lock(mutex);
  if (invalid.empty())
    invalid = pass;
}

void PassVerdict::setWrong(StringRef pass) {
  std::lock_guard<std::mutex> lock(mutex);
  if (wrong.empty())
    wrong = pass;
}

std::string PassVerdict::invalidPass() const {
  std::lock_guard<std::mutex> lock(mutex);
  return invalid;
}

std::string PassVerdict::wrongPass() const {
  std::lock_guard<std::mutex> lock(mutex);
  return wrong;
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

namespace {

class RunningPass : public llvm::PrettyStackTraceEntry {
public:
  explicit RunningPass(const Pass &pass) : pass(pass) {}
  void print(llvm::raw_ostream &stream) const override {
    stream << "running pass " << (pass.getArgument().empty() ? pass.getName() : pass.getArgument());
  }

private:
  const Pass &pass;
};

/// Passes nest on a thread, and start and end on the same one.
class PassTrace : public PassInstrumentation {
public:
  void runBeforePass(Pass *pass, Operation *) override { running().push_back(std::make_unique<RunningPass>(*pass)); }
  void runAfterPass(Pass *, Operation *) override { running().pop_back(); }
  void runAfterPassFailed(Pass *, Operation *) override { running().pop_back(); }

private:
  static std::vector<std::unique_ptr<RunningPass>> &running() {
    thread_local std::vector<std::unique_ptr<RunningPass>> passes;
    return passes;
  }
};

} // namespace

void attn::tracePasses(PassManager &passes) { passes.addInstrumentation(std::make_unique<PassTrace>()); }

//===----------------------------------------------------------------------===//
// Valid IR
//===----------------------------------------------------------------------===//

namespace {

class IrVerifier : public PassInstrumentation {
public:
  IrVerifier(VerifyIr when, std::shared_ptr<PassVerdict> verdict) : when(when), verdict(std::move(verdict)) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    StringRef name = pass->getArgument();
    // Behind an adaptor, which has no name, the passes inside of it have been verified.
    bool isVerified = when == VerifyIr::EachPass ? !name.empty() : is_contained(verifiedPasses(), name);
    if (!isVerified || succeeded(verify(op)))
      return;
    verdict->setInvalid(name);
    emitError(op->getLoc()) << "internal error: the pass " << name
                            << (when == VerifyIr::Levels ? " or one before it" : "")
                            << " left IR that is not valid; please report it with the input";
    signalPassFailure(pass);
  }

private:
  VerifyIr when;
  std::shared_ptr<PassVerdict> verdict;
};

} // namespace

VerifyIr attn::defaultVerifyIr() { return std::getenv("ATTN_VERIFY_EACH") ? VerifyIr::EachPass : VerifyIr::Levels; }

void attn::verifyIr(PassManager &passes, VerifyIr when, std::shared_ptr<PassVerdict> verdict) {
  passes.enableVerifier(false);
  passes.addInstrumentation(std::make_unique<IrVerifier>(when, std::move(verdict)));
}

std::shared_ptr<PassVerdict> attn::checkPasses(PassManager &passes, VerifyIr when, bool values) {
  auto verdict = std::make_shared<PassVerdict>();
  tracePasses(passes);
  // Behind a pass the last instrumentation comes first: values are those of valid IR.
  if (values)
    verifyValues(passes, verdict);
  verifyIr(passes, when, verdict);
  return verdict;
}
