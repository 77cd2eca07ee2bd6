//===- Jit.cpp - compiled kernels in this process -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/Jit.h"
#include "attn/Runtime.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdlib>
#include <mutex>

using namespace attn;
using namespace llvm::orc;

//===----------------------------------------------------------------------===//
// What debuggers know
//===----------------------------------------------------------------------===//

// GDB's JIT interface: a list of object files in memory, and a function where a debugger stops to read it. LLVM 22 adds
// what it links to the head of the list and never takes it out, so entries of freed code would stay and point nowhere.
extern "C" {
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();
}

/// Held while an object links or goes. LLVM has a lock of its own, out of reach, for programs with other JITs.
static std::mutex &debuggerLock() {
  static std::mutex lock;
  return lock;
}

/// The entries in front of `known` that hold a symbol. Another JIT may have added some, too.
static std::vector<jit_code_entry *> findNewEntries(const jit_code_entry *known, llvm::StringRef symbol) {
  std::vector<jit_code_entry *> entries;
  for (jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry && entry != known; entry = entry->next_entry)
    if (llvm::StringRef(entry->symfile_addr, entry->symfile_size).contains(symbol))
      entries.push_back(entry);
  return entries;
}

static void removeEntry(jit_code_entry *entry) {
  (entry->prev_entry ? entry->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry->next_entry;
  if (entry->next_entry)
    entry->next_entry->prev_entry = entry->prev_entry;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
  __jit_debug_register_code();
  __jit_debug_descriptor.relevant_entry = nullptr;
  __jit_debug_descriptor.action_flag = JIT_NOACTION;
  delete entry;
}

//===----------------------------------------------------------------------===//
// Jit
//===----------------------------------------------------------------------===//

Jit::Jit(std::unique_ptr<LLJIT> jit) : jit(std::move(jit)) {}

Jit::~Jit() {
  std::lock_guard<std::mutex> lock(debuggerLock());
  for (jit_code_entry *entry : debugEntries)
    removeEntry(entry);
}

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
  std::string symbol = ("attn_entry_" + name).str();
  std::lock_guard<std::mutex> lock(debuggerLock());
  const jit_code_entry *known = __jit_debug_descriptor.first_entry;
  llvm::Expected<ExecutorAddr> address = jit->lookup(symbol);
  std::vector<jit_code_entry *> added = findNewEntries(known, symbol);
  debugEntries.insert(debugEntries.end(), added.begin(), added.end());
  if (!address)
    return address.takeError();
  return address->toPtr<EntryPoint>();
}
