//===- Block.h - the threads of a block and what they wait for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_BLOCK_H
#define ATTN_LIB_EMULATOR_BLOCK_H

#include "BankConflicts.h"
#include "Fiber.h"
#include "Shadow.h"
#include "SharedWindow.h"
#include "Site.h"
#include "attn/Emulator/Emulator.h"
#include "llvm/ADT/Twine.h"
#include <memory>
#include <random>

namespace attn::emulator {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kNamedBarriers = 16;

class Block;
struct Warp;
struct Thread;

/// What a thread waits for.
enum class Wait : uint8_t { Nothing, Collective, WarpGroup, Barrier, MBarrier, Registers, Poll, Exited };

/// Threads that wait for the same thing, in the order in which they came.
struct WaitList {
  Thread *first = nullptr;
  Thread *last = nullptr;
  void push(Thread &thread);
  Thread *pop();
};

/// A cp.async.
struct AsyncCopy {
  const char *source;
  char *target;
  uint32_t bytes;
  /// The rest is filled with zeros.
  uint32_t valid;
};

/// A copy by the asynchronous engine: of a tensor map's box, or of bytes in a row.
struct BulkCopy {
  /// Null: bytes in a row.
  const attn_rt_tensor_map *map;
  int32_t coordinates[5];
  /// In shared memory; global too, without a map.
  char *shared;
  char *global;
  uint32_t bytes;
  const Site *site;
  /// Who issued it.
  Thread *thread;
  /// Loads: the mbarrier's index. Stores: the number of the group.
  uint32_t signal;
  /// No copy: an arrival at the mbarrier, once the thread's cp.async are done.
  bool isArrival;
};

/// What a CUDA thread is at its start.
struct ThreadState {
  /// Counted by the kernel's code: this member is the first.
  int64_t instructions = 0;
  Block *block = nullptr;
  Warp *warp = nullptr;
  /// In the block, x fastest.
  uint32_t index = 0;
  uint32_t lane = 0;
  uint32_t id[3] = {};

  // Where it waits.
  const Site *site = nullptr;
  Wait wait = Wait::Nothing;
  /// The named barrier's number, the mbarrier's index, or how many registers.
  uint32_t waitsFor = 0;
  /// barrier.red: how many threads came with true, of how many.
  uint32_t trues = 0;
  uint32_t arrivals = 0;
  Thread *nextWaiting = nullptr;

  // cp.async: copies[groupEnds[k-1], groupEnds[k]) is the k-th group that is not waited for, the rest is not committed.
  std::vector<AsyncCopy> copies;
  std::vector<uint32_t> groupEnds;

  // Bulk stores: how many groups are committed, and waited for.
  std::vector<BulkCopy> stores;
  uint32_t storeGroups = 0;
  uint32_t storeGroupsDone = 0;
  /// Its actor in the clocks, or -1.
  int32_t storeActor = -1;

  /// How many groups of wgmma are committed.
  uint32_t wgmmaGroups = 0;

  /// As setmaxnreg has it.
  uint32_t registers = 0;
};

/// A CUDA thread.
struct Thread : ThreadState {
  Fiber fiber;
};

/// A collective that some lanes of a warp have reached.
struct Rendezvous {
  const Site *site;
  uint32_t mask;
  uint32_t arrived;
};

struct Warp {
  Block *block;
  uint32_t index;
  /// The lanes that exist.
  uint32_t lanes;
  /// threads[lane].
  Thread *threads;
  /// What each lane brought to the collective, and where its result goes.
  const uint64_t *arguments[kWarpSize];
  void *results[kWarpSize];
  /// By the lowest lane of the mask: masks of collectives at one time are disjoint.
  Rendezvous rendezvous[kWarpSize];
};

/// bar.sync and bar.arrive.
struct NamedBarrier {
  uint32_t arrived = 0;
  /// Threads that complete it, while some have arrived; 0: all that have not exited.
  uint32_t expected = 0;
  /// barrier.red: how many came with true.
  uint32_t trues = 0;
  WaitList waiting;
};

struct MBarrier {
  /// In shared memory.
  uint32_t offset;
  bool isValid;
  uint32_t expected;
  uint32_t pending;
  /// Bytes that are expected and have not come.
  int64_t bytes;
  uint64_t phase;
  WaitList waiting;
};

struct WarpGroup;

/// Registers of a thread in a block of so many.
uint32_t registersAtStart(uint32_t threads);

/// What all blocks of a launch share.
struct LaunchState {
  const Launch &launch;
  const Options &options;
  void (*entry)(void **parameters);
  void **parameters;
  /// Static and dynamic.
  uint32_t sharedBytes;
  /// The program's operations.
  const std::vector<const Site *> &sites;
  bool counts;
  /// Of the kernel's own variables, for each thread.
  size_t localBytes;
};

/// Runs blocks, one at a time, on the thread that calls run. Holds the memory that they need.
class Block {
public:
  static llvm::Expected<std::unique_ptr<Block>> create();
  ~Block();

  /// Runs one block to its end, or to its first error, whose text is returned; empty: none.
  std::string run(const LaunchState &state, const uint32_t (&block)[3]);

  //===--- For operations -------------------------------------------------===//

  /// The running thread of the calling OS thread.
  static Thread &current();

  /// Ends the block with an error. Nothing on the calling stack is destroyed.
  [[noreturn]] void fail(const Thread &thread, const Site &site, const llvm::Twine &message);

  /// Stops the running thread until somebody wakes it.
  void park(Thread &thread, Wait wait, const Site &site);
  void wake(Thread &thread);
  void wakeAll(WaitList &list);
  /// The running thread lets others go first.
  void yield(Thread &thread, const Site &site);
  /// Ends the running thread.
  [[noreturn]] void exit(Thread &thread);
  /// Something happened that a thread may poll for.
  void noteProgress() { ++progress; }

  /// Waits until all lanes of the mask (those that exist) have come; true in the lane that comes last, which then acts
  /// for all and calls release.
  bool arrive(Thread &thread, const Site &site, uint32_t mask, const uint64_t *arguments, void *results);
  void release(Thread &last, uint32_t mask);

  /// The memory behind a shared pointer. Checks range and alignment.
  char *shared(const Thread &thread, const Site &site, uint64_t address, uint32_t bytes, uint32_t alignment);
  uint32_t offsetOf(const void *memory) const { return static_cast<const char *>(memory) - window.base(); }

  /// Shadow memory: checks, and notes, an access of the thread.
  void noteRead(Thread &thread, const Site &site, const char *memory, uint32_t bytes);
  void noteWrite(Thread &thread, const Site &site, const char *memory, uint32_t bytes);
  /// The same for an engine, with what it knows and its clock. thread is for the message.
  void noteRead(Thread &thread, const Site &site, Actor actor, uint32_t clock, const uint32_t *row, const char *memory,
                uint32_t bytes, bool isAsync = true);
  void noteWrite(Thread &thread, const Site &site, Actor actor, const char *memory, uint32_t bytes, bool isPending);

  bool isLazy() const { return state->options.lazyCopies; }
  char *sharedBase() const { return window.base(); }
  uint32_t sharedBytes() const { return state->sharedBytes; }
  const uint32_t *index() const { return blockIndex; }
  const LaunchState &launchState() const { return *state; }
  uint32_t threadCount() const { return threadTotal; }
  uint64_t draw();

  Counters counters;
  Shadow shadow;
  BankConflicts bankConflicts;
  NamedBarrier barriers[kNamedBarriers];
  std::vector<MBarrier> mbarriers;
  /// Copies to shared memory that have not happened.
  std::vector<BulkCopy> loads;
  std::vector<std::unique_ptr<WarpGroup>> warpGroups;
  uint32_t storeActors = 0;
  /// Threads that have not exited.
  uint32_t alive = 0;
  /// Registers that threads gave up and nobody has taken.
  uint32_t freeRegisters = 0;
  WaitList waitingForRegisters;

private:
  explicit Block(SharedWindow window);
  void start(const LaunchState &state, const uint32_t (&block)[3]);
  void startThread(uint32_t index);
  bool reserveStacks(uint32_t count, size_t bytes);
  size_t stackStep() const;
  void schedule();
  void resumePolling();
  Thread *takeReady();
  [[noreturn]] void failDeadlocked();
  [[noreturn]] void leave();
  void describeDeadlock();
  void describe(const Thread &thread, const Site &site, const llvm::Twine &message);
  [[noreturn]] void failConflict(const Thread &thread, const Site &site, const Conflict &conflict, bool isWrite);
  [[noreturn]] void failDivergent(const Thread &thread, const Site &site, const Rendezvous &other, uint32_t mask);
  std::string name(Actor actor);
  static void runThread();
  static void runScheduler();

  const LaunchState *state = nullptr;
  uint32_t blockIndex[3] = {};
  SharedWindow window;
  /// The first threadTotal are the block's.
  std::unique_ptr<Thread[]> threads;
  uint32_t threadTotal = 0;
  uint32_t threadCapacity = 0;
  std::vector<Warp> warps;

  /// The threads that can run: a ring.
  std::vector<Thread *> ready;
  uint32_t firstReady = 0;
  uint32_t readyCount = 0;
  /// Threads whose last look at an mbarrier said no.
  std::vector<Thread *> polling;
  uint64_t progress = 0;
  uint64_t progressAtPoll = 0;
  uint32_t vainPolls = 0;

  std::mt19937_64 random;
  std::string failure;
  /// The thread that called run, and the one that decides who runs.
  Fiber host;
  Fiber scheduler;
  std::unique_ptr<char[]> schedulerStack;
  void *stacks = nullptr;
  uint32_t stackCount = 0;
  /// Of each, without its guard.
  size_t stackBytes = 0;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_BLOCK_H
