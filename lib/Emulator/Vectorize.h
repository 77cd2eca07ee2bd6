//===- Vectorize.h - hot loops for the CPU at hand -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_VECTORIZE_H
#define ATTN_LIB_EMULATOR_VECTORIZE_H

// Compiles a function for AVX2, too, and takes that version where the CPU has it. Without FMA: sums stay the same.
// Sanitizers are not ready when versions are chosen.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ATTN_EMULATOR_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define ATTN_EMULATOR_VECTORIZED
#endif

namespace attn::emulator {

/// product = a b for row-major a: [m][k], b: [k][n]; sums over k in ascending order.
void multiply(const float *a, const float *b, float *product, unsigned m, unsigned n, unsigned k);
/// The same for n = 8; m is a multiple of 4.
void multiplyBy8(const float *a, const float *b, float *product, unsigned m, unsigned k);

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_VECTORIZE_H
