//===- Patterns.h - parts of convert-flash-to-llvm -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_CONVERSION_FLASHTOLLVM_PATTERNS_H
#define ATTN_LIB_CONVERSION_FLASHTOLLVM_PATTERNS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace attn::machine {

/// flash.parallel_for, flash.require and cf.assert -> calls of the runtime.
void populateRuntimeCallPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

/// A function for which an entry is made, as it was before the conversion.
struct EntryFunction {
  mlir::StringAttr name;
  mlir::FunctionType type;
  /// How many of the last arguments are results.
  int64_t results;
};

/// The public functions with a body and without results.
llvm::SmallVector<EntryFunction> collectEntryFunctions(mlir::ModuleOp module);

/// Adds `attn_entry_<name>(ptr arguments)` for each function, and makes every other function with a body internal: a
/// name of the program's can then hide none of the C library's. Error if an entry's name is taken. With `checksBounds`
/// entries make their tensors known to the runtime.
mlir::LogicalResult createEntries(mlir::ModuleOp module, llvm::ArrayRef<EntryFunction> functions,
                                  const mlir::LLVMTypeConverter &converter, bool checksBounds);

/// The address of the zero-terminated text; equal texts share one global.
mlir::Value messageAddress(mlir::ImplicitLocOpBuilder &b, mlir::ModuleOp module, llvm::StringRef message);

/// Patterns of code whose memory is a device's: launches; elements that the host reads and writes.
void populateDeviceCallPatterns(const mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace attn::machine

#endif // ATTN_LIB_CONVERSION_FLASHTOLLVM_PATTERNS_H
