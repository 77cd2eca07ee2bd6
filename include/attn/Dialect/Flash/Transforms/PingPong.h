//===- PingPong.h - two warpgroups multiply by turns ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_FLASH_TRANSFORMS_PINGPONG_H
#define ATTN_DIALECT_FLASH_TRANSFORMS_PINGPONG_H

namespace mlir {
class Operation;
} // namespace mlir

namespace attn::flash {

/// Says of the products below `root`, which are split, where a turn begins and ends, as flash-ping-pong has it.
void takeTurns(mlir::Operation *root);

} // namespace attn::flash

#endif // ATTN_DIALECT_FLASH_TRANSFORMS_PINGPONG_H
