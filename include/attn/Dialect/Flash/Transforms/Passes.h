//===- Passes.h - passes on the tiled and target level -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_PASSES_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn::flash {

#define GEN_PASS_DECL
#include "Flash/FlashPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "Flash/FlashPasses.h.inc"

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_PASSES_H
