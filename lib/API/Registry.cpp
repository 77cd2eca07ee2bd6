//===- Registry.cpp - dialects that the API parses ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Registry.h"

#include "attn/Pipelines/Pipelines.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

const mlir::DialectRegistry &attn::compilerDialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry made;
    registerPipelineDialects(made);
    mlir::registerBuiltinDialectTranslation(made);
    mlir::registerLLVMDialectTranslation(made);
    return made;
  }();
  return registry;
}
