//===- CodeGen.h - the machine level to machine code ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_CODEGEN_H
#define ATTN_CODEGEN_CODEGEN_H

#include "attn/Target/TargetDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace attn {

/// What emitCode writes.
enum class CodeKind { Object, Assembly, LLVMIR };

/// Adds the translations of the llvm, gpu and nvvm dialects to a context's registry. Needed before translateToLLVM and
/// translateDeviceModule.
void registerTranslations(mlir::DialectRegistry &registry);

/// LLVM's code generator for `target`; position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const TargetDescription &target);

/// LLVM IR of a module at the machine level, with `target`'s triple, data layout, CPU and features in it. Errors of the
/// translation are reported as MLIR diagnostics, too. The module gets the data layout as an attribute.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                              const TargetDescription &target,
                                                              llvm::TargetMachine &machine);

/// The short pass list that hot loops in vector form need: as fast code as O3 gives, in a fifth of the time.
llvm::Error optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Writes the module as text or as an object file. Code generation changes the module, so IR is written first.
llvm::Error emitCode(llvm::Module &module, llvm::TargetMachine &machine, CodeKind kind,
                     llvm::raw_pwrite_stream &stream);

} // namespace attn

#endif // ATTN_CODEGEN_CODEGEN_H
