// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's C ABI, driven by functions in the shape of generated code:
// plain pointers in, no destructors in frames that failing jumps over.

#include "attn/Runtime.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cfenv>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

using Function = void (*)(void **);

/// Loops take all threads of their pool.
constexpr int64_t unknownWork = -1;

struct PoolDeleter {
  void operator()(attn_rt_pool *pool) const { attn_rt_pool_destroy(pool); }
};
using Pool = std::unique_ptr<attn_rt_pool, PoolDeleter>;

Pool makePool(int64_t threads) { return Pool(attn_rt_pool_create(threads)); }

/// Runs function({argument}).
attn_rt_call_result call(attn_rt_pool *pool, Function function, void *argument = nullptr, int64_t maxScratch = 0) {
  attn_rt_call_options options = {pool, maxScratch, nullptr, 0, nullptr};
  attn_rt_call_result result;
  void *arguments[] = {argument};
  int32_t code = attn_rt_call(&options, function, arguments, &result);
  EXPECT_EQ(code, result.code);
  return result;
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

struct Coverage {
  int64_t count;
  int64_t scratchBytes;
  std::vector<std::atomic<int>> visits;
  std::atomic<bool> sawBadScratch{false};
  std::atomic<bool> sawBadRange{false};

  explicit Coverage(int64_t count, int64_t scratchBytes = 0)
      : count(count), scratchBytes(scratchBytes), visits(count) {}

  void expectEachOnce(int times = 1) const {
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(visits[i].load(), times) << "item " << i;
    EXPECT_FALSE(sawBadScratch);
    EXPECT_FALSE(sawBadRange);
  }
};

/// Fills its scratch with the item and finds it unchanged: private, writable.
void coverBody(void *context, int64_t begin, int64_t end, void *scratch) {
  auto &coverage = *static_cast<Coverage *>(context);
  if (begin >= end || begin < 0 || end > coverage.count) {
    coverage.sawBadRange = true;
    return;
  }
  for (int64_t item = begin; item < end; ++item)
    ++coverage.visits[item];
  auto *bytes = static_cast<unsigned char *>(scratch);
  if (coverage.scratchBytes == 0) {
    if (scratch)
      coverage.sawBadScratch = true;
    return;
  }
  if (!scratch || reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
    coverage.sawBadScratch = true;
  std::memset(bytes, static_cast<int>(begin & 0xff), coverage.scratchBytes);
  for (int64_t i = 0; i < coverage.scratchBytes; ++i)
    if (bytes[i] != (begin & 0xff))
      coverage.sawBadScratch = true;
}

void cover(void **arguments) {
  auto *coverage = static_cast<Coverage *>(arguments[0]);
  attn_rt_parallel_for(coverage->count, unknownWork, coverage->scratchBytes, coverBody, coverage);
}

TEST(RuntimeParallelFor, RunsEachItemOnce) {
  for (int64_t threads = 1; threads <= 8; ++threads) {
    Pool pool = makePool(threads);
    ASSERT_EQ(attn_rt_pool_threads(pool.get()), threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      Coverage coverage(count);
      attn_rt_call_result result = call(pool.get(), cover, &coverage);
      EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
      coverage.expectEachOnce();
      EXPECT_EQ(result.parallel_loops, count > 0 ? 1 : 0);
      EXPECT_EQ(result.tiles, count);
    }
  }
}

TEST(RuntimeParallelFor, RunsOnTheCallingThreadWithoutAPool) {
  Coverage coverage(100, 40);
  attn_rt_call_result result = call(nullptr, cover, &coverage);
  coverage.expectEachOnce();
  EXPECT_EQ(result.scratch_bytes, 64);
}

TEST(RuntimeParallelFor, TakesItemsInAscendingOrder) {
  std::vector<int64_t> order;
  call(
      nullptr,
      [](void **arguments) {
        attn_rt_parallel_for(
            9, unknownWork, 0,
            [](void *context, int64_t begin, int64_t end, void *) {
              for (; begin < end; ++begin)
                static_cast<std::vector<int64_t> *>(context)->push_back(begin);
            },
            arguments[0]);
      },
      &order);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(RuntimeParallelFor, IgnoresNegativeCounts) {
  attn_rt_call_result result =
      call(nullptr, [](void **) { attn_rt_parallel_for(-3, unknownWork, -1, nullptr, nullptr); });
  EXPECT_EQ(result.code, ATTN_RT_OK);
  EXPECT_EQ(result.parallel_loops, 0);
}

TEST(RuntimeParallelFor, RunsOutsideAnyCall) {
  Coverage coverage(10, 128);
  void *arguments[] = {&coverage};
  cover(arguments);
  coverage.expectEachOnce();
}

TEST(RuntimeParallelFor, GivesEachWorkerItsOwnAlignedScratch) {
  for (int64_t threads : {1, 2, 5, 8}) {
    Pool pool = makePool(threads);
    for (int64_t bytes : {1, 63, 64, 1000}) {
      Coverage coverage(200, bytes);
      attn_rt_call_result result = call(pool.get(), cover, &coverage);
      EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
      coverage.expectEachOnce();
      EXPECT_EQ(result.scratch_bytes, (bytes + 63) / 64 * 64 * threads);
      EXPECT_EQ(result.allocations, 0);
    }
  }
}

TEST(RuntimeParallelFor, ReusesScratchBetweenLoopsAndCalls) {
  Pool pool = makePool(1);
  std::vector<void *> seen;
  Function twoLoops = [](void **arguments) {
    auto body = [](void *context, int64_t, int64_t, void *scratch) {
      static_cast<std::vector<void *> *>(context)->push_back(scratch);
    };
    attn_rt_parallel_for(2, unknownWork, 4096, body, arguments[0]);
    attn_rt_parallel_for(2, unknownWork, 1024, body, arguments[0]);
  };
  call(pool.get(), twoLoops, &seen);
  call(pool.get(), twoLoops, &seen);
  ASSERT_EQ(seen.size(), 8u);
  for (void *scratch : seen)
    EXPECT_EQ(scratch, seen[0]);
}

TEST(RuntimeParallelFor, NestsSeriallyWithItsOwnScratch) {
  Pool pool = makePool(4);
  Coverage inner(7, 100);
  attn_rt_call_result result = call(
      pool.get(),
      [](void **arguments) {
        attn_rt_parallel_for(
            5, unknownWork, 32,
            [](void *context, int64_t begin, int64_t, void *scratch) {
              std::memset(scratch, static_cast<int>(begin), 32);
              auto self = std::this_thread::get_id();
              struct Nested {
                Coverage *coverage;
                std::thread::id self;
              } nested = {static_cast<Coverage *>(context), self};
              attn_rt_parallel_for(
                  7, unknownWork, 100,
                  [](void *context, int64_t begin, int64_t end, void *scratch) {
                    auto &nested = *static_cast<Nested *>(context);
                    if (std::this_thread::get_id() != nested.self)
                      nested.coverage->sawBadRange = true;
                    coverBody(nested.coverage, begin, end, scratch);
                  },
                  &nested);
              if (static_cast<char *>(scratch)[31] != begin)
                static_cast<Coverage *>(context)->sawBadScratch = true;
            },
            arguments[0]);
      },
      &inner);
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  inner.expectEachOnce(5);
  EXPECT_EQ(result.parallel_loops, 6);
  EXPECT_EQ(result.tiles, 5 + 5 * 7);
  // Four workers with 64 bytes, and 128 for the nested loop of each.
  EXPECT_EQ(result.scratch_bytes, 4 * 64 + 4 * 128);
  EXPECT_EQ(result.allocations, 0);
}

TEST(RuntimeParallelFor, ServesConcurrentCallers) {
  Pool pool = makePool(3);
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 25; ++repeat) {
        Coverage coverage(37, 96);
        attn_rt_call_result result = call(pool.get(), cover, &coverage);
        if (result.code != ATTN_RT_OK || result.tiles != 37 || coverage.sawBadScratch)
          ++failures;
        for (std::atomic<int> &visit : coverage.visits)
          if (visit != 1)
            ++failures;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(failures, 0);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

TEST(RuntimePool, RefusesSizesOutOfRange) {
  EXPECT_EQ(attn_rt_pool_create(-1), nullptr);
  EXPECT_EQ(attn_rt_pool_create(ATTN_RT_MAX_THREADS + 1), nullptr);
  Pool all = makePool(0);
  ASSERT_TRUE(all);
  EXPECT_GE(attn_rt_pool_threads(all.get()), 1);
  EXPECT_EQ(attn_rt_pool_threads(nullptr), 1);
  attn_rt_pool_destroy(nullptr);
}

/// An executor that starts a thread per worker and counts its runs.
void runOnThreads(void *user, int64_t workers, void (*work)(void *, int64_t), void *context) {
  ++*static_cast<std::atomic<int> *>(user);
  std::vector<std::thread> threads;
  for (int64_t worker = workers; worker-- > 0;)
    threads.emplace_back(work, context, worker);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(RuntimeExecutor, RunsLoopsOnTheCallersThreads) {
  std::atomic<int> runs{0};
  attn_rt_executor executor = {&runs, 3, runOnThreads};
  Pool pool(attn_rt_pool_create_from_executor(&executor));
  ASSERT_EQ(attn_rt_pool_threads(pool.get()), 3);
  Coverage coverage(50, 100);
  attn_rt_call_result result = call(pool.get(), cover, &coverage);
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  coverage.expectEachOnce();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(result.scratch_bytes, 3 * 128);
}

TEST(RuntimeExecutor, MayRunWorkersOneAfterTheOther) {
  attn_rt_executor executor = {nullptr, 4, [](void *, int64_t workers, void (*work)(void *, int64_t), void *context) {
                                 for (int64_t i = 0; i < workers; ++i)
                                   work(context, i);
                               }};
  Pool pool(attn_rt_pool_create_from_executor(&executor));
  Coverage coverage(9, 8);
  EXPECT_EQ(call(pool.get(), cover, &coverage).code, ATTN_RT_OK);
  coverage.expectEachOnce();
}

TEST(RuntimeExecutor, MissingWorkersAreAnError) {
  attn_rt_executor executor = {nullptr, 4, [](void *, int64_t, void (*work)(void *, int64_t), void *context) {
                                 work(context, 1);
                                 work(context, -1);
                                 work(context, 4);
                               }};
  Pool pool(attn_rt_pool_create_from_executor(&executor));
  Coverage coverage(9, 8);
  attn_rt_call_result result = call(pool.get(), cover, &coverage);
  EXPECT_EQ(result.code, ATTN_RT_EXECUTOR_FAILED);
  EXPECT_STREQ(result.message, "the executor must run each worker once, but ran 1 of 4");
}

TEST(RuntimeExecutor, RefusesBadDescriptions) {
  EXPECT_EQ(attn_rt_pool_create_from_executor(nullptr), nullptr);
  attn_rt_executor executor = {nullptr, 2, nullptr};
  EXPECT_EQ(attn_rt_pool_create_from_executor(&executor), nullptr);
  executor = {nullptr, 0, runOnThreads};
  EXPECT_EQ(attn_rt_pool_create_from_executor(&executor), nullptr);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(RuntimeCall, ReportsAFailureWithItsNumbers) {
  bool reached = false;
  attn_rt_call_result result = call(
      nullptr,
      [](void **arguments) {
        attn_rt_fail("kv_lengths[{0}] is {1}, not {x} {0}", 3, -70);
        *static_cast<bool *>(arguments[0]) = true;
      },
      &reached);
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "kv_lengths[3] is -70, not {x} 3");
  EXPECT_FALSE(reached);
}

TEST(RuntimeCall, CutsLongMessages) {
  static std::string text = std::string(509, 'x') + "{0}{1}";
  attn_rt_call_result result = call(nullptr, [](void **) { attn_rt_fail(text.c_str(), 123456, 7); });
  EXPECT_EQ(std::string(result.message), std::string(509, 'x') + "12");
}

TEST(RuntimeCall, SucceedsAgainAfterAFailure) {
  Pool pool = makePool(2);
  EXPECT_NE(call(pool.get(), [](void **) { attn_rt_fail("no", 0, 0); }).code, 0);
  Coverage coverage(20, 64);
  attn_rt_call_result result = call(pool.get(), cover, &coverage);
  EXPECT_EQ(result.code, ATTN_RT_OK);
  EXPECT_STREQ(result.message, "");
  coverage.expectEachOnce();
}

TEST(RuntimeCall, ReportsTheLowestFailingItemOfALoop) {
  for (int64_t threads : {1, 2, 8}) {
    Pool pool = makePool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      attn_rt_call_result result = call(pool.get(), [](void **) {
        attn_rt_parallel_for(
            100, unknownWork, 64,
            [](void *, int64_t begin, int64_t, void *) {
              if (begin % 10 == 7)
                attn_rt_fail("item {0} of {1}", begin, 100);
            },
            nullptr);
        attn_rt_fail("not reached", 0, 0);
      });
      ASSERT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
      ASSERT_STREQ(result.message, "item 7 of 100");
    }
  }
}

TEST(RuntimeCall, ReportsFailuresOfNestedLoops) {
  Pool pool = makePool(4);
  attn_rt_call_result result = call(pool.get(), [](void **) {
    attn_rt_parallel_for(
        3, unknownWork, 64,
        [](void *, int64_t, int64_t, void *) {
          attn_rt_parallel_for(
              5, unknownWork, 64,
              [](void *, int64_t begin, int64_t, void *) {
                if (begin == 2)
                  attn_rt_fail("nested {0}", begin, 0);
              },
              nullptr);
        },
        nullptr);
  });
  EXPECT_STREQ(result.message, "nested 2");
}

TEST(RuntimeCall, NestsAndContainsInnerFailures) {
  attn_rt_call_result result = call(nullptr, [](void **) {
    attn_rt_call_result inner = call(nullptr, [](void **) { attn_rt_fail("inner {0}", 1, 0); });
    attn_rt_fail(std::strcmp(inner.message, "inner 1") == 0 ? "outer {1}" : "bad inner", 1, 2);
  });
  EXPECT_STREQ(result.message, "outer 2");
}

TEST(RuntimeCall, CallsInsideABodyStayOnItsThread) {
  Pool pool = makePool(4);
  struct State {
    attn_rt_pool *pool;
    std::atomic<int> failures{0};
  } state;
  state.pool = pool.get();
  attn_rt_call_result result = call(
      pool.get(),
      [](void **arguments) {
        attn_rt_parallel_for(
            20, unknownWork, 64,
            [](void *context, int64_t, int64_t, void *) {
              auto &state = *static_cast<State *>(context);
              Coverage coverage(11, 32);
              if (call(state.pool, cover, &coverage).scratch_bytes != 64)
                ++state.failures;
              if (call(state.pool, [](void **) { attn_rt_fail("x", 0, 0); }).code != ATTN_RT_INVALID_ARGUMENT)
                ++state.failures;
            },
            arguments[0]);
      },
      &state);
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(state.failures, 0);
}

TEST(RuntimeCall, RefusesBadOptions) {
  EXPECT_EQ(attn_rt_call(nullptr, nullptr, nullptr, nullptr), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_EQ(attn_rt_call(nullptr, [](void **) {}, nullptr, nullptr), ATTN_RT_OK);
  attn_rt_call_result result = call(nullptr, [](void **) {}, nullptr, -5);
  EXPECT_STREQ(result.message, "max_scratch_bytes must be at least 0 (0: no limit), but got -5");
}

TEST(RuntimeCallDeathTest, FailingOutsideACallAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(attn_rt_fail("lost {0}", 4, 0), "attn runtime: lost 4 \\(outside of attn_rt_call\\)");
}

//===----------------------------------------------------------------------===//
// Scratch limits
//===----------------------------------------------------------------------===//

TEST(RuntimeScratch, RefusesMoreThanTheLimit) {
  Pool pool = makePool(4);
  Coverage coverage(10, 1000);
  attn_rt_call_result result = call(pool.get(), cover, &coverage, 4095);
  EXPECT_EQ(result.code, ATTN_RT_SCRATCH_LIMIT);
  EXPECT_STREQ(result.message, "the kernel needs 4096 bytes of scratch, but max_scratch_bytes "
                               "is 4095; raise it or use fewer threads");
  EXPECT_EQ(call(pool.get(), cover, &coverage, 4096).code, ATTN_RT_OK);
}

TEST(RuntimeScratch, CountsNestedLoopsForEveryWorker) {
  Function function = [](void **) {
    attn_rt_parallel_for(
        2, unknownWork, 64,
        [](void *, int64_t, int64_t, void *) {
          attn_rt_parallel_for(1, unknownWork, 64, [](void *, int64_t, int64_t, void *) {}, nullptr);
        },
        nullptr);
  };
  Pool pool = makePool(2);
  EXPECT_EQ(call(pool.get(), function, nullptr, 255).code, ATTN_RT_SCRATCH_LIMIT);
  EXPECT_EQ(call(pool.get(), function, nullptr, 256).code, ATTN_RT_OK);
}

TEST(RuntimeScratch, RefusesImpossibleSizes) {
  Pool pool = makePool(2);
  for (int64_t bytes : {int64_t(-1), INT64_MIN, INT64_MAX, INT64_MAX / 2}) {
    static int64_t requested;
    requested = bytes;
    attn_rt_call_result result = call(pool.get(), [](void **) {
      attn_rt_parallel_for(9, unknownWork, requested, [](void *, int64_t, int64_t, void *) {}, nullptr);
    });
    EXPECT_EQ(result.code, ATTN_RT_OUT_OF_MEMORY);
    EXPECT_EQ(std::string(result.message),
              "scratch of " + std::to_string(bytes) + " bytes for each of 2 workers is negative or overflows");
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

TEST(RuntimeMemory, AlignsAndCounts) {
  attn_rt_call_result result = call(nullptr, [](void **) {
    void *a = _mlir_memref_to_llvm_alloc(100);
    void *b = _mlir_memref_to_llvm_aligned_alloc(4096, 50);
    std::memset(a, 1, 100);
    std::memset(b, 2, 50);
    if (reinterpret_cast<uintptr_t>(a) % 64 || reinterpret_cast<uintptr_t>(b) % 4096)
      attn_rt_fail("misaligned", 0, 0);
    _mlir_memref_to_llvm_free(a);
    void *empty = _mlir_memref_to_llvm_alloc(0);
    if (!empty)
      attn_rt_fail("NULL", 0, 0);
    _mlir_memref_to_llvm_free(empty);
    _mlir_memref_to_llvm_free(b);
    _mlir_memref_to_llvm_free(nullptr);
    _mlir_memref_to_llvm_free(_mlir_memref_to_llvm_aligned_alloc(1, 120));
  });
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(result.allocations, 4);
  EXPECT_EQ(result.allocated_bytes, 150);
}

// The leak checker of AddressSanitizer sees the buffers if this breaks.
TEST(RuntimeMemory, ReleasesWhatTheCallLeaves) {
  for (bool fails : {false, true}) {
    attn_rt_call_result result = call(
        nullptr,
        [](void **arguments) {
          void *buffers[5];
          for (void *&buffer : buffers)
            buffer = _mlir_memref_to_llvm_alloc(1000);
          _mlir_memref_to_llvm_free(buffers[2]);
          if (*static_cast<bool *>(arguments[0]))
            attn_rt_fail("failed with {0} buffers", 4, 0);
        },
        &fails);
    EXPECT_EQ(result.code != ATTN_RT_OK, fails);
    EXPECT_EQ(result.allocations, 5);
    EXPECT_EQ(result.allocated_bytes, 5000);
  }
}

TEST(RuntimeMemory, WorksInsideBodies) {
  Pool pool = makePool(4);
  attn_rt_call_result result = call(pool.get(), [](void **) {
    attn_rt_parallel_for(
        100, unknownWork, 0,
        [](void *, int64_t begin, int64_t, void *) {
          void *kept = _mlir_memref_to_llvm_alloc(10);
          void *freed = _mlir_memref_to_llvm_alloc(20);
          std::memset(kept, 0, 10);
          _mlir_memref_to_llvm_free(freed);
          if (begin == 90)
            attn_rt_fail("item {0}", begin, 0);
        },
        nullptr);
  });
  EXPECT_STREQ(result.message, "item 90");
  EXPECT_GE(result.allocations, 182);
}

TEST(RuntimeMemory, RefusesAbsurdRequests) {
  attn_rt_call_result result = call(nullptr, [](void **) { _mlir_memref_to_llvm_alloc(UINT64_MAX); });
  EXPECT_EQ(result.code, ATTN_RT_OUT_OF_MEMORY);
  EXPECT_STREQ(result.message, "a buffer of -1 bytes (as signed 64 bits) "
                               "exceeds 140737488355328");
  result = call(nullptr, [](void **) { _mlir_memref_to_llvm_aligned_alloc(64, uint64_t(1) << 62); });
  EXPECT_EQ(result.code, ATTN_RT_OUT_OF_MEMORY);
  result = call(nullptr, [](void **) { _mlir_memref_to_llvm_aligned_alloc(96, 10); });
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_EQ(result.allocations, 0);
}

TEST(RuntimeMemory, WorksOutsideAnyCall) {
  void *buffer = _mlir_memref_to_llvm_aligned_alloc(256, 33);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 256, 0u);
  std::memset(buffer, 7, 33);
  _mlir_memref_to_llvm_free(buffer);
}

//===----------------------------------------------------------------------===//
// Floating-point environment
//===----------------------------------------------------------------------===//

/// 1/3 rounds differently in every mode; a subnormal needs no flushing.
struct FloatState {
  int rounding = 0;
  unsigned control = 0;
  float subnormal = 0;

  void read() {
    rounding = std::fegetround();
    volatile float smallest = 1.17549435e-38f, half = 0.5f;
    subnormal = smallest * half;
#if defined(__SSE__)
    control = _mm_getcsr() & 0xFFC0;
#endif
  }
  bool isDefault() const {
#if defined(__SSE__)
    if (control != 0x1F80)
      return false;
#endif
    return rounding == FE_TONEAREST && subnormal > 0;
  }
};

/// Reads the state of the call into [0] and of each item into [1 + item].
void readFloatState(void **arguments) {
  auto *states = static_cast<FloatState *>(arguments[0]);
  states[0].read();
  attn_rt_parallel_for(
      16, unknownWork, 0,
      [](void *context, int64_t begin, int64_t end, void *) {
        for (; begin < end; ++begin)
          static_cast<FloatState *>(context)[1 + begin].read();
        std::this_thread::yield();
      },
      states);
}

void readFloatStateAndFail(void **arguments) {
  readFloatState(arguments);
  attn_rt_fail("done", 0, 0);
}

TEST(RuntimeFloat, RunsInTheDefaultEnvironmentAndRestoresTheCallers) {
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  // Flush to zero, denormals are zero.
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  FloatState caller, after;
  caller.read();

  // The workers start here, and would inherit the caller's environment.
  Pool pool = makePool(4);
  std::vector<FloatState> succeeded(17), failed(17);
  attn_rt_call_result ok = call(pool.get(), readFloatState, succeeded.data());
  attn_rt_call_result bad = call(pool.get(), readFloatStateAndFail, failed.data());
  after.read();
  std::fesetenv(&before);

  EXPECT_EQ(ok.code, ATTN_RT_OK);
  EXPECT_STREQ(bad.message, "done");
  for (const std::vector<FloatState> &states : {succeeded, failed})
    for (const FloatState &state : states)
      EXPECT_TRUE(state.isDefault());
  EXPECT_FALSE(caller.isDefault());
  EXPECT_EQ(after.rounding, FE_UPWARD);
  EXPECT_EQ(after.control, caller.control);
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

TEST(RuntimeIdentity, ListsTheSymbolsOfGeneratedCode) {
  const attn_rt_symbol *table = nullptr;
  size_t count = attn_rt_symbols(&table);
  ASSERT_EQ(count, 13u);
  EXPECT_EQ(attn_rt_symbols(nullptr), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_NE(table[i].address, nullptr);
    if (std::strcmp(table[i].name, "attn_rt_fail") == 0) {
      EXPECT_EQ(table[i].address, reinterpret_cast<void *>(attn_rt_fail));
    }
  }
  EXPECT_STREQ(attn_rt_version(), "0.1.0");
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

struct RecordedLoop {
  int64_t count, wall;
  std::vector<attn_rt_worker_profile> workers;
};

void recordLoop(void *user, const attn_rt_loop_profile *profile) {
  static_cast<std::vector<RecordedLoop> *>(user)->push_back(
      {profile->count, profile->wall_ns, {profile->workers, profile->workers + profile->worker_count}});
}

/// Two loops of 40 and 3 items; each item of the first counts its number of kv tiles and runs a nested loop.
void countingFunction(void **) {
  auto nothing = [](void *, int64_t, int64_t, void *) {};
  attn_rt_parallel_for(
      40, unknownWork, 0,
      [](void *context, int64_t item, int64_t, void *) {
        attn_rt_count_kv_tiles(item);
        attn_rt_parallel_for(5, unknownWork, 0, reinterpret_cast<void (*)(void *, int64_t, int64_t, void *)>(context),
                             nullptr);
      },
      reinterpret_cast<void *>(+nothing));
  attn_rt_parallel_for(3, unknownWork, 0, nothing, nullptr);
  attn_rt_parallel_for(0, unknownWork, 0, nothing, nullptr);
}

TEST(RuntimeProfile, TellsWhatEachWorkerDid) {
  Pool pool = makePool(4);
  std::vector<RecordedLoop> loops;
  attn_rt_profiler profiler = {&loops, recordLoop};
  attn_rt_call_options options = {pool.get(), 0, &profiler, 0, nullptr};
  ASSERT_EQ(attn_rt_call(&options, countingFunction, nullptr, nullptr), ATTN_RT_OK);
  ASSERT_EQ(loops.size(), 2u) << "nested and empty loops are none";
  EXPECT_EQ(loops[0].workers.size(), 4u);
  EXPECT_EQ(loops[1].workers.size(), 3u);
  int64_t expectedItems[] = {40, 3}, expectedTiles[] = {40 * 39 / 2, 0};
  for (int n = 0; n < 2; ++n) {
    int64_t items = 0, kvTiles = 0;
    for (const attn_rt_worker_profile &worker : loops[n].workers) {
      items += worker.items;
      kvTiles += worker.kv_tiles;
      EXPECT_GE(worker.busy_ns, 0);
      EXPECT_LE(worker.busy_ns, loops[n].wall);
    }
    EXPECT_EQ(loops[n].count, expectedItems[n]);
    EXPECT_EQ(items, expectedItems[n]);
    EXPECT_EQ(kvTiles, expectedTiles[n]);
  }
}

TEST(RuntimeProfile, LeavesOutLoopsThatFail) {
  Pool pool = makePool(2);
  std::vector<RecordedLoop> loops;
  attn_rt_profiler profiler = {&loops, recordLoop};
  attn_rt_call_options options = {pool.get(), 0, &profiler, 0, nullptr};
  auto failing = [](void **) {
    attn_rt_parallel_for(
        2, unknownWork, 0, [](void *, int64_t, int64_t, void *) { attn_rt_fail("no", 0, 0); }, nullptr);
  };
  EXPECT_EQ(attn_rt_call(&options, failing, nullptr, nullptr), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_TRUE(loops.empty());
}

//===-- bf16 --------------------------------------------------------------------===//

uint32_t truncateBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  value = attn_rt_truncate_bf16(value);
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(RuntimeBF16, RoundsToNearestEven) {
  EXPECT_EQ(truncateBits(0x3F800000), 0x3F80u);
  EXPECT_EQ(truncateBits(0x3F808000), 0x3F80u) << "a tie goes to the even one below";
  EXPECT_EQ(truncateBits(0x3F818000), 0x3F82u) << "and above";
  EXPECT_EQ(truncateBits(0x3F808001), 0x3F81u);
  EXPECT_EQ(truncateBits(0xBF80FFFF), 0xBF81u);
  EXPECT_EQ(truncateBits(0x7F7FFFFF), 0x7F80u) << "beyond the largest: infinity";
  EXPECT_EQ(truncateBits(0xFF800000), 0xFF80u);
  EXPECT_EQ(truncateBits(0x7F800001), 0x7FC0u) << "NaN stays NaN, and becomes quiet";
}

} // namespace
