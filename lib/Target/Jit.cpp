//===- Jit.cpp - compiled kernels in this process -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/Jit.h"
#include "attn/Runtime.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdlib>
#include <mutex>

using namespace attn;
using namespace llvm::orc;

Jit::Jit(std::unique_ptr<LLJIT> jit) : jit(std::move(jit)) {}
Jit::~Jit() = default;

/// The runtime is linked into this program, maybe without dynamic symbols: its addresses come from its table.
static llvm::Error bindRuntime(LLJIT &jit) {
  const attn_rt_symbol *table = nullptr;
  size_t count = attn_rt_symbols(&table);
  SymbolMap symbols;
  for (size_t k = 0; k < count; ++k)
    symbols[jit.mangleAndIntern(table[k].name)] = {ExecutorAddr::fromPtr(table[k].address),
                                                   llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(absoluteSymbols(std::move(symbols)));
}

/// Makes the functions known to gdb always, which costs nothing to speak of, and to perf where the user asks for it.
static llvm::Error nameFunctions(LLJIT &jit) {
  if (llvm::Error error = enableDebuggerSupport(jit))
    return error;
  const char *isAsked = std::getenv("ATTN_JITDUMP");
  auto *layer = llvm::dyn_cast<ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (!isAsked || !*isAsked || !layer)
    return llvm::Error::success();
  auto plugin =
      PerfSupportPlugin::Create(jit.getExecutionSession().getExecutorProcessControl(), *jit.getProcessSymbolsJITDylib(),
                                /*EmitDebugInfo=*/false, /*EmitUnwindInfo=*/true);
  if (!plugin)
    return plugin.takeError();
  layer->addPlugin(std::move(*plugin));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Jit>> Jit::create(std::unique_ptr<llvm::MemoryBuffer> object) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<std::unique_ptr<LLJIT>> jit = LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = nameFunctions(**jit))
    return error;
  if (llvm::Error error = bindRuntime(**jit))
    return error;
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  return std::unique_ptr<Jit>(new Jit(std::move(*jit)));
}

llvm::Expected<EntryPoint> Jit::lookup(llvm::StringRef name) const {
  llvm::Expected<ExecutorAddr> address = jit->lookup(("attn_entry_" + name).str());
  if (!address)
    return address.takeError();
  return address->toPtr<EntryPoint>();
}
