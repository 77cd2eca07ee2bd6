//===- Instrument.h - reports of what kernels do -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_INSTRUMENT_H
#define ATTN_LIB_EMULATOR_INSTRUMENT_H

#include "Site.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include <deque>

namespace attn::emulator {

/// Adds a site for an instruction.
const Site &makeSite(std::deque<Site> &sites, llvm::StringMap<uint32_t> &ordinals, llvm::StringRef name,
                     const llvm::Instruction &instruction);

/// The site's address as a constant.
llvm::Value *getSitePointer(llvm::IRBuilderBase &builder, const Site &site);

/// Finds what is to be reported in a function as it was, and inserts the reports later.
class Instrumentation {
public:
  Instrumentation() = default;
  explicit Instrumentation(llvm::Function &function, llvm::ArrayRef<llvm::CallInst *> operations);

  /// thread: the function's Thread *, defined in its entry block. Adds to functions what the code calls.
  void insert(llvm::Value *thread, std::deque<Site> &sites, llvm::StringMap<uint32_t> &ordinals,
              llvm::StringMap<void *> &functions);

private:
  /// An access of shared memory, or of memory that may be shared.
  struct MemoryAccess {
    llvm::Instruction *instruction;
    llvm::Value *pointer;
    uint64_t bytes;
    uint64_t alignment;
    bool isWrite;
    bool isAtomic;
  };
  void find(llvm::Instruction &instruction);
  void add(llvm::Instruction &instruction, llvm::Value *pointer, llvm::Type *type, llvm::Align alignment, bool isWrite,
           bool isAtomic);

  std::vector<MemoryAccess> accesses;
  /// Basic blocks and how many instructions they have.
  std::vector<std::pair<llvm::BasicBlock *, uint32_t>> blocks;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_INSTRUMENT_H
