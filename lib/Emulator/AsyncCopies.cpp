//===- AsyncCopies.cpp - cp.async ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy happens when it is issued or, lazily, at the thread's wait for its group. Until then shadow memory has a
// pending write, which no access may meet.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "Barriers.h"
#include "Operations.h"

using namespace attn::emulator;

static void perform(const AsyncCopy &copy) {
  std::memcpy(copy.target, copy.source, copy.valid);
  std::memset(copy.target + copy.valid, 0, copy.bytes - copy.valid);
}

/// shared, global, and with HasSize the bytes to read; the rest becomes zeros.
template <uint32_t Bytes, bool HasSize>
static void copyAsync(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  auto source = argument<uint64_t>(arguments, 1);
  if (source % Bytes)
    block.fail(thread, site, "reads a global address that is not a multiple of " + llvm::Twine(Bytes));
  uint32_t valid = HasSize ? argument<uint32_t>(arguments, 2) : Bytes;
  if (valid > Bytes)
    block.fail(thread, site, "expects to read at most " + llvm::Twine(Bytes) + " bytes, but got " + llvm::Twine(valid));
  char *target = block.shared(thread, site, argument<uint64_t>(arguments, 0), Bytes, Bytes);
  block.noteWrite(thread, site, thread.index, target, Bytes, /*isPending=*/true);
  thread.copies.push_back({reinterpret_cast<const char *>(source), target, Bytes, valid});
  if (!block.isLazy())
    perform(thread.copies.back());
  ++block.counters.copies;
  block.counters.copiedBytes += Bytes;
}

void attn::emulator::settleCopies(Thread &thread, size_t count) {
  Block &block = *thread.block;
  Shadow &shadow = block.shadow;
  const uint32_t *row = shadow.clocks.row(thread.index);
  for (size_t k = 0; k < count; ++k) {
    const AsyncCopy &copy = thread.copies[k];
    if (block.isLazy())
      perform(copy);
    if (shadow.isOn())
      shadow.settle(thread.index, row ? row[thread.index] : 0, block.offsetOf(copy.target), copy.bytes);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + count);
}

static void commit(Thread &thread, const Site &, const uint64_t *, void *) {
  thread.groupEnds.push_back(uint32_t(thread.copies.size()));
}

/// All but the latest `pending` groups are done.
static void waitGroups(Thread &thread, size_t pending) {
  std::vector<uint32_t> &ends = thread.groupEnds;
  if (ends.size() <= pending)
    return;
  size_t done = ends.size() - pending;
  uint32_t copies = ends[done - 1];
  settleCopies(thread, copies);
  ends.erase(ends.begin(), ends.begin() + done);
  for (uint32_t &end : ends)
    end -= copies;
}

static void waitGroup(Thread &thread, const Site &, const uint64_t *arguments, void *) {
  waitGroups(thread, argument<uint32_t>(arguments, 0));
}

static void waitAll(Thread &thread, const Site &, const uint64_t *, void *) {
  settleCopies(thread, thread.copies.size());
  thread.groupEnds.clear();
}

/// Arrives at an mbarrier when the thread's copies so far are done. Counts: the arrival is one of those that the
/// mbarrier expects; else it is added to them first.
template <bool Counts> static void arriveOnCopies(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  BulkCopy arrival = {};
  arrival.site = &site;
  arrival.thread = &thread;
  arrival.signal = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  arrival.isArrival = true;
  if (!Counts)
    ++block.mbarriers[arrival.signal].pending;
  block.loads.push_back(arrival);
  if (!block.isLazy())
    deliverLoad(block);
}

void attn::emulator::addAsyncCopies(OperationTable &table) {
  const std::string prefix = std::string(kNvvm) + "cp.async.";
  table.handle(prefix + "ca.shared.global.4", copyAsync<4, false>);
  table.handle(prefix + "ca.shared.global.8", copyAsync<8, false>);
  table.handle(prefix + "ca.shared.global.16", copyAsync<16, false>);
  table.handle(prefix + "cg.shared.global.16", copyAsync<16, false>);
  table.handle(prefix + "ca.shared.global.4.s", copyAsync<4, true>);
  table.handle(prefix + "ca.shared.global.8.s", copyAsync<8, true>);
  table.handle(prefix + "ca.shared.global.16.s", copyAsync<16, true>);
  table.handle(prefix + "cg.shared.global.16.s", copyAsync<16, true>);
  table.handle(prefix + "commit.group", commit);
  table.handle(prefix + "wait.group", waitGroup);
  table.handle(prefix + "wait.all", waitAll);
  for (const char *space : {"", ".shared"}) {
    table.handle(prefix + "mbarrier.arrive" + space, arriveOnCopies<false>);
    table.handle(prefix + "mbarrier.arrive.noinc" + space, arriveOnCopies<true>);
  }
}
