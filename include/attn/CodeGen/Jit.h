//===- Jit.h - compiled kernels in this process --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_JIT_H
#define ATTN_CODEGEN_JIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <vector>

struct jit_code_entry;

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace attn {

/// What attn_rt_call takes.
using EntryPoint = void (*)(void **arguments);

/// Holds the code of one module, linked to the runtime and, for libm and the C library, to this process. Freed with
/// the object. Thread-safe.
class Jit {
public:
  ~Jit();

  /// Loads an object file that was made for this machine. Linking happens at the first lookup.
  static llvm::Expected<std::unique_ptr<Jit>> create(std::unique_ptr<llvm::MemoryBuffer> object);

  /// The entry of the exported function `name`. An unknown name, or a symbol that neither the runtime nor the process
  /// has, is an error.
  llvm::Expected<EntryPoint> lookup(llvm::StringRef name) const;

private:
  explicit Jit(std::unique_ptr<llvm::orc::LLJIT> jit);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  /// What debuggers know of this code; guarded by a lock that all objects share.
  mutable std::vector<jit_code_entry *> debugEntries;
};

} // namespace attn

#endif // ATTN_CODEGEN_JIT_H
