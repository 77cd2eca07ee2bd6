//===- Shadow.cpp - who accessed shared memory, and what is ordered -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Shadow.h"
#include "Vectorize.h"
#include <algorithm>

using namespace attn::emulator;

void Clocks::start(uint32_t threadCount, bool isOn) {
  on = isOn;
  threads = threadCount;
  columns = (threads + kMBarriers + kWarpGroups + kStores + 7) / 8 * 8;
  blockStart = latest;
  latest = blockStart + 1;
  if (!on)
    return;
  rows.assign(size_t(columns + kBarriers + kMBarriers) * 2 * columns, blockStart);
  for (Actor actor = 0; actor < columns; ++actor)
    row(actor)[actor] = blockStart + 1;
}

ATTN_EMULATOR_VECTORIZED
static void takeGreater(uint32_t *into, const uint32_t *from, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k)
    into[k] = into[k] > from[k] ? into[k] : from[k];
}

void Clocks::join(uint32_t *into, const uint32_t *from) const { takeGreater(into, from, 2 * columns); }

void Clocks::fence(Actor actor) {
  takeGreater(row(actor) + columns, row(actor), columns);
  tick(actor);
}

void Shadow::start(uint32_t bytes, uint32_t threads, bool races, bool uninitialized) {
  checksWritten = uninitialized;
  clocks.start(threads, races);
  if (!isOn())
    return;
  size_t count = (bytes + 1) / 2;
  // Clocks must not come round: long before, all is forgotten.
  if (clocks.base() > uint32_t(1) << 30) {
    granules.clear();
    clocks = Clocks();
    clocks.start(threads, races);
  }
  if (granules.size() < count)
    granules.resize(count, Granule{});
}

/// The bytes of the granule at `offset` (even) that [begin, end) covers.
static uint32_t bytesOf(uint32_t offset, uint32_t begin, uint32_t end) {
  return (offset >= begin ? 1 : 0) | (offset + 1 < end ? 2 : 0);
}

static bool isUnordered(const Access &access, const uint32_t *row, uint32_t bytes) {
  return access.clock > row[access.actor] && (access.bytes & bytes);
}

void Shadow::addRead(Granule &granule, Access read, const uint32_t *row) {
  // In the place of the actor's own, or of one that this one's order covers, or of the oldest.
  uint32_t place = kReads;
  for (uint32_t k = 0; k < kReads; ++k) {
    const Access &other = granule.reads[k];
    if (other.actor == read.actor) {
      read.bytes |= other.clock == read.clock ? other.bytes : 0;
      place = k;
      break;
    }
    if (place == kReads && other.clock <= row[other.actor])
      place = k;
  }
  if (place == kReads) {
    std::copy_backward(granule.reads, granule.reads + kReads - 1, granule.reads + kReads);
    place = 0;
  }
  granule.reads[place] = read;
}

Conflict Shadow::read(Actor actor, uint32_t clock, const uint32_t *row, uint32_t offset, uint32_t bytes, uint32_t site,
                      bool isAsync) {
  const uint32_t end = offset + bytes;
  for (uint32_t at = offset & ~1u; at < end; at += 2) {
    Granule &granule = granules[at / 2];
    uint32_t used = bytesOf(at, offset, end);
    const Access &write = granule.write;
    if (hasPending(granule, used))
      return {Conflict::Pending, at, write, true};
    if (checksWritten && !isWritten(granule, used))
      return {Conflict::Uninitialized, at, {}, false};
    if (!clocks.isOn())
      continue;
    // The usual case: the actor has just read it.
    const Access &last = granule.reads[0];
    if (last.actor == actor && last.clock == clock && (last.bytes & used) == used)
      continue;
    if (isUnordered(write, row, used))
      return {Conflict::Race, at, write, true};
    if (isAsync && write.isPlain && (write.bytes & used) && !clocks.isFenced(row, write.actor, write.clock))
      return {Conflict::Unfenced, at, write, true};
    addRead(granule, {clock, actor, used, 0, 0, 0, std::min(site, kFarSite)}, row);
  }
  return {};
}

Conflict Shadow::write(Actor actor, const uint32_t *row, uint32_t offset, uint32_t bytes, uint32_t site,
                       bool isPending) {
  const uint32_t end = offset + bytes;
  for (uint32_t at = offset & ~1u; at < end; at += 2) {
    Granule &granule = granules[at / 2];
    uint32_t used = bytesOf(at, offset, end);
    if (hasPending(granule, used))
      return {Conflict::Pending, at, granule.write, true};
    if (clocks.isOn()) {
      if (isUnordered(granule.write, row, used))
        return {Conflict::Race, at, granule.write, true};
      for (const Access &read : granule.reads)
        if (isUnordered(read, row, used))
          return {Conflict::Race, at, read, false};
    }
    uint32_t written = granule.write.clock > clocks.base() ? granule.write.written : 0;
    // Without clocks any above the base will do.
    uint32_t clock = clocks.isOn() ? clocks.row(actor)[actor] : clocks.base() + 1;
    bool isPlain = !isPending && clocks.isThread(actor);
    granule.write = {clock, actor, used, written | used, isPending, isPlain, std::min(site, kFarSite)};
    // Reads that this write covers are ordered before it: who is ordered after it is after them.
    if (used == 3)
      for (Access &read : granule.reads)
        read.clock = 0;
  }
  return {};
}

void Shadow::settle(Actor actor, uint32_t clock, uint32_t offset, uint32_t bytes) {
  const uint32_t end = offset + bytes;
  for (uint32_t at = offset & ~1u; at < end; at += 2) {
    Access &write = granules[at / 2].write;
    if (!write.isPending || write.actor != actor)
      continue;
    write.isPending = 0;
    if (clocks.isOn())
      write.clock = clock;
  }
}
