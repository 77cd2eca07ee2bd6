//===- NvJitLink.cpp - the CUDA Toolkit's assembler as a library --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NvJitLink.h"
#include "llvm/ADT/StringExtras.h"
#include <dlfcn.h>

using namespace attn;

/// nvJitLinkInputType of PTX.
static constexpr int kPtxInput = 2;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

template <typename Function>
static bool bindSymbol(void *library, const std::string &name, const std::string &version, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, ("__nvJitLink" + name + version).c_str()));
  return function != nullptr;
}

bool NvJitLink::bind(void *library, const std::string &version) {
  return bindSymbol(library, "Create", version, create) && bindSymbol(library, "Destroy", version, destroy) &&
         bindSymbol(library, "AddData", version, addData) && bindSymbol(library, "Complete", version, complete) &&
         bindSymbol(library, "GetLinkedCubinSize", version, cubinSize) &&
         bindSymbol(library, "GetLinkedCubin", version, cubin) &&
         bindSymbol(library, "GetErrorLogSize", version, errorSize) &&
         bindSymbol(library, "GetErrorLog", version, error) &&
         bindSymbol(library, "GetInfoLogSize", version, infoSize) && bindSymbol(library, "GetInfoLog", version, info);
}

/// The symbols carry the version of the toolkit that the caller was made for, and a library has all up to its own.
bool NvJitLink::bind(void *library) {
  for (int major : {13, 12})
    for (int minor = 0; minor < 10; ++minor)
      if (bind(library, "_" + std::to_string(major) + "_" + std::to_string(minor)))
        return true;
  return false;
}

std::optional<NvJitLink> NvJitLink::load(llvm::ArrayRef<std::string> toolkits) {
  for (const std::string &toolkit : toolkits)
    for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"}) {
      std::string path = toolkit.empty() ? name : toolkit + "/lib64/" + name;
      NvJitLink result;
      // Never closed: assemblers of other threads may be in it.
      if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
        if (result.bind(library))
          return result;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

/// One assembly in progress.
class NvJitLink::Link {
public:
  explicit Link(const NvJitLink &library) : library(library) {}
  ~Link() {
    if (handle)
      library.destroy(&handle);
  }
  Link(const Link &) = delete;

  bool start(const std::string &architecture) {
    const char *options[] = {architecture.c_str(), "-Xptxas=-v"};
    return library.create(&handle, 2, options) == 0;
  }
  bool assemble(llvm::StringRef ptx) {
    std::string text = ptx.str(); // PTX ends with a zero byte
    return library.addData(handle, kPtxInput, text.c_str(), text.size() + 1, "kernels.ptx") == 0 &&
           library.complete(handle) == 0;
  }
  std::string errorLog() const { return readText(library.errorSize, library.error); }
  std::string infoLog() const { return readText(library.infoSize, library.info); }
  bool readCubin(std::string &bytes) const {
    size_t size = 0;
    if (library.cubinSize(handle, &size) != 0)
      return false;
    bytes.resize(size);
    return library.cubin(handle, bytes.data()) == 0;
  }

private:
  std::string readText(int (*sizeOf)(Handle, size_t *), int (*read)(Handle, char *)) const {
    size_t size = 0;
    if (!handle || sizeOf(handle, &size) != 0 || size == 0)
      return "";
    std::string text(size, '\0');
    if (read(handle, text.data()) != 0)
      return "";
    return text.c_str(); // up to its zero byte
  }

  const NvJitLink &library;
  Handle handle = nullptr;
};

llvm::Expected<Assembly> NvJitLink::assemble(llvm::StringRef ptx, llvm::StringRef chip) const {
  Link link(*this);
  Assembly result;
  if (!link.start("-arch=" + chip.str()))
    return llvm::createStringError("nvJitLink does not take the chip " + chip);
  // A library that did not take an option says so in its log alone.
  if (!link.assemble(ptx) || !link.readCubin(result.cubin) || !link.errorLog().empty())
    return llvm::createStringError("nvJitLink failed for " + chip + ": " + link.errorLog());
  result.log = link.infoLog();
  return result;
}
