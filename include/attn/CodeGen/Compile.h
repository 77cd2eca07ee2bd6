//===- Compile.h - a graph to code, in one call --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_COMPILE_H
#define ATTN_CODEGEN_COMPILE_H

#include "attn/CodeGen/CodeGen.h"
#include "attn/CodeGen/Jit.h"
#include "attn/Pipelines/Pipelines.h"
#include <vector>

namespace attn {

/// How long a stage of compilation took, in milliseconds of wall time.
struct StageLap {
  std::string name;
  double milliseconds;
};

struct CodeOptions {
  PipelineOptions pipeline;
  /// Evaluate the module before and after each pass, and fail where one changes a value (attn/Pipelines/PassChecks.h).
  bool verifyValues = false;
  /// Run LLVM's passes (optimizeModule). Without them code is slower, and easier to compare with the IR.
  bool optimize = true;
};

/// A fault of the compiler: a pass left IR that is not valid. The text is that of the diagnostics.
class InternalError : public llvm::ErrorInfo<InternalError, llvm::StringError> {
public:
  static char ID;
  explicit InternalError(const llvm::Twine &text) : ErrorInfo(text, llvm::inconvertibleErrorCode()) {}
};

/// Adds what `compile*` needs: the pipeline's dialects and the translations.
void registerCompiler(mlir::DialectRegistry &registry);

/// A diagnostic as compilers print it: `file.mlir:3:8: the message`.
std::string formatDiagnostic(mlir::Diagnostic &diagnostic);

/// Takes a module to code for options.pipeline.target, whatever machine this is. The module ends up at the machine
/// level. Errors carry the diagnostics of the passes; the context's own handlers see these, too. `times`, if not null,
/// gets one entry for each stage.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileTo(CodeKind kind, mlir::ModuleOp module, const CodeOptions &options, std::vector<StageLap> *times = nullptr);

/// The same for this process. Refuses a target whose code this machine cannot run, before compiling.
llvm::Expected<std::unique_ptr<Jit>> compileToJit(mlir::ModuleOp module, const CodeOptions &options,
                                                  std::vector<StageLap> *times = nullptr);

/// The kernels of a module for the GPU chip that options.pipeline.target names, as LLVM IR (takeKernels); what is left
/// in the module is the host's, at the machine level. A module that has gpu.modules already is taken as it is.
llvm::Expected<std::unique_ptr<llvm::Module>> compileKernels(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                             const CodeOptions &options);

/// Kernels of a GPU, and the code for this process that starts them.
struct DeviceCompilation {
  std::unique_ptr<Jit> host;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> kernels;
};

/// compileKernels, with the host's code loaded into this process.
llvm::Expected<DeviceCompilation> compileForDevice(mlir::ModuleOp module, const CodeOptions &options,
                                                   std::vector<StageLap> *times = nullptr);

} // namespace attn

#endif // ATTN_CODEGEN_COMPILE_H
