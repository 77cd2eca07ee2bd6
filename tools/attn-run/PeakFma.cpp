//===- PeakFma.cpp - the multiply-add peak of one thread ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = x * a + b in `accumulators` independent chains. An FMA takes about 4 cycles and two start in one, so 8 chains are
// the least that keep the units busy; 12 leave slack and fit 16 registers together with a and b. b is 0 and a is 1 at
// run time alone: the values stay put, and the compiler cannot know.
//
//===----------------------------------------------------------------------===//

#include "PeakFma.h"

#include <chrono>
#include <cstdint>

using namespace attn::tool;

namespace {

constexpr int accumulators = 12;
constexpr int64_t steps = 200000;
/// Rounds of `steps`; the fastest counts, so that a short interruption does not.
constexpr int rounds = 5;

} // namespace

template <typename Scalar, int Bytes> struct VectorOf {
  typedef Scalar Type __attribute__((vector_size(Bytes)));
};

// Functions of different instruction sets cannot share an inlined one in every compiler, hence a macro. Chains
// start differently, so that none is computed once for two, and the result depends on each.
#define ATTN_DEFINE_PEAK_LOOP(name, attributes, bytes)                                                                 \
  template <typename Scalar> attributes [[gnu::noinline]] static Scalar name(Scalar one, Scalar zero) {                \
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
  }

#if defined(__x86_64__)
ATTN_DEFINE_PEAK_LOOP(runAvx512, [[gnu::target("avx512f,avx512vl,fma")]], 64)
ATTN_DEFINE_PEAK_LOOP(runAvx2, [[gnu::target("avx2,fma")]], 32)
#endif
ATTN_DEFINE_PEAK_LOOP(runBaseline, , 16)

#undef ATTN_DEFINE_PEAK_LOOP

namespace {
enum class Isa { Baseline, Avx2, Avx512 };
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

const char *attn::tool::peakFmaIsa() {
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

/// GFLOP/s of one function on vectors of that many bytes.
template <typename Scalar> static double measure(Scalar (*function)(Scalar, Scalar), int bytes) {
  volatile Scalar one = 1, zero = 0;
  volatile Scalar sink = 0;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    sink = function(one, zero);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double work = 2.0 * (static_cast<double>(bytes) / sizeof(Scalar)) * accumulators * static_cast<double>(steps);
    best = best > work / seconds ? best : work / seconds;
  }
  static_cast<void>(sink);
  return best * 1e-9;
}

template <typename Scalar> static double measureWidest() {
  switch (detectIsa()) {
#if defined(__x86_64__)
  case Isa::Avx512:
    return measure<Scalar>(runAvx512<Scalar>, 64);
  case Isa::Avx2:
    return measure<Scalar>(runAvx2<Scalar>, 32);
#endif
  default:
    return measure<Scalar>(runBaseline<Scalar>, 16);
  }
}

double attn::tool::measurePeakFma(bool isDouble) { return isDouble ? measureWidest<double>() : measureWidest<float>(); }
