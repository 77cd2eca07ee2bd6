//===- Rewrite.h - device IR becomes host IR -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_REWRITE_H
#define ATTN_LIB_EMULATOR_REWRITE_H

#include "Site.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <deque>

namespace attn::emulator {

/// A kernel's interface.
struct Kernel {
  struct Parameter {
    /// Bytes of the value; 0 for a tensor map.
    size_t bytes;
    bool isTensorMap;
  };
  std::vector<Parameter> parameters;
  /// The block's sizes that the kernel requires, and the most threads; 0: any.
  int64_t required[3] = {0, 0, 0};
  int64_t most = 0;
};

/// What a module has, as it was handed over.
struct Description {
  llvm::StringMap<Kernel> kernels;
  /// Where each variable in shared memory lies, and where dynamic shared memory begins.
  llvm::StringMap<uint32_t> sharedOffsets;
  uint32_t dynamicOffset = 0;
};

/// Error: names of everything that the emulator does not know, or of an unnamed variable in shared memory.
llvm::Expected<Description> describe(llvm::Module &module);

/// Turns intrinsics and device functions into calls of the emulator, variables in shared memory into addresses in the
/// block's window. For each kernel there is a function of type void (void **parameters) named getEntryName(kernel).
/// isInstrumented: accesses of shared memory and instructions are reported. Adds to sites, whose elements the code
/// points to. Returns the functions that the code needs, by name.
llvm::StringMap<void *> rewrite(llvm::Module &module, const Description &description, bool isInstrumented,
                                std::deque<Site> &sites);

std::string getEntryName(llvm::StringRef kernel);

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_REWRITE_H
