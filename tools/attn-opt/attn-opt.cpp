//===- attn-opt.cpp - run passes and pipelines on .mlir files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/InitAllDialects.h"
#include "attn/InitAllPasses.h"
#include "attn/Pipelines/VerifyPasses.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// --attn-verify-passes: MlirOptMain with one more thing in its pass manager.
static mlir::LogicalResult runVerified(llvm::StringRef input, llvm::StringRef output, mlir::DialectRegistry &registry) {
  std::string error;
  auto file = mlir::openInputFile(input, &error);
  auto result = file ? mlir::openOutputFile(output, &error) : nullptr;
  if (!result) {
    llvm::errs() << error << "\n";
    return mlir::failure();
  }
  auto verdict = std::make_shared<attn::PassVerdict>();
  const auto given = mlir::MlirOptMainConfig::createFromCLOptions();
  auto config = given;
  config.setPassPipelineSetupFn([&](mlir::PassManager &passes) {
    // Functions are evaluated while no pass changes another one.
    passes.getContext()->disableMultithreading();
    passes.addInstrumentation(attn::createPassVerifier(verdict));
    return given.setupPassPipeline(passes);
  });
  if (failed(mlir::MlirOptMain(result->os(), std::move(file), registry, config)))
    return mlir::failure();
  result->keep();
  return mlir::success(verdict->wrongPass.empty());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllDialects(registry);
  mlir::registerAllPasses();
  attn::registerAllPasses();
  attn::registerFusionFlags();
  attn::registerVerifyPassesFlag();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "attention compiler driver\n", registry);
  if (attn::isVerifyPassesFlagGiven())
    return mlir::asMainReturnCode(runVerified(input, output, registry));
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
