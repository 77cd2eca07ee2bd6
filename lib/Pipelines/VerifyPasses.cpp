//===- VerifyPasses.cpp - which pass changes a value --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that types leave open are chosen anew for each of a few trials: those of the trials that the function can be
// evaluated with, before any pass, stay.
//
//===----------------------------------------------------------------------===//

#include "../Dialect/Attn/Fusion/CompareSides.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ManagedStatic.h"

using namespace mlir;
using namespace attn;
using fusion::InputData;
using reference::Tensor;

/// Constants are folded, and rounded to their type, on the way.
static constexpr double kTolerance = 1e-5;

namespace {

/// One choice of sizes and data, and what the function last gave for it.
struct Trial {
  SmallVector<InputData> inputs;
  std::vector<Tensor> arguments, results;
};

/// A public function.
struct Subject {
  FunctionType type;
  SmallVector<Trial> trials;
};

class PassVerifier : public PassInstrumentation {
public:
  explicit PassVerifier(std::shared_ptr<PassVerdict> verdict) : verdict(std::move(verdict)) {}

  void runBeforePass(Pass *, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override;

private:
  void verify(func::FuncOp function, Pass *pass);

  std::shared_ptr<PassVerdict> verdict;
  llvm::StringMap<Subject> subjects;
  bool isStarted = false;
};

} // namespace

static void tell(func::FuncOp function, const Twine &text) {
  remark::analysis(function.getLoc(), remark::RemarkOpts::name("attn-verify-passes").category("attn")) << text.str();
}

/// A copy of the diagnostics and remarks says what was compared: open sizes are all `size`, or 2, 3, 5, 4, ... by
/// position where it is 0.
static SmallVector<InputData> chooseInputs(FunctionType type, int64_t size) {
  static constexpr int64_t byPosition[] = {2, 3, 5, 4, 6, 7};
  SmallVector<InputData> inputs;
  for (Type argument : type.getInputs()) {
    InputData &input = inputs.emplace_back();
    if (auto shaped = dyn_cast<RankedTensorType>(argument)) {
      for (auto [k, known] : llvm::enumerate(shaped.getShape())) {
        int64_t open = size ? size : byPosition[k % std::size(byPosition)];
        input.shape.push_back(ShapedType::isDynamic(known) ? open : known);
      }
    } else if (isa<IndexType>(argument)) {
      // Mostly sizes and counts.
      input.value = size ? size : 2;
    }
  }
  return inputs;
}

static Subject makeSubject(func::FuncOp function) {
  Subject subject{function.getFunctionType(), {}};
  bool isFixed = true;
  for (Type argument : subject.type.getInputs())
    isFixed =
        isFixed && !argument.isIndex() && (!isa<ShapedType>(argument) || cast<ShapedType>(argument).hasStaticShape());
  std::string reason;
  for (int64_t size : {0, 4, 1}) {
    Trial trial{chooseInputs(subject.type, size), {}, {}};
    auto arguments = fusion::makeArguments(subject.type.getInputs(), trial.inputs, /*seed=*/1, reason);
    if (!arguments)
      break;
    trial.arguments = std::move(*arguments);
    auto results = fusion::evaluateQuietly(function, trial.arguments, reason);
    if (results) {
      trial.results = std::move(*results);
      subject.trials.push_back(std::move(trial));
    }
    if (isFixed)
      break;
  }
  if (subject.trials.empty())
    tell(function, "no pass is verified: " + reason);
  return subject;
}

void PassVerifier::runBeforePass(Pass *, Operation *op) {
  if (std::exchange(isStarted, true))
    return;
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  if (!module)
    return;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      subjects[function.getName()] = makeSubject(function);
}

void PassVerifier::verify(func::FuncOp function, Pass *pass) {
  StringRef name = pass->getArgument();
  auto entry = subjects.find(function.getName());
  if (entry == subjects.end() || !verdict->invalidPass().empty() || !verdict->wrongPass().empty())
    return;
  Subject &subject = entry->second;
  if (subject.trials.empty())
    return;
  if (function.getFunctionType() != subject.type) {
    tell(function, "passes from " + name + " on are not verified: the function has another type");
    return subject.trials.clear();
  }
  for (Trial &trial : subject.trials) {
    std::string reason;
    auto results = fusion::evaluateQuietly(function, trial.arguments, reason);
    if (!results)
      return tell(function, "skipped " + name + ": " + reason);
    for (auto [k, before, after] : llvm::enumerate(trial.results, *results)) {
      std::string difference = fusion::findDifference(before, after, kTolerance, "before it", "after it");
      if (difference.empty())
        continue;
      verdict->setWrong(name);
      signalPassFailure(pass);
      function.emitError() << "expects " << name << " to keep the function's values, but result " << k << " "
                           << difference << ", with inputs of " << fusion::describeInputs(trial.inputs);
      return;
    }
    trial.results = std::move(*results);
  }
}

void PassVerifier::runAfterPass(Pass *pass, Operation *op) {
  // The passes inside of an adaptor have been verified, each after it ran.
  if (pass->getArgument().empty())
    return;
  if (auto function = dyn_cast<func::FuncOp>(op))
    return verify(function, pass);
  if (auto module = dyn_cast<ModuleOp>(op))
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        verify(function, pass);
}

void attn::verifyValues(PassManager &passes, std::shared_ptr<PassVerdict> verdict) {
  passes.addInstrumentation(std::make_unique<PassVerifier>(std::move(verdict)));
}

//===----------------------------------------------------------------------===//
// The flag of the tools
//===----------------------------------------------------------------------===//

namespace {
struct VerifyPassesFlag {
  llvm::cl::opt<bool> isGiven{"attn-verify-passes",
                              llvm::cl::desc("Name the first pass that changes a value, by the reference")};
};
} // namespace

static llvm::ManagedStatic<VerifyPassesFlag> verifyPassesFlag;

void attn::registerVerifyPassesFlag() { *verifyPassesFlag; }

bool attn::isVerifyPassesFlagGiven() { return verifyPassesFlag.isConstructed() && verifyPassesFlag->isGiven; }
