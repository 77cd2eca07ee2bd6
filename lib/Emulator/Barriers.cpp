//===- Barriers.cpp - bar.sync and its like -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Barriers.h"
#include "Operations.h"

using namespace attn::emulator;

//===----------------------------------------------------------------------===//
// Barriers of the block
//===----------------------------------------------------------------------===//

/// Lets all go on who waited, and the last one, who did not have to.
static void complete(Block &block, uint32_t number, Thread *last = nullptr) {
  NamedBarrier &barrier = block.barriers[number];
  Clocks &clocks = block.shadow.clocks;
  auto acquire = [&](Thread &thread) {
    thread.trues = barrier.trues;
    thread.arrivals = barrier.arrived;
    if (clocks.isOn())
      clocks.join(clocks.row(thread.index), clocks.barrierRow(number));
  };
  while (Thread *thread = barrier.waiting.pop()) {
    acquire(*thread);
    block.wake(*thread);
  }
  if (last)
    acquire(*last);
  barrier = NamedBarrier();
  ++block.counters.barriers;
  block.noteProgress();
}

static uint32_t countExpected(const Block &block, const NamedBarrier &barrier) {
  return barrier.expected ? barrier.expected : block.alive;
}

void attn::emulator::completeBarriersOfAll(Block &block) {
  for (uint32_t number = 0; number < kNamedBarriers; ++number) {
    const NamedBarrier &barrier = block.barriers[number];
    if (barrier.arrived && !barrier.expected && barrier.arrived == block.alive)
      complete(block, number);
  }
}

/// Counts a thread in. True: it was the last.
static bool arriveAt(Thread &thread, const Site &site, uint32_t number, uint32_t count, bool isTrue) {
  Block &block = *thread.block;
  if (number >= kNamedBarriers)
    block.fail(thread, site, "barrier " + llvm::Twine(number) + " does not exist: there are 16");
  if (count % kWarpSize)
    block.fail(thread, site, "expects a multiple of 32 threads, but got " + llvm::Twine(count));
  NamedBarrier &barrier = block.barriers[number];
  if (barrier.arrived && barrier.expected != count)
    block.fail(thread, site,
               "barrier " + llvm::Twine(number) + " is in use for " + llvm::Twine(countExpected(block, barrier)) +
                   " threads, but this one says " + llvm::Twine(count ? count : block.alive));
  barrier.expected = count;
  barrier.trues += isTrue;
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn()) {
    if (!barrier.arrived)
      clocks.forget(clocks.barrierRow(number));
    clocks.join(clocks.barrierRow(number), clocks.row(thread.index));
    clocks.tick(thread.index);
  }
  return ++barrier.arrived == countExpected(block, barrier);
}

static void wait(Thread &thread, const Site &site, uint32_t number, uint32_t count, bool isTrue) {
  Block &block = *thread.block;
  if (arriveAt(thread, site, number, count, isTrue))
    return complete(block, number, &thread);
  thread.waitsFor = number;
  block.barriers[number].waiting.push(thread);
  block.park(thread, Wait::Barrier, site);
}

template <bool HasCount> static void sync(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  wait(thread, site, argument<uint32_t>(arguments, 0), HasCount ? argument<uint32_t>(arguments, 1) : 0, false);
}

static void arrive(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  auto number = argument<uint32_t>(arguments, 0);
  auto count = argument<uint32_t>(arguments, 1);
  if (!count)
    thread.block->fail(thread, site, "expects a number of threads above 0");
  if (arriveAt(thread, site, number, count, false))
    complete(*thread.block, number);
}

enum class Reduction { And, Or, Count };

template <Reduction Kind, bool HasCount>
static void reduce(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  bool isTrue = argument<uint8_t>(arguments, HasCount ? 2 : 1) & 1;
  wait(thread, site, argument<uint32_t>(arguments, 0), HasCount ? argument<uint32_t>(arguments, 1) : 0, isTrue);
  if (Kind == Reduction::Count)
    setResult(results, thread.trues);
  else
    setResult(results, uint8_t(Kind == Reduction::And ? thread.trues == thread.arrivals : thread.trues > 0));
}

//===----------------------------------------------------------------------===//
// bar.warp.sync: mask
//===----------------------------------------------------------------------===//

static void syncWarp(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  Block &block = *thread.block;
  auto mask = argument<uint32_t>(arguments, 0);
  if (!block.arrive(thread, site, mask, arguments, results))
    return;
  Warp &warp = *thread.warp;
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn()) {
    // All that each lane knows, gathered in the last one's row.
    for (uint32_t rest = mask & warp.lanes; rest; rest &= rest - 1)
      clocks.join(clocks.row(thread.index), clocks.row(warp.threads[__builtin_ctz(rest)].index));
    for (uint32_t rest = mask & warp.lanes; rest; rest &= rest - 1) {
      Thread &other = warp.threads[__builtin_ctz(rest)];
      clocks.join(clocks.row(other.index), clocks.row(thread.index));
    }
    for (uint32_t rest = mask & warp.lanes; rest; rest &= rest - 1)
      clocks.tick(warp.threads[__builtin_ctz(rest)].index);
  }
  block.release(thread, mask);
}

/// The thread is done.
static void exitThread(Thread &thread, const Site &, const uint64_t *, void *) { thread.block->exit(thread); }

/// Others go first.
static void letOthersRun(Thread &thread, const Site &site, const uint64_t *, void *) {
  thread.block->noteProgress();
  // No mbarrier.
  thread.waitsFor = ~0u;
  thread.block->yield(thread, site);
}

void attn::emulator::addBarriers(OperationTable &table) {
  const std::string prefix = kNvvm;
  for (const char *aligned : {".aligned", ""}) {
    const std::string barrier = prefix + "barrier.cta.";
    table.handle(barrier + "sync" + aligned + ".all", sync<false>);
    table.handle(barrier + "sync" + aligned + ".count", sync<true>);
    table.handle(barrier + "arrive" + aligned + ".count", arrive);
    table.handle(barrier + "red.and" + aligned + ".all", reduce<Reduction::And, false>);
    table.handle(barrier + "red.or" + aligned + ".all", reduce<Reduction::Or, false>);
    table.handle(barrier + "red.popc" + aligned + ".all", reduce<Reduction::Count, false>);
    table.handle(barrier + "red.and" + aligned + ".count", reduce<Reduction::And, true>);
    table.handle(barrier + "red.or" + aligned + ".count", reduce<Reduction::Or, true>);
    table.handle(barrier + "red.popc" + aligned + ".count", reduce<Reduction::Count, true>);
  }
  table.handle(prefix + "bar.warp.sync", syncWarp);
  table.handle(prefix + "exit", exitThread);
  table.handle(prefix + "nanosleep", letOthersRun);
  for (const char *fence : {"membar.cta", "membar.gl", "membar.sys"})
    table.drop(prefix + fence);
}
