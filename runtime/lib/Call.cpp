// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call into generated code and the ways out of it.

#include "FloatEnvironment.h"
#include "Internal.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attn::runtime;

Thread &attn::runtime::currentThread() {
  static thread_local Thread thread;
  return thread;
}

void Error::set(int32_t newCode, const char *text, int64_t a, int64_t b) {
  code = newCode;
  char *out = message;
  char *const end = message + sizeof(message) - 1;
  while (*text && out < end) {
    bool isFirst = std::strncmp(text, "{0}", 3) == 0;
    if (!isFirst && std::strncmp(text, "{1}", 3) != 0) {
      *out++ = *text++;
      continue;
    }
    char number[24];
    int length = std::snprintf(number, sizeof(number), "%" PRId64, isFirst ? a : b);
    if (length > end - out)
      length = static_cast<int>(end - out);
    std::memcpy(out, number, length);
    out += length;
    text += 3;
  }
  *out = '\0';
}

void attn::runtime::fail(const Error &error) {
  Thread &thread = currentThread();
  if (thread.worker) {
    recordFailure(*thread.worker, error);
    std::longjmp(thread.worker->escape, 1);
  }
  if (thread.call) {
    thread.call->error = error;
    std::longjmp(thread.call->escape, 1);
  }
  std::fprintf(stderr, "attn runtime: %s (outside of attn_rt_call)\n", error.message);
  std::abort();
}

void attn::runtime::fail(int32_t code, const char *message, int64_t a, int64_t b) {
  Error error;
  error.set(code, message, a, b);
  fail(error);
}

/// Returns normally whether the function returns or fails.
static void runGuarded(Call &call, void (*function)(void **), void **arguments) {
  if (setjmp(call.escape) == 0)
    function(arguments);
}

/// Runs the function as this thread's current call.
static void runCall(Call &call, void (*function)(void **), void **arguments) {
  Thread &thread = currentThread();
  Thread outer = thread;
  thread.call = &call;
  thread.worker = nullptr;
  {
    DefaultFloatEnvironment environment;
    runGuarded(call, function, arguments);
  }
  thread = outer;

  releaseBuffers(call);
  releaseDeviceBuffers(call);
  releaseRanges(call);
  if (call.pool)
    call.pool->returnScratch(call.scratch);
  else
    freeScratch(call.scratch);
}

int32_t attn_rt_call(const attn_rt_call_options *options, void (*function)(void **), void **arguments,
                     attn_rt_call_result *result) {
  Call call;
  if (options) {
    call.pool = options->pool;
    call.maxScratchBytes = options->max_scratch_bytes;
    call.profiler = options->profiler;
    call.device = options->device;
    if (options->least_work != 0)
      call.leastWork = options->least_work;
  }
  if (!function)
    call.error.set(ATTN_RT_INVALID_ARGUMENT, "attn_rt_call expects a function, but got NULL", 0, 0);
  else if (call.maxScratchBytes < 0)
    call.error.set(ATTN_RT_INVALID_ARGUMENT, "max_scratch_bytes must be at least 0 (0: no limit), but got {0}",
                   call.maxScratchBytes, 0);
  else if (call.leastWork < 0)
    call.error.set(ATTN_RT_INVALID_ARGUMENT, "least_work must be at least 0 (0: the default), but got {0}",
                   call.leastWork, 0);
  else
    runCall(call, function, arguments);

  if (result) {
    result->code = call.error.code;
    std::memcpy(result->message, call.error.message, sizeof(result->message));
    result->allocations = call.allocations;
    result->allocated_bytes = call.peakBytes;
    result->scratch_bytes = call.scratchBytes;
    result->parallel_loops = call.parallelLoops;
    result->tiles = call.tiles;
    result->kv_tiles = call.kvTiles;
    result->launches = call.launches;
  }
  return call.error.code;
}

void attn_rt_count_kv_tiles(int64_t count) {
  Thread &thread = currentThread();
  if (thread.call)
    thread.call->kvTiles.fetch_add(count, std::memory_order_relaxed);
  if (thread.worker)
    thread.worker->done.kv_tiles += count;
}

void attn_rt_fail(const char *message, int64_t a, int64_t b) {
  fail(ATTN_RT_INVALID_ARGUMENT, message ? message : "the kernel failed without a message", a, b);
}
