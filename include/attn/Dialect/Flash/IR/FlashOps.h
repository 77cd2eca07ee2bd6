//===- FlashOps.h - the flash dialect ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_IR_FLASHOPS_H
#define ATTN_DIALECT_FLASH_IR_FLASHOPS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/SymbolTable.h"

#include "Flash/FlashDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Flash/FlashAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "Flash/FlashTypes.h.inc"
#define GET_OP_CLASSES
#include "Flash/FlashOps.h.inc"

#endif // ATTN_DIALECT_FLASH_IR_FLASHOPS_H
