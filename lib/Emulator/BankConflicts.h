//===- BankConflicts.h - cycles that shared memory takes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_BANKCONFLICTS_H
#define ATTN_LIB_EMULATOR_BANKCONFLICTS_H

#include <cstdint>
#include <deque>
#include <unordered_map>

namespace attn::emulator {

/// Cycles beyond the first that the accesses of `count` lanes take: `bytes` each (a power of two up to 16), at the
/// given offsets in shared memory. It has 32 banks of 4 bytes; lanes that need the same word share it. 8 bytes a lane
/// are served 16 lanes at a time, 16 bytes 8 lanes.
uint32_t countBankConflicts(const uint32_t *offsets, uint32_t count, uint32_t bytes);

/// Finds accesses that lanes of a warp make together. Lanes run one after the other here, so an access is told from the
/// next one by how often the lane has been at that place before.
class BankConflicts {
public:
  void clear() { open.clear(); }
  /// Returns the conflicts of an access that is now known whole: all of `lanes` made it, or it was given up.
  uint32_t add(uint32_t warp, uint32_t site, uint32_t lane, uint32_t lanes, uint32_t offset, uint32_t bytes);
  /// The conflicts of all that is not whole, which is what some lanes skipped.
  uint32_t finish();

private:
  struct Group {
    uint32_t occurrence;
    uint32_t arrived;
    uint32_t bytes;
    uint32_t offsets[32];
  };
  struct Place {
    uint32_t occurrences[32] = {};
    std::deque<Group> groups;
  };
  static uint32_t count(const Group &group);

  /// By warp and site.
  std::unordered_map<uint64_t, Place> open;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_BANKCONFLICTS_H
