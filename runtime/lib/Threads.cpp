// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"

#include <chrono>
#include <new>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

using namespace attn::runtime;

/// Longer than what lies between two steps of a model: a thread that sleeps
/// comes 50 us late, and on some kernels on the caller's own core.
static constexpr int64_t spinNanoseconds = 10'000'000;

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t Waiters::deadline() { return now() + spinNanoseconds; }
bool Waiters::isBefore(int64_t time) { return now() < time; }

void Waiters::pause() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#else
  std::this_thread::yield();
#endif
}

void Waiters::wake(int64_t count) {
  int64_t sleeping = sleepers.load();
  if (sleeping == 0)
    return;
  // A sleeper that has looked but does not wait yet holds the lock.
  {
    std::lock_guard<std::mutex> guard(mutex);
  }
  if (count >= sleeping)
    return changed.notify_all();
  for (; count > 0; --count)
    changed.notify_one();
}

Threads *Threads::create(int64_t count, bool spins) {
  auto *threads = new (std::nothrow) Threads(spins);
  if (!threads)
    return nullptr;
  threads->handles = new (std::nothrow) pthread_t[count];
  if (!threads->handles) {
    delete threads;
    return nullptr;
  }
  while (threads->started < count && pthread_create(&threads->handles[threads->started], nullptr, main, threads) == 0)
    ++threads->started;
  return threads;
}

Threads::~Threads() {
  isEnding.store(true);
  idle.wake(started);
  for (int64_t n = 0; n < started; ++n)
    pthread_join(handles[n], nullptr);
  delete[] handles;
}

void *Threads::main(void *self) {
  static_cast<Threads *>(self)->serve();
  return nullptr;
}

void Threads::serve() {
  uint64_t served = 0;
  while (true) {
    // A loop that this thread has been in has nothing left for it.
    auto isOpen = [&](uint64_t gate) { return placesOf(gate) > 0 && loopOf(gate) != served; };
    idle.wait([&] { return isEnding.load() || isOpen(gate.load()); }, spins);
    if (isEnding.load())
      return;
    uint64_t seen = gate.load();
    while (isOpen(seen) && !gate.compare_exchange_weak(seen, seen - 1))
      continue;
    if (!isOpen(seen))
      continue;
    served = loopOf(seen);
    work(context, workers - placesOf(seen));
    finished.fetch_add(1);
    callers.wake(1);
  }
}

void Threads::run(int64_t newWorkers, Work newWork, void *newContext) {
  std::lock_guard<std::mutex> guard(oneLoop);
  work = newWork;
  context = newContext;
  workers = newWorkers;
  finished.store(0);
  uint64_t closed = (loopOf(gate.load()) + 1) << placeBits;
  gate.store(closed | uint64_t(workers - 1));
  idle.wake(workers - 1);
  work(context, 0);
  int64_t joined = workers - 1 - placesOf(gate.exchange(closed));
  callers.wait([&] { return finished.load() == joined; }, spins);
}
