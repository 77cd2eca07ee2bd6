//===- Frames.cpp - where a process was --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"

#include <dlfcn.h>
#include <link.h>
#include <map>

using namespace attn::fuzz;

/// ELF's STT_FUNC, which <link.h> has as a macro.
static constexpr uint8_t functionType = 2;

namespace {

/// The functions of this program, static ones too, by their end.
class OwnFunctions {
public:
  OwnFunctions() {
    auto binary = llvm::object::ObjectFile::createObjectFile("/proc/self/exe");
    if (!binary) {
      llvm::consumeError(binary.takeError());
      return;
    }
    for (const llvm::object::ELFSymbolRef &symbol :
         llvm::cast<llvm::object::ELFObjectFileBase>(binary->getBinary())->symbols()) {
      auto name = symbol.getName();
      auto address = symbol.getAddress();
      if (name && address && symbol.getELFType() == functionType)
        functions[*address + symbol.getSize()] = {*address, name->str()};
    }
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *base) {
          *static_cast<uintptr_t *>(base) = info->dlpi_addr; // this program comes first
          return 1;
        },
        &base);
  }

  std::string find(uintptr_t address) const {
    auto function = functions.upper_bound(address - base);
    bool isFound = function != functions.end() && function->second.first <= address - base;
    return isFound ? function->second.second : "";
  }

private:
  std::map<uintptr_t, std::pair<uintptr_t, std::string>> functions;
  uintptr_t base = 0;
};

struct Frame {
  bool isSystem = false, isOwn = false;
  std::string function;
};

} // namespace

/// "attn::fuse" of "attn::fuse(mlir::Operation*) const"; "(anonymous namespace)::" is left out.
static std::string shorten(const std::string &mangled) {
  std::string name = llvm::demangle(mangled);
  for (size_t at; (at = name.find("(anonymous namespace)::")) != std::string::npos;)
    name.erase(at, 23);
  size_t depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' && depth ? -1 : 0;
    if (name[i] == '(' && depth == 0 && i > 0 && !llvm::StringRef(name).take_front(i).ends_with("operator"))
      return name.substr(0, i);
  }
  return name;
}

static Frame describeFrame(void *pointer) {
  static const OwnFunctions own;
  // The call, not what follows it.
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer) - 1;
  Dl_info info;
  const ElfW(Sym) *symbol = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(address), &info, reinterpret_cast<void **>(const_cast<ElfW(Sym) **>(&symbol)),
               RTLD_DL_SYMENT))
    return {false, false, "?"};
  llvm::StringRef file = info.dli_fname;
  Frame frame;
  frame.isSystem =
      file.contains("libc.so") || file.contains("libstdc++") || file.contains("libgcc_s") || file.contains("ld-linux");
  frame.isOwn = !file.contains(".so");
  bool isCovered = symbol && info.dli_saddr && address < reinterpret_cast<uintptr_t>(info.dli_saddr) + symbol->st_size;
  std::string name = frame.isOwn ? own.find(address) : isCovered ? info.dli_sname : "";
  std::string offset = llvm::utohexstr(address - reinterpret_cast<uintptr_t>(info.dli_fbase));
  frame.function = name.empty() ? file.rsplit('/').second.str() + "+0x" + offset : shorten(name);
  return frame;
}

/// What is called from here is one step of the compiler, of whoever.
static bool isBoundary(llvm::StringRef function) {
  for (llvm::StringRef name :
       {"mlir::detail::OpToOpPassAdaptor::run", "mlir::parseAsmSourceFile", "mlir::parseSourceFile", "mlir::verify",
        "mlir::translateModuleToLLVMIR", "llvm::legacy::PassManagerImpl::run", "llvm::PassManager<llvm::Module"})
    if (function.starts_with(name))
      return true;
  return false;
}

Place attn::fuzz::findPlace(llvm::ArrayRef<void *> frames) {
  Place place;
  llvm::SmallVector<std::string> functions;
  bool isBeforeSignal = true, isWithin = true;
  for (void *pointer : frames) {
    Frame frame = describeFrame(pointer);
    // First come the handler's own frames, then that of the signal, in the C library, or who asked for memory.
    isBeforeSignal &= frame.isOwn;
    if (isBeforeSignal || frame.isSystem)
      continue;
    isWithin &= !isBoundary(frame.function);
    place.isOurs |= isWithin && frame.isOwn;
    if (functions.size() < 3 || (frame.isOwn && isWithin && functions.size() < 6))
      functions.push_back(frame.function);
    // What runs the cases tells nothing.
    if (llvm::StringRef(frame.function).ends_with("Cases::run"))
      break;
  }
  place.functions = functions.empty() ? "a place that is no code" : llvm::join(functions, " < ");
  return place;
}
