// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools: threads (our own or the caller's) and the scratch they keep.

#include "Internal.h"

#include <new>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

using namespace attn::runtime;

/// The threads that this process may run on; at least 1.
static int64_t availableThreads() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
#endif
  int64_t threads = std::thread::hardware_concurrency();
  return threads > 0 ? threads : 1;
}

attn_rt_pool *attn_rt_pool_create(int64_t threads) {
  if (threads < 0 || threads > ATTN_RT_MAX_THREADS)
    return nullptr;
  int64_t available = availableThreads();
  if (threads == 0)
    threads = available < ATTN_RT_MAX_THREADS ? available : ATTN_RT_MAX_THREADS;
  auto *pool = new (std::nothrow) attn_rt_pool;
  if (!pool)
    return nullptr;
  if (threads == 1)
    return pool;
  pool->native = Threads::create(threads - 1, /*spins=*/threads <= available);
  if (!pool->native) {
    delete pool;
    return nullptr;
  }
  pool->threads = 1 + pool->native->count();
  return pool;
}

attn_rt_pool *attn_rt_pool_create_from_executor(const attn_rt_executor *executor) {
  if (!executor || !executor->run || executor->threads < 1 || executor->threads > ATTN_RT_MAX_THREADS)
    return nullptr;
  auto *pool = new (std::nothrow) attn_rt_pool;
  if (!pool)
    return nullptr;
  pool->threads = executor->threads;
  pool->executor = *executor;
  return pool;
}

void attn_rt_pool_destroy(attn_rt_pool *pool) {
  if (!pool)
    return;
  delete pool->native;
  for (int i = 0; i < pool->keptCount; ++i)
    freeScratch(pool->kept[i]);
  delete pool;
}

int64_t attn_rt_pool_threads(const attn_rt_pool *pool) { return pool ? pool->threads : 1; }

Scratch attn_rt_pool::takeScratch() {
  std::lock_guard<std::mutex> guard(mutex);
  return keptCount > 0 ? kept[--keptCount] : Scratch();
}

void attn_rt_pool::returnScratch(Scratch scratch) {
  if (!scratch.base)
    return;
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (keptCount < maxKept) {
      kept[keptCount++] = scratch;
      return;
    }
  }
  freeScratch(scratch);
}

void attn_rt_pool::run(int64_t workers, void (*work)(void *, int64_t), void *context) {
  if (native)
    return native->run(workers, work, context);
  executor.run(executor.user, workers, work, context);
}
