//===- InitAllDialects.h - register our dialects --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INITALLDIALECTS_H
#define ATTN_INITALLDIALECTS_H

#include "attn/Dialect/Flash/IR/FlashOps.h"

namespace attn {

/// Adds our dialects and their external models of upstream interfaces.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<AttnDialect, flash::FlashDialect>();
  registerBufferizableOpInterfaceModels(registry);
}

} // namespace attn

#endif // ATTN_INITALLDIALECTS_H
