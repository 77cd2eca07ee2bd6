//===- ThreadPool.h - threads for kernels -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_API_THREADPOOL_H
#define ATTN_API_THREADPOOL_H

#include "attn/API/Result.h"

#include <cstdint>
#include <functional>
#include <memory>

struct attn_rt_pool;

namespace attn {

/// The caller's own threads.
struct Executor {
  /// The most workers that run is asked for; 1 to 1024.
  int64_t threads = 1;
  /// Calls work(worker) exactly once for each worker in [0, workers), on any threads, at once or one after the other,
  /// and returns when all are done. May itself be called from several threads at once. Must not throw.
  std::function<void(int64_t workers, const std::function<void(int64_t worker)> &work)> run;
};

/// Threads that kernels share, and the scratch memory that they keep between runs. A value: copies are the same pool,
/// which ends with the last of them. Any number of threads may run kernels on one pool at once. What a kernel computes
/// does not depend on the number of threads, to the bit.
class ThreadPool {
public:
  /// No pool: kernels run on the thread that calls them.
  ThreadPool() = default;

  /// A pool of `threads` threads, the calling one counted: 1 to 1024, or 0 for as many as the process may run on.
  static Result<ThreadPool> create(int64_t threads = 0);

  /// A pool on the caller's threads. The executor is copied, and must be able to run while the pool or a kernel that
  /// was started on it lives.
  static Result<ThreadPool> create(Executor executor);

  /// The most workers that a loop gets; 1 without a pool.
  int64_t threads() const;

  /// For runtime/include/attn/Runtime.h; null without a pool. Valid while this object or a copy lives.
  attn_rt_pool *handle() const { return pool.get(); }

private:
  std::shared_ptr<attn_rt_pool> pool;
};

} // namespace attn

#endif // ATTN_API_THREADPOOL_H
