//===- AsyncCopies.h - cp.async and bulk copies --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_ASYNCCOPIES_H
#define ATTN_LIB_EMULATOR_ASYNCCOPIES_H

#include "Block.h"

namespace attn::emulator {

/// Lets one of block.loads happen; there is one.
void deliverLoad(Block &block);

/// All cp.async that the thread has issued are done; clock: when, on the thread's own.
void settleCopies(Thread &thread, size_t count);

/// Error: the thread exits while bulk stores may still read shared memory.
void checkStoresAreDone(Thread &thread);

/// Where the swizzle pattern of that many bytes (0, 32, 64, 128) puts what is at an offset of shared memory: 16-byte
/// chunks are permuted within groups of 256, 512 or 1024 bytes.
///   128: bits 4 to 6 of the offset are xored with bits 7 to 9; 64: 4 and 5 with 7 and 8; 32: 4 with 7.
inline uint32_t swizzle(uint32_t offset, uint32_t bytes) {
  uint32_t mask = bytes ? bytes / 16 - 1 : 0;
  return offset ^ (offset >> 7 & mask) << 4;
}

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_ASYNCCOPIES_H
