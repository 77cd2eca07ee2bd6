// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State shared by the runtime's files: the call, the thread inside it, pools.
//
// Failing jumps over the frames of generated code, which has no destructors.
// In the runtime itself no frame that may be jumped over holds an object with
// one: setjmp sits in small functions that only call generated code.

#ifndef ATTN_RUNTIME_LIB_INTERNAL_H
#define ATTN_RUNTIME_LIB_INTERNAL_H

#include "Threads.h"
#include "attn/Device.h"

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <mutex>

namespace attn::runtime {

/// Alignment in bytes of buffers and scratch: a cache line, an AVX-512 vector.
constexpr int64_t minAlignment = 64;

/// Sizes in bytes above this are overflows, not requests.
constexpr int64_t maxBytes = int64_t(1) << 47;

struct Error {
  int32_t code = ATTN_RT_OK;
  char message[ATTN_RT_MESSAGE_BYTES] = "";

  /// Formats as attn_rt_fail does; truncates.
  void set(int32_t newCode, const char *text, int64_t a, int64_t b);
};

/// One allocation that serves all workers of a loop.
struct Scratch {
  void *base = nullptr;
  int64_t capacity = 0;
};

/// Frees the block and clears it.
void freeScratch(Scratch &scratch);

/// Makes the block at least `bytes` large; what it held is lost. False if
/// there is no memory; the block is then empty.
bool growScratch(Scratch &scratch, int64_t bytes);

struct Buffer;
struct Ranges;
struct DeviceBuffer;
struct Loop;

/// One attn_rt_call in progress.
struct Call {
  attn_rt_pool *pool = nullptr;
  /// 0: no limit.
  int64_t maxScratchBytes = 0;
  /// May be null.
  const attn_rt_profiler *profiler = nullptr;
  /// Multiply-adds, above 0.
  int64_t leastWork = ATTN_RT_LEAST_WORK;
  /// May be null.
  const attn_rt_device *device = nullptr;

  /// Where failing outside a parallel body goes, after setting `error`.
  std::jmp_buf escape;
  Error error;

  /// Guards the buffers and their counters: bodies may allocate.
  std::mutex mutex;
  Buffer *buffers = nullptr;
  DeviceBuffer *deviceBuffers = nullptr;
  int64_t allocations = 0;
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;

  /// What checked code may touch; null in a call whose code is not checked. Set before the call's first loop.
  Ranges *ranges = nullptr;

  /// Reused by the call's loops; comes from the pool and goes back to it.
  Scratch scratch;

  std::atomic<int64_t> scratchBytes{0};
  std::atomic<int64_t> parallelLoops{0};
  std::atomic<int64_t> tiles{0};
  std::atomic<int64_t> kvTiles{0};
  std::atomic<int64_t> launches{0};

  /// Counts a buffer that generated code asked for, or its end. Hold the mutex.
  void countBuffer(int64_t bytes);
  void uncountBuffer(int64_t bytes) { liveBytes -= bytes; }
};

/// Frees every buffer that the call still owns.
void releaseBuffers(Call &call);
void releaseDeviceBuffers(Call &call);

/// What a thread does while it runs items of a loop.
struct Worker {
  /// Where failing inside the body goes, after recording the error.
  std::jmp_buf escape;
  Loop *loop = nullptr;
  int64_t item = 0;
  /// As the body gets it.
  void *scratch = nullptr;
  /// What it has done in the loop; busy_ns is set at the end.
  attn_rt_worker_profile done = {};
  /// Scratch in bytes over all workers, enclosing loops included.
  int64_t scratchBytes = 0;
};

/// Where this thread is. A call made inside a body has no worker of its own
/// yet, but its loops are nested all the same.
struct Thread {
  Call *call = nullptr;
  Worker *worker = nullptr;
  bool insideBody = false;
};

/// The calling thread's state.
Thread &currentThread();

/// Ends the item or the call that the thread is in. Prints and aborts outside a call.
[[noreturn]] void fail(const Error &error);

/// attn_rt_fail with any code.
[[noreturn]] void fail(int32_t code, const char *message, int64_t a, int64_t b);

/// Records the failure of the worker's current item; the lowest item wins.
void recordFailure(Worker &worker, const Error &error);

/// A buffer with the current call's bookkeeping; fails if there is none.
/// `counted` tells the generated code's buffers from the runtime's own.
void *allocateBuffer(uint64_t alignment, uint64_t size, bool counted);
void freeBuffer(void *buffer);

/// Fails unless the alignment in bytes is a power of two and the size in bytes is in range. Returns the alignment, or
/// minAlignment where that is more.
uint64_t checkBuffer(uint64_t alignment, uint64_t size);

/// Lets checked code touch memory of the runtime's: the address, with a mark where the call (which may be null) is
/// checked. `name` lasts as long as the process. Fails where too many ranges are alive.
void *guardMemory(Call *call, void *address, int64_t bytes, const char *name);
/// The address without its mark, which ends its range.
void *unguardMemory(Call *call, void *address);
void releaseRanges(Call &call);

/// A counted buffer of the call's device, which the call must have; fails if there is none.
void *allocateDeviceBuffer(Call &call, uint64_t alignment, uint64_t size);
/// False if the buffer is not one of the call's device.
bool freeDeviceBuffer(Call &call, void *buffer);

} // namespace attn::runtime

/// On threads of its own (none where it has one thread) or on the caller's
/// executor.
struct attn_rt_pool {
  int64_t threads = 1;
  attn::runtime::Threads *native = nullptr;
  attn_rt_executor executor = {};

  /// Scratch between calls; as many blocks as calls ran at once, up to this.
  static constexpr int maxKept = 16;
  std::mutex mutex;
  attn::runtime::Scratch kept[maxKept];
  int keptCount = 0;

  /// The block returned last, or an empty one.
  attn::runtime::Scratch takeScratch();
  /// Keeps or frees the block.
  void returnScratch(attn::runtime::Scratch scratch);
  /// Runs work(context, worker) for workers in [0, workers), 2 at least: for
  /// each of them on an executor, for those that come in time on own threads.
  void run(int64_t workers, void (*work)(void *context, int64_t worker), void *context);
};

#endif // ATTN_RUNTIME_LIB_INTERNAL_H
