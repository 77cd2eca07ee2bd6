//===- CodeGen.cpp - the machine level to machine code ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/CodeGen.h"
#include "attn/CodeGen/LLVMPasses.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/MC/TargetRegistry.h"

using namespace attn;

static constexpr llvm::StringLiteral kPasses =
    "cgscc(inline),function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse)";

// Where this library was built with -fsanitize=address or thread, generated code is checked, too. g++ defines macros,
// clang answers __has_feature.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static constexpr llvm::Attribute::AttrKind kSanitizer = llvm::Attribute::SanitizeAddress;
static constexpr llvm::StringLiteral kSanitizerPasses = "asan";
#elif defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
static constexpr llvm::Attribute::AttrKind kSanitizer = llvm::Attribute::SanitizeThread;
static constexpr llvm::StringLiteral kSanitizerPasses = "tsan-module,function(tsan)";
#else
static constexpr llvm::Attribute::AttrKind kSanitizer = llvm::Attribute::None;
static constexpr llvm::StringLiteral kSanitizerPasses = "";
#endif

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

void attn::registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::registerConvertNVVMToLLVMInterface(registry);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> attn::createTargetMachine(const TargetDescription &target) {
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *generator = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!generator)
    return makeError("no code generator for " + target.triple + ": " + error);
  std::unique_ptr<llvm::TargetMachine> machine(
      generator->createTargetMachine(triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                     std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return makeError("no code generator for " + target.triple);
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::Module>> attn::translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                                    const TargetDescription &target,
                                                                    llvm::TargetMachine &machine) {
  // Known before the translation, which derives the alignment of loads and stores from it.
  llvm::DataLayout layout = machine.createDataLayout();
  mlir::Builder builder(module.getContext());
  module->setAttr(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(),
                  builder.getStringAttr(layout.getStringRepresentation()));
  module->setAttr(mlir::LLVM::LLVMDialect::getTargetTripleAttrName(), builder.getStringAttr(target.triple));
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context);
  if (!result)
    return makeError("the module could not be translated to LLVM IR");
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    // Failing is a longjmp: nothing unwinds through generated code.
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return result;
}

llvm::Error attn::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  return runPasses(module, machine, kPasses);
}

/// Instruments the module for this build's sanitizer, whose runtime is in the process.
static llvm::Error sanitizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  if (kSanitizerPasses.empty())
    return llvm::Error::success();
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(kSanitizer);
  return runPasses(module, machine, kSanitizerPasses);
}

llvm::Error attn::emitCode(llvm::Module &module, llvm::TargetMachine &machine, CodeKind kind,
                           llvm::raw_pwrite_stream &stream) {
  if (kind == CodeKind::LLVMIR) {
    module.print(stream, nullptr);
    return llvm::Error::success();
  }
  if (kind == CodeKind::Object)
    if (llvm::Error error = sanitizeModule(module, machine))
      return error;
  auto type = kind == CodeKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  return generateCode(module, machine, type, stream);
}
