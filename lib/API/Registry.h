//===- Registry.h - dialects that the API parses ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_REGISTRY_H
#define ATTN_LIB_API_REGISTRY_H

#include "mlir/IR/DialectRegistry.h"

namespace attn {

/// What a module may hold, and what compiling it needs.
const mlir::DialectRegistry &compilerDialects();

} // namespace attn

#endif // ATTN_LIB_API_REGISTRY_H
