//===- Variant.h - a module's code ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_VARIANT_H
#define ATTN_LIB_EMULATOR_VARIANT_H

#include "Rewrite.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace attn::emulator {

/// Native code of a device module, with or without reports of its accesses.
struct Variant {
  /// Calls the kernel with the parameters that the pointers lead to.
  using Entry = void (*)(void **parameters);

  /// Generates code. The module is copied.
  static llvm::Expected<std::unique_ptr<Variant>> create(const llvm::Module &module, const Description &description,
                                                         bool isInstrumented);

  llvm::StringMap<Entry> entries;
  /// The code points to these.
  std::deque<Site> sites;
  std::vector<const Site *> siteList;
  /// The most that variables on the stack take in a thread: of all functions together.
  size_t localBytes = 0;
  std::unique_ptr<llvm::orc::LLJIT> jit;

private:
  /// Links the object with `functions` into this process, and looks up the kernels' entries.
  llvm::Error link(llvm::orc::JITTargetMachineBuilder builder, std::unique_ptr<llvm::MemoryBuffer> object,
                   const llvm::StringMap<void *> &functions, const Description &description);
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_VARIANT_H
