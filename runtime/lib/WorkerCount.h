// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTN_RUNTIME_LIB_WORKERCOUNT_H
#define ATTN_RUNTIME_LIB_WORKERCOUNT_H

#include <cstdint>

namespace attn::runtime {

/// Workers of a loop of `count` > 0 items of `itemWork` multiply-adds each, on
/// up to `threads` > 0 threads: each has `leastWork` > 0 to do, or there is one.
/// Negative itemWork is unknown: all that have items.
inline int64_t chooseWorkers(int64_t count, int64_t itemWork, int64_t threads, int64_t leastWork) {
  int64_t most = count < threads ? count : threads;
  int64_t work;
  if (itemWork < 0 || __builtin_mul_overflow(count, itemWork, &work))
    return most;
  int64_t fed = work / leastWork;
  return fed < 1 ? 1 : fed < most ? fed : most;
}

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_WORKERCOUNT_H
