//===- PassTrace.cpp - which pass runs, for reports of crashes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Pipelines/PassTrace.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace mlir;

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
