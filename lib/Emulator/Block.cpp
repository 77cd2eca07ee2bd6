//===- Block.cpp - the threads of a block and what they wait for --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread runs until it waits, and switches then to the next that can run. Only when there is none does the scheduler
// run: it lets pending copies happen, lets threads look again at what they poll, or reports a deadlock. It has a stack
// of its own so that an error can be raised from everywhere: that leaves for the host, and all other stacks are
// forgotten.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "AsyncCopies.h"
#include "Barriers.h"
#include "WarpGroup.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace attn::emulator;

// Of a stack, beside the kernel's own variables: spilled registers, and what operations need.
static constexpr size_t kStackBytes = 128 << 10;
static constexpr size_t kGuardBytes = 4 << 10;
/// Polls of all threads that may change nothing before it counts as a deadlock.
static constexpr uint32_t kVainPolls = 1000;

static thread_local Thread *currentThread;
static thread_local Block *currentBlock;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void WaitList::push(Thread &thread) {
  thread.nextWaiting = nullptr;
  (first ? last->nextWaiting : first) = &thread;
  last = &thread;
}

Thread *WaitList::pop() {
  Thread *thread = first;
  if (thread)
    first = thread->nextWaiting;
  return thread;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Block::Block(SharedWindow window) : window(std::move(window)), schedulerStack(new char[kStackBytes]) {}

Block::~Block() {
  if (stacks)
    munmap(stacks, stackCount * stackStep());
}

size_t Block::stackStep() const { return stackBytes + kGuardBytes; }

llvm::Expected<std::unique_ptr<Block>> Block::create() {
  llvm::Expected<SharedWindow> window = SharedWindow::create();
  if (!window)
    return window.takeError();
  return std::unique_ptr<Block>(new Block(std::move(*window)));
}

/// One mapping, an inaccessible page under each stack.
bool Block::reserveStacks(uint32_t count, size_t bytes) {
  if (count <= stackCount && bytes <= stackBytes)
    return true;
  if (stacks)
    munmap(stacks, stackCount * stackStep());
  stackBytes = std::max(bytes, stackBytes);
  stackCount = 0;
  stacks =
      mmap(nullptr, count * stackStep(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) {
    stacks = nullptr;
    return false;
  }
  for (uint32_t k = 0; k < count; ++k)
    mprotect(static_cast<char *>(stacks) + k * stackStep(), kGuardBytes, PROT_NONE);
  stackCount = count;
  return true;
}

//===----------------------------------------------------------------------===//
// A block's run
//===----------------------------------------------------------------------===//

void Block::startThread(uint32_t index) {
  const int64_t *size = state->launch.block;
  Thread &thread = threads[index];
  std::vector<AsyncCopy> copies = std::move(thread.copies);
  std::vector<uint32_t> groupEnds = std::move(thread.groupEnds);
  static_cast<ThreadState &>(thread) = ThreadState();
  copies.clear();
  groupEnds.clear();
  thread.copies = std::move(copies);
  thread.groupEnds = std::move(groupEnds);
  thread.block = this;
  thread.warp = &warps[index / kWarpSize];
  thread.index = index;
  thread.lane = index % kWarpSize;
  thread.registers = registersAtStart(threadTotal);
  thread.id[0] = index % size[0];
  thread.id[1] = index / size[0] % size[1];
  thread.id[2] = index / size[0] / size[1];
  // Stacks at the same distance would share few lines of the first-level cache.
  size_t shift = index * 13 % 64 * 64;
  char *stack = static_cast<char *>(stacks) + index * stackStep() + kGuardBytes;
  thread.fiber.prepare(stack, stackBytes - shift, &Block::runThread);
  ready[index] = &thread;
}

void Block::start(const LaunchState &launchState, const uint32_t (&block)[3]) {
  state = &launchState;
  std::copy(block, block + 3, blockIndex);
  const int64_t *size = state->launch.block;
  alive = uint32_t(size[0] * size[1] * size[2]);
  threadTotal = alive;
  if (threadTotal > threadCapacity) {
    threads.reset(new Thread[threadTotal]);
    threadCapacity = threadTotal;
  }
  warps.assign((alive + kWarpSize - 1) / kWarpSize, Warp{});
  for (uint32_t k = 0; k < warps.size(); ++k) {
    uint32_t lanes = std::min(kWarpSize, alive - k * kWarpSize);
    warps[k].block = this;
    warps[k].index = k;
    warps[k].lanes = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    warps[k].threads = &threads[k * kWarpSize];
  }
  ready.assign(alive, nullptr);
  for (uint32_t k = 0; k < alive; ++k)
    startThread(k);
  firstReady = 0;
  readyCount = alive;
  polling.clear();
  vainPolls = 0;
  std::fill(std::begin(barriers), std::end(barriers), NamedBarrier());
  mbarriers.clear();
  loads.clear();
  freeRegisters = 0;
  waitingForRegisters = WaitList();
  storeActors = 0;
  warpGroups.resize((alive + kWarpGroupSize - 1) / kWarpGroupSize);
  for (std::unique_ptr<WarpGroup> &group : warpGroups)
    startWarpGroup(group);
  // Whatever was there before is NaN as a float.
  std::memset(window.base(), 0xFF, state->sharedBytes);
  shadow.start(state->sharedBytes, alive, state->options.checkRaces, state->options.checkUninitialized);
  bankConflicts.clear();
  uint64_t number = block[0] + state->launch.grid[0] * (block[1] + uint64_t(state->launch.grid[1]) * block[2]);
  random.seed(state->options.seed + number * 0x9E3779B97F4A7C15);
  failure.clear();
}

std::string Block::run(const LaunchState &launchState, const uint32_t (&block)[3]) {
  const int64_t *size = launchState.launch.block;
  size_t localBytes = (launchState.localBytes + kGuardBytes - 1) / kGuardBytes * kGuardBytes;
  if (!reserveStacks(uint32_t(size[0] * size[1] * size[2]), kStackBytes + localBytes))
    return "no memory for the stacks of a block's threads";
  start(launchState, block);
  currentBlock = this;
  scheduler.prepare(schedulerStack.get(), kStackBytes, &Block::runScheduler);
  host.switchTo(scheduler);
  currentBlock = nullptr;
  if (state->counts) {
    counters.bankConflicts += bankConflicts.finish();
    for (uint32_t k = 0; k < threadTotal; ++k)
      counters.instructions += threads[k].instructions;
  }
  return failure;
}

void Block::runThread() {
  Thread &thread = *currentThread;
  const LaunchState &state = *thread.block->state;
  state.entry(state.parameters);
  thread.block->exit(thread);
}

void Block::runScheduler() { currentBlock->schedule(); }

void Block::schedule() {
  while (alive) {
    if (Thread *next = takeReady()) {
      currentThread = next;
      scheduler.switchTo(next->fiber);
    } else if (!loads.empty()) {
      deliverLoad(*this);
    } else {
      resumePolling();
    }
  }
  leave();
}

/// Lets threads look again. Ends the block where nobody is left to change what they see.
void Block::resumePolling() {
  vainPolls = progress == progressAtPoll ? vainPolls + 1 : 0;
  if (polling.empty() || vainPolls > kVainPolls)
    failDeadlocked();
  progressAtPoll = progress;
  for (Thread *thread : polling)
    wake(*thread);
  polling.clear();
}

void Block::leave() { scheduler.switchTo(host, /*isLast=*/true), __builtin_unreachable(); }

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

Thread &Block::current() { return *currentThread; }

uint64_t Block::draw() { return random(); }

Thread *Block::takeReady() {
  if (!readyCount)
    return nullptr;
  uint32_t size = uint32_t(ready.size());
  uint32_t last = (firstReady + readyCount - 1) % size;
  --readyCount;
  switch (state->options.order) {
  case Order::Lifo:
    return ready[last];
  case Order::Random: {
    std::swap(ready[(firstReady + draw() % (readyCount + 1)) % size], ready[last]);
    return ready[last];
  }
  case Order::Fifo:
    break;
  }
  Thread *thread = ready[firstReady];
  firstReady = firstReady + 1 == size ? 0 : firstReady + 1;
  return thread;
}

void Block::wake(Thread &thread) {
  thread.wait = Wait::Nothing;
  uint32_t place = firstReady + readyCount++;
  ready[place < ready.size() ? place : place - ready.size()] = &thread;
}

void Block::wakeAll(WaitList &list) {
  while (Thread *thread = list.pop())
    wake(*thread);
}

void Block::park(Thread &thread, Wait wait, const Site &site) {
  thread.wait = wait;
  thread.site = &site;
  Thread *next = takeReady();
  if (!next)
    return thread.fiber.switchTo(scheduler);
  currentThread = next;
  thread.fiber.switchTo(next->fiber);
}

void Block::yield(Thread &thread, const Site &site) {
  polling.push_back(&thread);
  park(thread, Wait::Poll, site);
}

void Block::exit(Thread &thread) {
  thread.wait = Wait::Exited;
  --alive;
  noteProgress();
  checkStoresAreDone(thread);
  completeBarriersOfAll(*this);
  thread.fiber.switchTo(scheduler, /*isLast=*/true);
  __builtin_unreachable();
}

//===----------------------------------------------------------------------===//
// Collectives of a warp
//===----------------------------------------------------------------------===//

bool Block::arrive(Thread &thread, const Site &site, uint32_t mask, const uint64_t *arguments, void *results) {
  Warp &warp = *thread.warp;
  mask &= warp.lanes;
  if (!(mask >> thread.lane & 1))
    fail(thread, site,
         "the mask 0x" + llvm::Twine::utohexstr(mask) + " does not name the lane that executes it, " +
             llvm::Twine(thread.lane));
  Rendezvous &rendezvous = warp.rendezvous[__builtin_ctz(mask)];
  if (!rendezvous.arrived) {
    rendezvous.site = &site;
    rendezvous.mask = mask;
  } else if (rendezvous.site != &site || rendezvous.mask != mask) {
    failDivergent(thread, site, rendezvous, mask);
  }
  warp.arguments[thread.lane] = arguments;
  warp.results[thread.lane] = results;
  rendezvous.arrived |= 1u << thread.lane;
  if (rendezvous.arrived == mask)
    return true;
  park(thread, Wait::Collective, site);
  return false;
}

void Block::release(Thread &last, uint32_t mask) {
  Warp &warp = *last.warp;
  mask &= warp.lanes;
  warp.rendezvous[__builtin_ctz(mask)].arrived = 0;
  for (uint32_t rest = mask & ~(1u << last.lane); rest; rest &= rest - 1)
    wake(warp.threads[__builtin_ctz(rest)]);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

char *Block::shared(const Thread &thread, const Site &site, uint64_t address, uint32_t bytes, uint32_t alignment) {
  uint64_t offset = address - reinterpret_cast<uint64_t>(window.base());
  if (offset >= state->sharedBytes || state->sharedBytes - offset < bytes)
    fail(thread, site,
         "accesses " + llvm::Twine(bytes) + " bytes at offset " + llvm::Twine(int64_t(offset)) +
             " of shared memory, which has " + llvm::Twine(state->sharedBytes) + " bytes");
  if (offset % alignment)
    fail(thread, site,
         "accesses offset " + llvm::Twine(offset) + " of shared memory, which is not a multiple of " +
             llvm::Twine(alignment));
  return window.base() + offset;
}

void Block::noteRead(Thread &thread, const Site &site, const char *memory, uint32_t bytes) {
  const uint32_t *row = shadow.clocks.row(thread.index);
  noteRead(thread, site, thread.index, row ? row[thread.index] : 0, row, memory, bytes, /*isAsync=*/false);
}

void Block::noteWrite(Thread &thread, const Site &site, const char *memory, uint32_t bytes) {
  noteWrite(thread, site, thread.index, memory, bytes, /*isPending=*/false);
}

void Block::noteRead(Thread &thread, const Site &site, Actor actor, uint32_t clock, const uint32_t *row,
                     const char *memory, uint32_t bytes, bool isAsync) {
  if (!shadow.isOn())
    return;
  Conflict conflict = shadow.read(actor, clock, row, offsetOf(memory), bytes, site.index, isAsync);
  if (conflict.kind != Conflict::None)
    failConflict(thread, site, conflict, /*isWrite=*/false);
}

void Block::noteWrite(Thread &thread, const Site &site, Actor actor, const char *memory, uint32_t bytes,
                      bool isPending) {
  if (!shadow.isOn())
    return;
  const uint32_t *row = shadow.clocks.row(thread.index);
  Conflict conflict = shadow.write(actor, row, offsetOf(memory), bytes, site.index, isPending);
  if (conflict.kind != Conflict::None)
    failConflict(thread, site, conflict, /*isWrite=*/true);
}
