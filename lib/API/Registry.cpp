//===- Registry.cpp - dialects that the API parses ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Registry.h"

#include "attn/CodeGen/Compile.h"

const mlir::DialectRegistry &attn::compilerDialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry made;
    registerCompiler(made);
    return made;
  }();
  return registry;
}
