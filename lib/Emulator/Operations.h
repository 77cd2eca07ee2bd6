//===- Operations.h - what stands for NVPTX's intrinsics -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_OPERATIONS_H
#define ATTN_LIB_EMULATOR_OPERATIONS_H

#include "Block.h"
#include "llvm/ADT/StringMap.h"
#include <cstring>

namespace llvm {
class CallInst;
class IRBuilderBase;
class Value;
} // namespace llvm

namespace attn::emulator {

/// Does an operation for the thread that runs. arguments: a slot of 8 bytes for each, its value at the front (an i1 as
/// a byte). results: where the call's result goes, laid out as its type.
using Handler = void (*)(Thread &thread, const Site &site, const uint64_t *arguments, void *results);

/// What a call in the kernel becomes.
struct Operation {
  enum Kind {
    /// A call of a Handler.
    Handled,
    /// A call of a function of the thread (const Thread *), without effects.
    Read,
    /// A call of a function of the same arguments, without effects.
    Function,
    /// Other IR: `expand` returns the value.
    Expanded,
    /// Nothing.
    Dropped
  } kind = Dropped;
  void *address = nullptr;
  llvm::Value *(*expand)(llvm::IRBuilderBase &builder, llvm::CallInst &call) = nullptr;
};

/// By the name of an intrinsic or a device function.
class OperationTable {
public:
  /// The table of all operations.
  static const OperationTable &get();

  /// Null: unknown.
  const Operation *find(llvm::StringRef name) const;
  const llvm::StringMap<Operation> &all() const { return operations; }

  void handle(const llvm::Twine &name, Handler handler) {
    set(name, {Operation::Handled, reinterpret_cast<void *>(handler)});
  }
  template <typename Result> void read(const llvm::Twine &name, Result (*function)(const Thread *)) {
    set(name, {Operation::Read, reinterpret_cast<void *>(function)});
  }
  template <typename Result, typename... Arguments>
  void call(const llvm::Twine &name, Result (*function)(Arguments...)) {
    set(name, {Operation::Function, reinterpret_cast<void *>(function)});
  }
  void expand(const llvm::Twine &name, llvm::Value *(*function)(llvm::IRBuilderBase &, llvm::CallInst &)) {
    set(name, {Operation::Expanded, nullptr, function});
  }
  void drop(const llvm::Twine &name) { set(name, {Operation::Dropped}); }

private:
  void set(const llvm::Twine &name, Operation operation);
  llvm::StringMap<Operation> operations;
};

/// What intrinsics' names begin with.
constexpr const char *kNvvm = "llvm.nvvm.";

void addSpecialRegisters(OperationTable &table);
void addMath(OperationTable &table);
void addWarpOperations(OperationTable &table);
void addBarriers(OperationTable &table);
void addMBarriers(OperationTable &table);
void addAsyncCopies(OperationTable &table);
void addBulkCopies(OperationTable &table);
void addMatrixOperations(OperationTable &table);
void addWarpGroupOperations(OperationTable &table);
void addRegisterOperations(OperationTable &table);

/// The value in an argument's slot.
template <typename Value> Value argument(const uint64_t *arguments, unsigned index) {
  Value value;
  std::memcpy(&value, arguments + index, sizeof(value));
  return value;
}

template <typename Value> void setResult(void *results, Value value, unsigned offset = 0) {
  std::memcpy(static_cast<char *>(results) + offset, &value, sizeof(value));
}

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_OPERATIONS_H
