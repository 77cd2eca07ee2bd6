// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a pool. A loop is open while its caller works on it: threads
// that come in that time join, and those that come later find it closed. So a
// caller never waits for a thread that has not begun, which on a busy machine
// may take a time slice of another process (8 ms were seen).

#ifndef ATTN_RUNTIME_LIB_THREADS_H
#define ATTN_RUNTIME_LIB_THREADS_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>

namespace attn::runtime {

/// Where threads wait for a condition on atomics: they spin for a while, which
/// wakes them in well under a microsecond, and then sleep.
class Waiters {
public:
  /// Returns once isTrue(). Spinning pays only on a core of one's own.
  template <typename Condition> void wait(const Condition &isTrue, bool spins) {
    while (!spins || !spinUntil(isTrue)) {
      std::unique_lock<std::mutex> lock(mutex);
      // Counted before looking: who makes it true looks at the count after it.
      sleepers.fetch_add(1);
      if (!isTrue())
        changed.wait(lock);
      sleepers.fetch_sub(1);
      if (isTrue())
        return;
    }
  }

  /// To be called after a condition may have become true, for `count` threads.
  void wake(int64_t count);

private:
  template <typename Condition> static bool spinUntil(const Condition &isTrue) {
    int64_t end = deadline();
    do
      for (int repeat = 0; repeat < 64; ++repeat) {
        if (isTrue())
          return true;
        pause();
      }
    while (isBefore(end));
    return false;
  }
  /// When spinning ends, in nanoseconds.
  static int64_t deadline();
  static bool isBefore(int64_t time);
  static void pause();

  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int64_t> sleepers{0};
};

class Threads {
public:
  using Work = void (*)(void *context, int64_t worker);

  /// Starts up to `count` threads; fewer where the system refuses one. NULL
  /// without memory. count is at most ATTN_RT_MAX_THREADS.
  static Threads *create(int64_t count, bool spins);
  /// Ends the threads; none may be working.
  ~Threads();

  int64_t count() const { return started; }

  /// Calls work(context, 0) on this thread, and work(context, w) for further
  /// w < workers, each at most once, on threads that come before that returns.
  /// Returns when all of these have returned, too. One loop at a time: further
  /// callers wait.
  void run(int64_t workers, Work work, void *context);

private:
  explicit Threads(bool spins) : spins(spins) {}
  static void *main(void *self);
  void serve();

  /// The gate is the number of the loop, and below it how many may still join.
  static constexpr int placeBits = 16;
  static int64_t placesOf(uint64_t gate) { return gate & ((uint64_t(1) << placeBits) - 1); }
  static uint64_t loopOf(uint64_t gate) { return gate >> placeBits; }

  const bool spins;
  int64_t started = 0;
  pthread_t *handles = nullptr;

  std::mutex oneLoop;
  /// The loop; read only by threads that have joined it.
  Work work = nullptr;
  void *context = nullptr;
  int64_t workers = 0;

  alignas(64) std::atomic<uint64_t> gate{0};
  std::atomic<bool> isEnding{false};
  alignas(64) std::atomic<int64_t> finished{0};
  Waiters idle, callers;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_THREADS_H
