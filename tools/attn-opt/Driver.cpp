//===- Driver.cpp - what attn-opt does ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver.h"

#include "CommandLine.h"
#include "CrashReport.h"
#include "OutputFile.h"
#include "attn/Pipelines/PassChecks.h"
#include "attn/Support/InputFile.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace attn;
using namespace attn::tool;

namespace {

/// Passes run on threads of MLIR's.
struct CoverThreads : mlir::PassInstrumentation {
  void runBeforePass(mlir::Pass *, mlir::Operation *) override { coverThread(); }
};

} // namespace

/// The options of the command line, with the running pass in reports of crashes, and passes that are checked. verdict:
/// what they are found to do wrong.
static mlir::MlirOptMainConfig createConfig(std::shared_ptr<PassVerdict> verdict) {
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  mlir::MlirOptMainConfig given = config;
  config.setPassPipelineSetupFn([given, verdict](mlir::PassManager &passes) {
    tracePasses(passes);
    passes.addInstrumentation(std::make_unique<CoverThreads>());
    if (isVerifyPassesFlagGiven()) {
      // Functions are evaluated while no pass changes another one.
      passes.getContext()->disableMultithreading();
      verifyValues(passes, verdict);
    }
    if (given.shouldVerifyPasses())
      verifyIr(passes, VerifyIr::EachPass, verdict);
    return given.setupPassPipeline(passes);
  });
  return config;
}

/// The name of a failing input stands in the diagnostics that were printed.
static int runOn(std::unique_ptr<llvm::MemoryBuffer> input, const std::string &output, mlir::DialectRegistry &registry,
                 const mlir::MlirOptMainConfig &config) {
  Activity activity("processing " + input->getBufferIdentifier());
  if (output == "-") {
    int code = mlir::asMainReturnCode(mlir::MlirOptMain(llvm::outs(), std::move(input), registry, config));
    llvm::outs().flush();
    std::error_code problem = llvm::outs().error();
    llvm::outs().clear_error();
    return problem ? exitCode(Error{ErrorCode::Io, "cannot write to stdout: " + problem.message(), {}}) : code;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(mlir::MlirOptMain(stream, std::move(input), registry, config)))
    return 1;
  return exitCode(writeFile(output, text));
}

int tool::runOpt(int argc, char **argv, mlir::DialectRegistry &registry) {
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "attention compiler driver\n", registry);
  auto verdict = std::make_shared<PassVerdict>();
  mlir::MlirOptMainConfig config = createConfig(verdict);
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  auto buffer = input == "-" ? readInputFile("/dev/stdin", "<stdin>") : readInputFile(input);
  if (!buffer)
    return exitCode(Error{ErrorCode::Io, "cannot read the file: " + buffer.getError().message(), {input, 0, 0}});
  int code = runOn(std::move(*buffer), output, registry, config);
  return verdict->invalidPass().empty() ? code : internalErrorCode;
}
