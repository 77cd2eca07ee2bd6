//===- Shadow.h - who accessed shared memory, and what is ordered --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races are found by vector clocks. Each actor counts its releases; row(actor)[other] says up to which release of
// `other` all that it did is known to `actor`. For every two bytes of shared memory the last write and up to three
// reads are kept; an access conflicts with one of them that its actor's row does not cover. Clocks go on from block to
// block, so what earlier blocks did is known to all.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_EMULATOR_SHADOW_H
#define ATTN_LIB_EMULATOR_SHADOW_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attn::emulator {

/// Who accesses memory: threads, then asynchronous engines.
using Actor = uint32_t;

/// The clocks of a block.
class Clocks {
public:
  static constexpr uint32_t kMBarriers = 64;
  static constexpr uint32_t kWarpGroups = 8;
  /// Threads that issue bulk stores; more of them share one.
  static constexpr uint32_t kStores = 32;

  /// Starts a block: all actors know all that came before. Without isOn nothing is tracked.
  void start(uint32_t threads, bool isOn);

  bool isOn() const { return on; }
  /// Clocks up to this one are of earlier blocks.
  uint32_t base() const { return blockStart; }

  Actor mbarrier(uint32_t index) const { return threads + index; }
  Actor warpGroup(uint32_t index) const { return threads + kMBarriers + index; }
  Actor store(uint32_t index) const { return threads + kMBarriers + kWarpGroups + index; }
  bool isThread(Actor actor) const { return actor < threads; }

  /// Null where nothing is tracked.
  uint32_t *row(Actor actor) { return on ? rows.data() + size_t(actor) * 2 * columns : nullptr; }
  /// What those that arrived at a named barrier knew.
  uint32_t *barrierRow(uint32_t barrier) { return row(columns + barrier); }
  /// What the completed phases of an mbarrier hand on; its own row gathers for the phase that runs.
  uint32_t *phaseRow(uint32_t mbarrier) { return row(columns + kBarriers + mbarrier); }

  /// All that the actor knows is visible to the asynchronous engines.
  void fence(Actor actor);
  bool isFenced(const uint32_t *row, Actor actor, uint32_t clock) const { return clock <= row[columns + actor]; }
  /// The row's owner knows what the other one's does.
  void join(uint32_t *into, const uint32_t *from) const;
  /// What the actor does from now on is not known to those that joined its row before.
  void tick(Actor actor) {
    uint32_t &own = row(actor)[actor];
    ++own;
    latest = own > latest ? own : latest;
  }
  /// For actors that count by themselves: what they do in their n-th step, from 1, has this clock.
  uint32_t step(uint32_t n) {
    uint32_t clock = blockStart + n;
    latest = clock > latest ? clock : latest;
    return clock;
  }
  /// The row's owner knows the actor's steps up to the n-th.
  void raise(uint32_t *row, Actor actor, uint32_t n) {
    row[actor] = row[actor] > blockStart + n ? row[actor] : blockStart + n;
  }
  void forget(uint32_t *row) const {
    for (uint32_t k = 0; k < 2 * columns; ++k)
      row[k] = blockStart;
  }

private:
  static constexpr uint32_t kBarriers = 16;
  bool on = false;
  uint32_t threads = 0;
  /// Actors, rounded up: half of a row.
  uint32_t columns = 0;
  uint32_t blockStart = 0;
  uint32_t latest = 0;
  std::vector<uint32_t> rows;
};

/// An access of two bytes of shared memory.
struct Access {
  uint32_t clock;
  uint32_t actor : 11;
  /// Which of the two bytes.
  uint32_t bytes : 2;
  /// In a write: which of them this block has written.
  uint32_t written : 2;
  /// A copy that is not waited for.
  uint32_t isPending : 1;
  /// A thread's plain write, which the asynchronous engines do not see by themselves.
  uint32_t isPlain : 1;
  /// Site::index of the operation.
  uint32_t site : 15;
};

/// The site of operations behind the first 32767.
constexpr uint32_t kFarSite = 0x7FFF;

/// Why an access is wrong.
struct Conflict {
  enum Kind { None, Race, Pending, Uninitialized, Unfenced } kind = None;
  /// The offset in shared memory that is in conflict.
  uint32_t offset = 0;
  /// What it conflicts with, a write or a read. Not for Uninitialized.
  Access other = {};
  bool otherIsWrite = false;
};

/// Shadow memory of one block's shared memory. Offsets and sizes in bytes, in range.
class Shadow {
public:
  /// Starts a block with that much shared memory.
  void start(uint32_t bytes, uint32_t threads, bool races, bool uninitialized);

  bool isOn() const { return clocks.isOn() || checksWritten; }

  /// `actor` reads, knowing what `row` does; the read is at that clock of the actor's. isAsync: it is an engine.
  Conflict read(Actor actor, uint32_t clock, const uint32_t *row, uint32_t offset, uint32_t bytes, uint32_t site,
                bool isAsync = false);
  /// isPending: the write goes on until `settle`. `actor` is who orders it then; `row` is the issuing thread's.
  Conflict write(Actor actor, const uint32_t *row, uint32_t offset, uint32_t bytes, uint32_t site,
                 bool isPending = false);
  /// A pending write of the actor is done, at the given clock of it.
  void settle(Actor actor, uint32_t clock, uint32_t offset, uint32_t bytes);

  Clocks clocks;

private:
  static constexpr uint32_t kReads = 3;
  struct Granule {
    Access write;
    Access reads[kReads];
  };

  /// A write that this block issued and has not waited for.
  bool hasPending(const Granule &granule, uint32_t bytes) const {
    return granule.write.isPending && (granule.write.bytes & bytes) && granule.write.clock > clocks.base();
  }
  bool isWritten(const Granule &granule, uint32_t bytes) const {
    return granule.write.clock > clocks.base() && (granule.write.written & bytes) == bytes;
  }
  void addRead(Granule &granule, Access read, const uint32_t *row);

  bool checksWritten = false;
  std::vector<Granule> granules;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_SHADOW_H
