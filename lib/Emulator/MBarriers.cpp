//===- MBarriers.cpp - mbarrier objects in shared memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mbarrier's state is kept beside shared memory; its eight bytes there only say, in shadow memory, that it was
// initialised, so that an access without a barrier after the initialisation is a race.
//
//===----------------------------------------------------------------------===//

#include "Barriers.h"
#include "Operations.h"

using namespace attn::emulator;

static constexpr uint32_t kBytes = 8;
static constexpr uint32_t kMostArrivals = (1 << 20) - 1;

/// The place in block.mbarriers, or its size.
static uint32_t findOffset(const Block &block, uint32_t offset) {
  uint32_t index = 0;
  while (index < block.mbarriers.size() && block.mbarriers[index].offset != offset)
    ++index;
  return index;
}

uint32_t attn::emulator::findMBarrier(Thread &thread, const Site &site, uint64_t address) {
  Block &block = *thread.block;
  char *memory = block.shared(thread, site, address, kBytes, kBytes);
  uint32_t index = findOffset(block, block.offsetOf(memory));
  if (index == block.mbarriers.size() || !block.mbarriers[index].isValid)
    block.fail(thread, site,
               "uses an mbarrier at offset " + llvm::Twine(block.offsetOf(memory)) +
                   " of shared memory, which is not initialised");
  block.noteRead(thread, site, memory, kBytes);
  return index;
}

static void completePhase(Block &block, uint32_t index) {
  MBarrier &barrier = block.mbarriers[index];
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn())
    clocks.join(clocks.phaseRow(index), clocks.row(clocks.mbarrier(index)));
  block.wakeAll(barrier.waiting);
  block.noteProgress();
}

void attn::emulator::arriveAtMBarrier(Thread &thread, const Site &site, uint32_t index, uint32_t count) {
  Block &block = *thread.block;
  MBarrier &barrier = block.mbarriers[index];
  if (count > barrier.pending)
    block.fail(thread, site,
               "arrives at the mbarrier at offset " + llvm::Twine(barrier.offset) + " " + llvm::Twine(count) +
                   (count == 1 ? " time" : " times") + ", but its phase expects " + llvm::Twine(barrier.pending) +
                   " more");
  Clocks &clocks = block.shadow.clocks;
  if (clocks.isOn()) {
    clocks.join(clocks.row(clocks.mbarrier(index)), clocks.row(thread.index));
    clocks.tick(thread.index);
  }
  barrier.pending -= count;
  completePhase(block, index);
}

void attn::emulator::completeBytes(Block &block, uint32_t index, uint32_t bytes) {
  block.mbarriers[index].bytes -= bytes;
  completePhase(block, index);
}

//===----------------------------------------------------------------------===//
// Initialisation
//===----------------------------------------------------------------------===//

static void initialize(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  char *memory = block.shared(thread, site, argument<uint64_t>(arguments, 0), kBytes, kBytes);
  auto count = argument<uint32_t>(arguments, 1);
  if (count == 0 || count > kMostArrivals)
    block.fail(thread, site, "expects 1 to 1048575 arrivals, but got " + llvm::Twine(count));
  uint32_t index = findOffset(block, block.offsetOf(memory));
  if (index < block.mbarriers.size() && block.mbarriers[index].isValid)
    block.fail(thread, site,
               "initialises the mbarrier at offset " + llvm::Twine(block.offsetOf(memory)) +
                   " again; mbarrier.inval comes first");
  if (index == Clocks::kMBarriers)
    block.fail(thread, site, "the emulator keeps at most 64 mbarriers");
  block.noteWrite(thread, site, memory, kBytes);
  if (index == block.mbarriers.size())
    block.mbarriers.emplace_back();
  block.mbarriers[index] = MBarrier{block.offsetOf(memory), true, count, count, 0, 0, {}};
}

static void invalidate(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  MBarrier &barrier = block.mbarriers[findMBarrier(thread, site, argument<uint64_t>(arguments, 0))];
  block.noteWrite(thread, site, block.sharedBase() + barrier.offset, kBytes);
  barrier.isValid = false;
}

//===----------------------------------------------------------------------===//
// Arrivals: the result is a token of the phase
//===----------------------------------------------------------------------===//

enum class Count { One, Argument };

template <Count Kind> static void arrive(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  uint32_t index = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  setResult(results, thread.block->mbarriers[index].phase);
  arriveAtMBarrier(thread, site, index, Kind == Count::One ? 1 : argument<uint32_t>(arguments, 1));
}

static void expectBytes(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  uint32_t index = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  thread.block->mbarriers[index].bytes += argument<uint32_t>(arguments, 1);
}

static void arriveExpecting(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  expectBytes(thread, site, arguments, results);
  arrive<Count::One>(thread, site, arguments, results);
}

/// Leaves the mbarrier: later phases expect one arrival less.
static void arriveAndDrop(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  uint32_t index = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  --thread.block->mbarriers[index].expected;
  setResult(results, thread.block->mbarriers[index].phase);
  arriveAtMBarrier(thread, site, index, 1);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

static void acquire(Thread &thread, uint32_t index) {
  Clocks &clocks = thread.block->shadow.clocks;
  if (clocks.isOn())
    clocks.join(clocks.row(thread.index), clocks.phaseRow(index));
}

static void waitParity(Thread &thread, const Site &site, const uint64_t *arguments, void *) {
  Block &block = *thread.block;
  uint32_t index = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  uint32_t parity = argument<uint32_t>(arguments, 1) & 1;
  while ((block.mbarriers[index].phase & 1) == parity) {
    thread.waitsFor = index;
    block.mbarriers[index].waiting.push(thread);
    block.park(thread, Wait::MBarrier, site);
  }
  acquire(thread, index);
}

/// HasParity: the argument is a parity, else a token. Whoever is told no goes to the end of the queue.
template <bool HasParity>
static void testWait(Thread &thread, const Site &site, const uint64_t *arguments, void *results) {
  Block &block = *thread.block;
  uint32_t index = findMBarrier(thread, site, argument<uint64_t>(arguments, 0));
  uint64_t phase = block.mbarriers[index].phase;
  bool isDone =
      HasParity ? (phase & 1) != (argument<uint32_t>(arguments, 1) & 1) : phase != argument<uint64_t>(arguments, 1);
  setResult(results, uint8_t(isDone));
  if (isDone)
    return acquire(thread, index);
  thread.waitsFor = index;
  block.yield(thread, site);
}

void attn::emulator::addMBarriers(OperationTable &table) {
  const std::string prefix = std::string(kNvvm) + "mbarrier.";
  for (const char *space : {"", ".shared"}) {
    table.handle(prefix + "init" + space, initialize);
    table.handle(prefix + "inval" + space, invalidate);
    table.handle(prefix + "arrive" + space, arrive<Count::One>);
    table.handle(prefix + "arrive.noComplete" + space, arrive<Count::Argument>);
    table.handle(prefix + "arrive.drop" + space, arriveAndDrop);
    table.handle(prefix + "test.wait" + space, testWait<false>);
  }
  // Each block is a cluster of its own, so scopes and spaces do not differ.
  for (const char *order : {"", "relaxed."})
    for (const char *scope : {"scope.cta.", "scope.cluster."}) {
      for (const char *space : {"space.cta", "space.cluster"}) {
        std::string suffix = std::string(order) + scope + space;
        table.handle(prefix + "arrive." + suffix, arrive<Count::Argument>);
        table.handle(prefix + "arrive.expect.tx." + suffix, arriveExpecting);
      }
      std::string suffix = std::string(order) + scope + "space.cta";
      table.handle(prefix + "test.wait." + suffix, testWait<false>);
      table.handle(prefix + "try.wait." + suffix, testWait<false>);
      table.handle(prefix + "try.wait.tl." + suffix, testWait<false>);
      table.handle(prefix + "test.wait.parity." + suffix, testWait<true>);
      table.handle(prefix + "try.wait.parity." + suffix, testWait<true>);
      table.handle(prefix + "try.wait.parity.tl." + suffix, testWait<true>);
    }
  for (const char *scope : {"scope.cta.", "scope.cluster."})
    for (const char *space : {"space.cta", "space.cluster"})
      table.handle(prefix + "expect.tx." + scope + space, expectBytes);
  table.handle("attn_dev_mbarrier_wait", waitParity);
  table.drop(kNvvm + llvm::Twine("fence.mbarrier_init.release.cluster"));
}
