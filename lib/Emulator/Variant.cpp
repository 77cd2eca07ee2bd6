//===- Variant.cpp - a module's code ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Variant.h"
#include "Numbers.h"
#include "attn/CodeGen/LLVMPasses.h"
#include "attn/Runtime.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace attn::emulator;
using namespace llvm::orc;

// What is behind it runs once for each thread of a launch: a short list is enough.
static constexpr llvm::StringLiteral kPasses =
    "cgscc(inline),function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)";

/// Returned as LLVM expects an f16: in the low bits of a float register.
static float truncateToF16(float value) { return toFloat(floatToF16(value)); }

/// What code generators call for 16-bit floats where the CPU lacks the instructions.
static void addFloatFunctions(llvm::StringMap<void *> &functions) {
  functions["__truncsfbf2"] = reinterpret_cast<void *>(&attn_rt_truncate_bf16);
  functions["__truncsfhf2"] = reinterpret_cast<void *>(&truncateToF16);
}

static size_t countLocalBytes(const llvm::Module &module) {
  size_t bytes = 0;
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (std::optional<llvm::TypeSize> size = variable->getAllocationSize(module.getDataLayout()))
          bytes += size->getFixedValue() + variable->getAlign().value();
  return bytes;
}

static llvm::Error bind(LLJIT &jit, const llvm::StringMap<void *> &functions) {
  SymbolMap symbols;
  for (const auto &function : functions)
    symbols[jit.mangleAndIntern(function.getKey())] = {ExecutorAddr::fromPtr(function.getValue()),
                                                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(absoluteSymbols(std::move(symbols)));
}

static llvm::Expected<JITTargetMachineBuilder> describeHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = JITTargetMachineBuilder::detectHost();
  if (builder)
    builder->setRelocationModel(llvm::Reloc::PIC_);
  return builder;
}

/// Code for this CPU as an object file.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> emitObject(llvm::Module &code,
                                                                      llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  if (llvm::Error error = attn::generateCode(code, machine, llvm::CodeGenFileType::ObjectFile, stream))
    return error;
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), /*RequiresNullTerminator=*/false);
}

llvm::Error Variant::link(JITTargetMachineBuilder builder, std::unique_ptr<llvm::MemoryBuffer> object,
                          const llvm::StringMap<void *> &functions, const Description &description) {
  auto created = LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!created)
    return created.takeError();
  jit = std::move(*created);
  if (llvm::Error error = bind(*jit, functions))
    return error;
  if (llvm::Error error = jit->addObjectFile(std::move(object)))
    return error;
  for (const auto &kernel : description.kernels) {
    auto address = jit->lookup(getEntryName(kernel.getKey()));
    if (!address)
      return address.takeError();
    entries[kernel.getKey()] = address->toPtr<Entry>();
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Variant>> Variant::create(const llvm::Module &module, const Description &description,
                                                         bool isInstrumented) {
  auto builder = describeHost();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto variant = std::make_unique<Variant>();
  std::unique_ptr<llvm::Module> code = llvm::CloneModule(module);
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  llvm::StringMap<void *> functions = rewrite(*code, description, isInstrumented, variant->sites);
  addFloatFunctions(functions);
  for (const Site &site : variant->sites)
    variant->siteList.push_back(&site);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*code, &stream))
    return llvm::createStringError("the emulator made broken code: " + text);
  if (llvm::Error error = runPasses(*code, **machine, kPasses))
    return error;
  variant->localBytes = countLocalBytes(*code);
  auto object = emitObject(*code, **machine);
  if (!object)
    return object.takeError();
  if (llvm::Error error = variant->link(std::move(*builder), std::move(*object), functions, description))
    return error;
  return variant;
}
