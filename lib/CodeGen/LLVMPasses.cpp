//===- LLVMPasses.cpp - LLVM's passes and code generators ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/LLVMPasses.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

llvm::Error attn::runPasses(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef pipeline) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
}

/// The conversions to bf16 of AVX512-BF16 and AVX-NE-CONVERT make zeros of denormals, whatever the flush mode. LLVM
/// takes them for values of bf16 that live across branches, too, which so would change without having been computed
/// with. Without these extensions it calls __truncsfbf2, which keeps denormals.
static void avoidFlushingConversions(llvm::Module &module, llvm::TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return;
  constexpr llvm::StringLiteral name = "target-features";
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::StringRef features = function.hasFnAttribute(name) ? function.getFnAttribute(name).getValueAsString()
                                                             : machine.getTargetFeatureString();
    llvm::StringRef separator = features.empty() ? "" : ",";
    function.addFnAttr(name, (features + separator + "-avx512bf16,-avxneconvert").str());
  }
}

llvm::Error attn::generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                               llvm::raw_pwrite_stream &stream) {
  avoidFlushingConversions(module, machine);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("the code generator for " + machine.getTargetTriple().str() +
                                   " cannot write this kind of file");
  passes.run(module);
  return llvm::Error::success();
}
