//===- Operations.cpp - what stands for NVPTX's intrinsics --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operations.h"

using namespace attn::emulator;

const OperationTable &OperationTable::get() {
  static const OperationTable table = [] {
    OperationTable all;
    addSpecialRegisters(all);
    addMath(all);
    addWarpOperations(all);
    addBarriers(all);
    addMBarriers(all);
    addAsyncCopies(all);
    addBulkCopies(all);
    addMatrixOperations(all);
    addWarpGroupOperations(all);
    addRegisterOperations(all);
    return all;
  }();
  return table;
}

const Operation *OperationTable::find(llvm::StringRef name) const {
  auto found = operations.find(name);
  return found == operations.end() ? nullptr : &found->second;
}

void OperationTable::set(const llvm::Twine &name, Operation operation) { operations[name.str()] = operation; }
