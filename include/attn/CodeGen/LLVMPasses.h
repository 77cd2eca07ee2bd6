//===- LLVMPasses.h - LLVM's passes and code generators ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler and the emulator do alike with a module of LLVM IR. On LLVM alone, without MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CODEGEN_LLVMPASSES_H
#define ATTN_CODEGEN_LLVMPASSES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace attn {

/// Runs LLVM's passes by their text ("function(sroa,licm)").
llvm::Error runPasses(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef pipeline);

/// Writes assembly or an object file. Changes the module. An error where the target has no such files. On x86
/// conversions to bf16 keep denormals: instructions that make zeros of them are not taken.
llvm::Error generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                         llvm::raw_pwrite_stream &stream);

} // namespace attn

#endif // ATTN_CODEGEN_LLVMPASSES_H
