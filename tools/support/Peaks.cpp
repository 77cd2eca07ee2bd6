//===- Peaks.cpp - what no code can exceed on this machine -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = x * a + b in independent chains. An FMA takes about 4 cycles and two start in one, so 8 chains are the least that
// keep the units busy; 12 leave slack and fit 16 registers together with a and b. b is 0 and a is 1 at run time alone:
// the values stay put, and the compiler cannot know. Reading sums vectors of a large array, in 8 chains too; which
// order and which prefetch is the fastest differs from core to core, so several are tried.
//
//===----------------------------------------------------------------------===//

#include "Peaks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace attn::tool;

namespace {

constexpr int64_t chains = 12;
constexpr int64_t steps = 200000;
/// Larger than the last cache of any machine that this runs on, small enough for its memory.
constexpr int64_t readBytes = int64_t(256) << 20;

/// One thread's share of a round, and what it is worth.
struct Work {
  std::function<void(int64_t thread)> run;
  /// Operations or bytes of all threads, in 1e9.
  double amount = 0;
  /// The fastest counts, so that a short interruption does not.
  int rounds = 5;
};

template <typename Scalar, int Bytes> struct VectorOf {
  typedef Scalar Type __attribute__((vector_size(Bytes)));
  typedef Scalar Unaligned __attribute__((vector_size(Bytes), aligned(alignof(Scalar)), may_alias));
};

} // namespace

// Functions of different instruction sets cannot share an inlined one in every compiler, hence a macro. Chains
// start differently, so that none is computed once for two, and the result depends on each.
#define ATTN_DEFINE_PEAK_LOOPS(name, attributes, bytes)                                                                \
  template <typename Scalar> attributes [[gnu::noinline]] static Scalar fma##name(Scalar one, Scalar zero) {           \
    using Vector = typename VectorOf<Scalar, bytes>::Type;                                                             \
    Vector a = Vector{} + one, b = Vector{} + zero;                                                                    \
    Vector x0 = a, x1 = a + 1, x2 = a + 2, x3 = a + 3, x4 = a + 4, x5 = a + 5;                                         \
    Vector x6 = a + 6, x7 = a + 7, x8 = a + 8, x9 = a + 9, x10 = a + 10, x11 = a + 11;                                 \
    for (int64_t step = 0; step < steps; ++step) {                                                                     \
      x0 = x0 * a + b, x1 = x1 * a + b, x2 = x2 * a + b, x3 = x3 * a + b;                                              \
      x4 = x4 * a + b, x5 = x5 * a + b, x6 = x6 * a + b, x7 = x7 * a + b;                                              \
      x8 = x8 * a + b, x9 = x9 * a + b, x10 = x10 * a + b, x11 = x11 * a + b;                                          \
    }                                                                                                                  \
    Vector sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;                                          \
    return sum[0];                                                                                                     \
  }                                                                                                                    \
  /* `streams` parts at once, each with a prefetch into the second-level cache so many bytes ahead (0: none). */       \
  template <int streams, int ahead>                                                                                    \
  attributes [[gnu::noinline]] static float read##name(const float *begin, const float *end) {                         \
    using Vector = typename VectorOf<float, bytes>::Type;                                                              \
    constexpr int64_t lanes = bytes / sizeof(float), step = 8 * lanes;                                                 \
    int64_t share = (end - begin) / streams / step * step;                                                             \
    Vector x0{}, x1{}, x2{}, x3{}, x4{}, x5{}, x6{}, x7{};                                                             \
    for (int64_t done = 0; done < share; done += step)                                                                 \
      for (int64_t stream = 0; stream < streams; ++stream) {                                                           \
        const float *place = begin + stream * share + done;                                                            \
        for (int64_t line = 0; ahead > 0 && line < step; line += 16)                                                   \
          __builtin_prefetch(reinterpret_cast<const char *>(place + line) + ahead, 0, 2);                              \
        auto *at = reinterpret_cast<const VectorOf<float, bytes>::Unaligned *>(place);                                 \
        x0 += at[0], x1 += at[1], x2 += at[2], x3 += at[3], x4 += at[4], x5 += at[5], x6 += at[6], x7 += at[7];        \
      }                                                                                                                \
    Vector sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;                                                                \
    return sum[0];                                                                                                     \
  }

#if defined(__x86_64__)
ATTN_DEFINE_PEAK_LOOPS(Avx512, [[gnu::target("avx512f,avx512vl,fma")]], 64)
ATTN_DEFINE_PEAK_LOOPS(Avx2, [[gnu::target("avx2,fma")]], 32)
#endif
ATTN_DEFINE_PEAK_LOOPS(Baseline, , 16)

#undef ATTN_DEFINE_PEAK_LOOPS

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] static float dotAvx512(float zero) {
  __m512 x[chains];
  for (int64_t n = 0; n < chains; ++n)
    x[n] = _mm512_set1_ps(zero + static_cast<float>(n));
  auto a = (__m512bh)_mm512_set1_ps(zero), b = (__m512bh)_mm512_set1_ps(zero);
  for (int64_t step = 0; step < steps; ++step)
#pragma GCC unroll 12
    for (int64_t n = 0; n < chains; ++n)
      x[n] = _mm512_dpbf16_ps(x[n], a, b);
  float sum = 0;
  for (int64_t n = 0; n < chains; ++n)
    sum += _mm512_cvtss_f32(x[n]);
  return sum;
}
#endif

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

namespace {

enum class Isa { Baseline, Avx2, Avx512 };

/// The loops for the widest vectors.
struct Loops {
  int64_t vectorBytes;
  float (*fmaSingle)(float, float);
  double (*fmaDouble)(double, double);
  /// Orders of reading.
  std::array<float (*)(const float *, const float *), 4> reads;
};

} // namespace

static Isa detectIsa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return Isa::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return Isa::Avx2;
#endif
  return Isa::Baseline;
}

static Loops findLoops() {
  switch (detectIsa()) {
#if defined(__x86_64__)
  case Isa::Avx512:
    return {64,
            fmaAvx512<float>,
            fmaAvx512<double>,
            {readAvx512<1, 0>, readAvx512<1, 8192>, readAvx512<2, 0>, readAvx512<2, 8192>}};
  case Isa::Avx2:
    return {
        32, fmaAvx2<float>, fmaAvx2<double>, {readAvx2<1, 0>, readAvx2<1, 8192>, readAvx2<2, 0>, readAvx2<2, 8192>}};
#endif
  default:
    return {16,
            fmaBaseline<float>,
            fmaBaseline<double>,
            {readBaseline<1, 0>, readBaseline<1, 8192>, readBaseline<2, 0>, readBaseline<2, 8192>}};
  }
}

const char *attn::tool::peakVectors() {
  switch (detectIsa()) {
  case Isa::Avx512:
    return "AVX-512";
  case Isa::Avx2:
    return "AVX2";
  case Isa::Baseline:
    break;
  }
  return "baseline";
}

const char *attn::tool::toString(Peak peak) {
  switch (peak) {
  case Peak::FmaF32:
    return "f32 FMA";
  case Peak::FmaF64:
    return "f64 FMA";
  case Peak::DotBf16:
    return "bf16 dot";
  case Peak::Read:
    break;
  }
  return "read";
}

const char *attn::tool::unitOf(Peak peak) { return peak == Peak::Read ? "GB/s" : "GFLOP/s"; }

bool attn::tool::isAvailable(Peak peak) {
  if (peak != Peak::DotBf16)
    return true;
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// A place where a fixed number of threads wait for each other, again and again.
class Barrier {
public:
  explicit Barrier(int64_t threads) : threads(threads) {}

  void wait() {
    int64_t turn = turns.load();
    if (arrived.fetch_add(1) + 1 == threads) {
      arrived.store(0);
      turns.fetch_add(1);
      return;
    }
    // Sleeping would cost more than the rounds take; with more threads than cores the others must get on.
    while (turns.load() == turn)
      std::this_thread::yield();
  }

private:
  const int64_t threads;
  std::atomic<int64_t> arrived{0}, turns{0};
};

/// The fastest of some rounds, in seconds from the common start to the end of the last thread.
static double fastestRound(int64_t threads, const Work &work) {
  Barrier barrier(threads);
  double best = 0;
  auto runRounds = [&](int64_t thread) {
    for (int round = 0; round < work.rounds; ++round) {
      barrier.wait();
      auto start = std::chrono::steady_clock::now();
      work.run(thread);
      barrier.wait();
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (thread == 0)
        best = round == 0 ? seconds : std::min(best, seconds);
    }
  };
  std::vector<std::thread> others;
  for (int64_t thread = 1; thread < threads; ++thread)
    others.emplace_back(runRounds, thread);
  runRounds(0);
  for (std::thread &other : others)
    other.join();
  return best;
}

template <typename Scalar> static Work fmaWork(Scalar (*loop)(Scalar, Scalar), int64_t threads, int64_t vectorBytes) {
  auto run = [loop](int64_t) {
    volatile Scalar one = 1, zero = 0;
    volatile Scalar sink = loop(one, zero);
    static_cast<void>(sink);
  };
  int64_t lanes = vectorBytes / static_cast<int64_t>(sizeof(Scalar));
  return {run, 2e-9 * static_cast<double>(threads * lanes * chains * steps)};
}

static Work dotWork(int64_t threads) {
#if defined(__x86_64__)
  auto run = [](int64_t) {
    volatile float zero = 0;
    volatile float sink = dotAvx512(zero);
    static_cast<void>(sink);
  };
  return {run, 2e-9 * static_cast<double>(threads * 32 * chains * steps)};
#else
  return {[](int64_t) {}, 0};
#endif
}

/// Each thread reads a part of its own.
static Work readWork(float (*loop)(const float *, const float *), const std::vector<float> &memory, int64_t threads) {
  int64_t share = static_cast<int64_t>(memory.size()) / threads;
  auto run = [=, begin = memory.data()](int64_t thread) {
    volatile float sink = loop(begin + thread * share, begin + (thread + 1) * share);
    static_cast<void>(sink);
  };
  return {run, 1e-9 * static_cast<double>(threads * share) * sizeof(float), /*rounds=*/2};
}

/// The fastest order of reading.
template <typename Reads>
static double measureReads(const Reads &reads, const std::vector<float> &memory, int64_t threads) {
  double best = 0;
  for (auto read : reads) {
    Work work = readWork(read, memory, threads);
    best = std::max(best, work.amount / fastestRound(threads, work));
  }
  return best;
}

double PeakMeter::measure(Peak peak) {
  if (!isAvailable(peak))
    return 0;
  Loops loops = findLoops();
  if (peak == Peak::Read && memory.empty())
    memory.assign(readBytes / sizeof(float), 1);
  if (peak == Peak::Read)
    return measureReads(loops.reads, memory, threads);
  Work work = peak == Peak::FmaF32   ? fmaWork(loops.fmaSingle, threads, loops.vectorBytes)
              : peak == Peak::FmaF64 ? fmaWork(loops.fmaDouble, threads, loops.vectorBytes)
                                     : dotWork(threads);
  return work.amount / fastestRound(threads, work);
}
