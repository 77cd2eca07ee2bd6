//===- ThreadPool.cpp - pools of the runtime as values -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/API/ThreadPool.h"

#include "attn/Runtime.h"

using namespace attn;

/// The refusal of a number of threads, or success.
static Status checkThreads(int64_t threads, int64_t least) {
  if (threads >= least && threads <= ATTN_RT_MAX_THREADS)
    return {};
  return Error{ErrorCode::InvalidArgument,
               "a thread pool expects " + std::to_string(least) + " to " + std::to_string(ATTN_RT_MAX_THREADS) +
                   " threads, but got " + std::to_string(threads) +
                   (least == 0 ? "; use 0 for as many as the process may run on" : ""),
               {}};
}

static Error outOfMemory() { return {ErrorCode::OutOfMemory, "the system has no memory for a thread pool", {}}; }

Result<ThreadPool> ThreadPool::create(int64_t threads) {
  if (Status status = checkThreads(threads, 0); !status)
    return status.error();
  attn_rt_pool *handle = attn_rt_pool_create(threads);
  if (!handle)
    return outOfMemory();
  ThreadPool result;
  result.pool = std::shared_ptr<attn_rt_pool>(handle, attn_rt_pool_destroy);
  return result;
}

/// The runtime's callback: user is the Executor.
static void runExecutor(void *user, int64_t workers, void (*work)(void *, int64_t), void *context) {
  static_cast<Executor *>(user)->run(workers, [work, context](int64_t worker) { work(context, worker); });
}

Result<ThreadPool> ThreadPool::create(Executor executor) {
  if (Status status = checkThreads(executor.threads, 1); !status)
    return status.error();
  if (!executor.run)
    return Error{ErrorCode::InvalidArgument, "an executor expects a function in `run`, but got none", {}};
  auto owned = std::make_unique<Executor>(std::move(executor));
  attn_rt_executor description{owned.get(), owned->threads, runExecutor};
  attn_rt_pool *handle = attn_rt_pool_create_from_executor(&description);
  if (!handle)
    return outOfMemory();
  ThreadPool result;
  // The executor has to outlive the pool: the deleter owns both.
  result.pool = std::shared_ptr<attn_rt_pool>(handle, [shared = std::shared_ptr<Executor>(std::move(owned))](
                                                          attn_rt_pool *ended) { attn_rt_pool_destroy(ended); });
  return result;
}

int64_t ThreadPool::threads() const { return attn_rt_pool_threads(pool.get()); }
