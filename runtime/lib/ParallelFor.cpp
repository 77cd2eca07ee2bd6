// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parallel loops. Workers take items one by one, ascending, from a counter, so
// that long items put first balance well. Nested loops run on their thread.
//
// A failing item stops the loop, and the error of the lowest failing item is
// the loop's: every lower item was taken before and runs to its end, so the
// error does not depend on scheduling.

#include "FloatEnvironment.h"
#include "Internal.h"
#include "WorkerCount.h"

#include <chrono>
#include <new>

using namespace attn::runtime;

using Body = void (*)(void *context, int64_t begin, int64_t end, void *scratch);

struct attn::runtime::Loop {
  Call *call;
  int64_t count;
  Body body;
  void *context;
  int64_t workers;
  char *scratch;
  /// Bytes of one worker's scratch, and from it to the next one's.
  int64_t workerBytes;
  int64_t stride;
  /// Bytes over all workers.
  int64_t scratchBytes;
  /// One for each worker, or null: nothing is measured.
  attn_rt_worker_profile *profiles;

  /// The next item; on a line of its own, since every item writes it.
  alignas(minAlignment) std::atomic<int64_t> next{0};
  alignas(minAlignment) std::atomic<bool> failed{false};
  std::atomic<int64_t> finishedWorkers{0};

  /// Guards the two fields below.
  std::mutex mutex;
  int64_t failedItem = 0;
  Error error;
};

void attn::runtime::recordFailure(Worker &worker, const Error &error) {
  Loop &loop = *worker.loop;
  std::lock_guard<std::mutex> guard(loop.mutex);
  if (loop.error.code != ATTN_RT_OK && loop.failedItem < worker.item)
    return;
  loop.failedItem = worker.item;
  loop.error = error;
  loop.failed.store(true, std::memory_order_relaxed);
}

/// In messages on checked code.
static constexpr char scratchName[] = "scratch";

/// Runs items until none is left or one failed. A failing body jumps here.
static void runItems(Loop &loop, Worker &worker, void *scratch) {
  if (setjmp(worker.escape) != 0)
    return;
  worker.scratch = guardMemory(loop.call, scratch, loop.workerBytes, scratchName);
  while (!loop.failed.load(std::memory_order_relaxed)) {
    int64_t item = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (item >= loop.count)
      return;
    worker.item = item;
    ++worker.done.items;
    loop.body(loop.context, item, item + 1, worker.scratch);
  }
}

static int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// One worker, on whatever thread the pool chose.
static void runWorker(void *context, int64_t index) {
  Loop &loop = *static_cast<Loop *>(context);
  if (index < 0 || index >= loop.workers)
    return;
  Worker worker;
  worker.loop = &loop;
  worker.scratchBytes = loop.scratchBytes;
  Thread &thread = currentThread();
  Thread outer = thread;
  thread = {loop.call, &worker, /*insideBody=*/true};
  int64_t start = loop.profiles ? nanoseconds() : 0;
  {
    DefaultFloatEnvironment environment;
    runItems(loop, worker, loop.scratch ? loop.scratch + index * loop.stride : nullptr);
    unguardMemory(loop.call, worker.scratch);
  }
  thread = outer;
  if (loop.profiles) {
    worker.done.busy_ns = nanoseconds() - start;
    loop.profiles[index] = worker.done;
  }
  loop.finishedWorkers.fetch_add(1, std::memory_order_release);
}

namespace {
/// Sizes in bytes of a loop's scratch.
struct ScratchSizes {
  int64_t stride;
  int64_t loop;
  /// With the enclosing loops.
  int64_t total;
};
} // namespace

/// Sizes for `workers` workers on top of `outerBytes`; false sets the error.
static bool computeScratch(int64_t bytes, int64_t workers, int64_t outerBytes, int64_t limit, ScratchSizes &sizes,
                           Error &error) {
  if (bytes < 0 || bytes > maxBytes / workers - minAlignment) {
    error.set(ATTN_RT_OUT_OF_MEMORY, "scratch of {0} bytes for each of {1} workers is negative or overflows", bytes,
              workers);
    return false;
  }
  sizes.stride = (bytes + minAlignment - 1) / minAlignment * minAlignment;
  sizes.loop = sizes.stride * workers;
  sizes.total = outerBytes + sizes.loop;
  if (limit > 0 && sizes.total > limit) {
    error.set(ATTN_RT_SCRATCH_LIMIT,
              "the kernel needs {0} bytes of scratch, but max_scratch_bytes is "
              "{1}; raise it or "
              "use fewer threads",
              sizes.total, limit);
    return false;
  }
  return true;
}

/// Counts a loop and raises the call's scratch to `scratchBytes`.
static void countLoop(Call &call, int64_t count, int64_t scratchBytes) {
  call.parallelLoops.fetch_add(1, std::memory_order_relaxed);
  call.tiles.fetch_add(count, std::memory_order_relaxed);
  int64_t seen = call.scratchBytes.load(std::memory_order_relaxed);
  while (seen < scratchBytes && !call.scratchBytes.compare_exchange_weak(seen, scratchBytes))
    continue;
}

/// Finds the loop's scratch in the call's block; false sets the call's error.
static bool reserveScratch(Call &call, int64_t bytes, int64_t workers, ScratchSizes &sizes) {
  if (!computeScratch(bytes, workers, 0, call.maxScratchBytes, sizes, call.error))
    return false;
  if (sizes.loop == 0)
    return true;
  if (call.pool && !call.scratch.base)
    call.scratch = call.pool->takeScratch();
  if (growScratch(call.scratch, sizes.loop))
    return true;
  call.error.set(ATTN_RT_OUT_OF_MEMORY, "no memory for {0} bytes of scratch for {1} workers", sizes.loop, workers);
  return false;
}

/// Runs the loop's workers and tells the profiler, if there is one.
static void runWorkers(Loop &loop, attn_rt_pool *pool) {
  const attn_rt_profiler *profiler = loop.call->profiler;
  // Without memory there is no profile.
  if (profiler)
    loop.profiles = new (std::nothrow) attn_rt_worker_profile[loop.workers]();
  int64_t start = loop.profiles ? nanoseconds() : 0;
  if (loop.workers == 1)
    runWorker(&loop, 0);
  else
    pool->run(loop.workers, runWorker, &loop);
  if (loop.profiles && !loop.failed.load(std::memory_order_relaxed)) {
    attn_rt_loop_profile profile = {loop.count, nanoseconds() - start, loop.workers, loop.profiles};
    profiler->loop(profiler->user, &profile);
  }
  delete[] loop.profiles;
}

/// A loop on the call's pool; false sets the call's error.
static bool runParallel(Call &call, attn_rt_pool *pool, int64_t count, int64_t itemWork, int64_t scratchBytes,
                        Body body, void *context) {
  int64_t workers = chooseWorkers(count, itemWork, attn_rt_pool_threads(pool), call.leastWork);
  ScratchSizes sizes;
  if (!reserveScratch(call, scratchBytes, workers, sizes))
    return false;
  countLoop(call, count, sizes.total);

  Loop loop;
  loop.call = &call;
  loop.count = count;
  loop.body = body;
  loop.context = context;
  loop.workers = workers;
  loop.scratch = sizes.loop > 0 ? static_cast<char *>(call.scratch.base) : nullptr;
  loop.workerBytes = scratchBytes;
  loop.stride = sizes.stride;
  loop.scratchBytes = sizes.total;
  loop.profiles = nullptr;
  runWorkers(loop, pool);

  int64_t finished = loop.finishedWorkers.load(std::memory_order_acquire);
  // Of the pool's own threads those that came too late had nothing to do.
  if (finished != workers && !pool->native)
    call.error.set(ATTN_RT_EXECUTOR_FAILED, "the executor must run each worker once, but ran {0} of {1}", finished,
                   workers);
  else if (loop.failed.load(std::memory_order_relaxed))
    call.error = loop.error;
  return call.error.code == ATTN_RT_OK;
}

/// Sizes for a nested loop; fails if they exceed the limit. All workers of the
/// outer loop are counted as if each ran the nested one, so that the outcome
/// does not depend on scheduling.
static int64_t chargeNestedScratch(const Thread &thread, int64_t count, int64_t bytes) {
  const Worker *worker = thread.worker;
  Call *call = thread.call;
  ScratchSizes sizes;
  Error error;
  if (!computeScratch(bytes, worker ? worker->loop->workers : 1, worker ? worker->scratchBytes : 0,
                      call ? call->maxScratchBytes : 0, sizes, error))
    fail(error);
  if (call)
    countLoop(*call, count, sizes.total);
  return sizes.loop;
}

/// A loop inside a body, or outside any call. Failing jumps over this frame;
/// the call then frees the scratch.
static void runSerially(Thread &thread, int64_t count, int64_t scratchBytes, Body body, void *context) {
  int64_t charged = chargeNestedScratch(thread, count, scratchBytes);
  void *scratch = scratchBytes > 0 ? allocateBuffer(minAlignment, scratchBytes,
                                                    /*counted=*/false)
                                   : nullptr;
  void *guarded = guardMemory(thread.call, scratch, scratchBytes, scratchName);
  Worker *worker = thread.worker;
  if (worker)
    worker->scratchBytes += charged;
  for (int64_t item = 0; item < count; ++item)
    body(context, item, item + 1, guarded);
  if (worker)
    worker->scratchBytes -= charged;
  unguardMemory(thread.call, guarded);
  freeBuffer(scratch);
}

void attn_rt_parallel_for(int64_t count, int64_t itemWork, int64_t scratchBytes, Body body, void *context) {
  if (count <= 0)
    return;
  Thread &thread = currentThread();
  if (thread.worker || !thread.call)
    return runSerially(thread, count, scratchBytes, body, context);
  // A call made inside a body stays on its thread: the pool may be busy with
  // the very loop that waits for it.
  Call &call = *thread.call;
  attn_rt_pool *pool = thread.insideBody ? nullptr : call.pool;
  if (!runParallel(call, pool, count, itemWork, scratchBytes, body, context))
    std::longjmp(call.escape, 1);
}
