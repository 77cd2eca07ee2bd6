// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools: threads (pthreadpool's or the caller's) and the scratch they keep.

#include "Internal.h"

#include <new>
#include <pthreadpool.h>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTN_RT_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define ATTN_RT_TSAN 1
#endif
#ifdef ATTN_RT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

using namespace attn::runtime;

/// ThreadSanitizer cannot see pthreadpool order its threads, since the packaged
/// library is not instrumented. These tell it, and do nothing otherwise.
static void announce([[maybe_unused]] void *address) {
#ifdef ATTN_RT_TSAN
  __tsan_release(address);
#endif
}
static void observe([[maybe_unused]] void *address) {
#ifdef ATTN_RT_TSAN
  __tsan_acquire(address);
#endif
}

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
  pool->threads = threads;
  // Waiting workers spin for a while, which pays only on a core of their own.
  if (threads > available)
    pool->nativeFlags = PTHREADPOOL_FLAG_YIELD_WORKERS;
  pool->native = pthreadpool_create(threads);
  if (pool->native)
    return pool;
  delete pool;
  return nullptr;
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
  if (pool->native)
    pthreadpool_destroy(pool->native);
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

namespace {
/// What pthreadpool's one context pointer carries.
struct Job {
  void (*work)(void *context, int64_t worker);
  void *context;
};
} // namespace

static void runJob(void *pointer, size_t worker) {
  observe(pointer);
  Job &job = *static_cast<Job *>(pointer);
  job.work(job.context, static_cast<int64_t>(worker));
  announce(pointer);
}

void attn_rt_pool::run(int64_t workers, void (*work)(void *, int64_t), void *context) {
  if (!native)
    return executor.run(executor.user, workers, work, context);
  // pthreadpool lets one loop in at a time, and hands each index out once.
  Job job = {work, context};
  announce(&job);
  pthreadpool_parallelize_1d(native, runJob, &job, workers, nativeFlags);
  observe(&job);
}
