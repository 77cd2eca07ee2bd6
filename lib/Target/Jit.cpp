//===- Jit.cpp - compiled kernels in this process -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/Jit.h"
#include "attn/Runtime.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
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

llvm::Expected<std::unique_ptr<Jit>> Jit::create(std::unique_ptr<llvm::MemoryBuffer> object) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<std::unique_ptr<LLJIT>> jit = LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
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
