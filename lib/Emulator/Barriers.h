//===- Barriers.h - what threads of a block wait for ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_BARRIERS_H
#define ATTN_LIB_EMULATOR_BARRIERS_H

#include "Block.h"

namespace attn::emulator {

/// A thread has exited: barriers of all threads that waited for it alone are complete.
void completeBarriersOfAll(Block &block);

/// The index of the mbarrier at a shared address.
uint32_t findMBarrier(Thread &thread, const Site &site, uint64_t address);

/// Arrivals of a thread, which hand on what it knows.
void arriveAtMBarrier(Thread &thread, const Site &site, uint32_t index, uint32_t count);

/// Bytes that a copy has brought: the transaction count falls. What the copy wrote is at the mbarrier's own clock.
void completeBytes(Block &block, uint32_t index, uint32_t bytes);

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_BARRIERS_H
