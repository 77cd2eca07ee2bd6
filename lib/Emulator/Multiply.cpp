//===- Multiply.cpp - the products of mma and wgmma ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Vectorize.h"
#include <cstring>

ATTN_EMULATOR_VECTORIZED
void attn::emulator::multiply(const float *a, const float *b, float *product, unsigned m, unsigned n, unsigned k) {
  for (unsigned row = 0; row < m; ++row) {
    float *sums = product + row * n;
    std::memset(sums, 0, n * sizeof(float));
    for (unsigned step = 0; step < k; ++step) {
      float factor = a[row * k + step];
      for (unsigned column = 0; column < n; ++column)
        sums[column] += factor * b[step * n + column];
    }
  }
}

ATTN_EMULATOR_VECTORIZED
void attn::emulator::multiplyBy8(const float *a, const float *b, float *product, unsigned m, unsigned k) {
  for (unsigned row = 0; row < m; ++row) {
    float sums[8] = {};
    for (unsigned step = 0; step < k; ++step) {
      float factor = a[row * k + step];
      for (unsigned column = 0; column < 8; ++column)
        sums[column] += factor * b[step * 8 + column];
    }
    std::memcpy(product + row * 8, sums, sizeof(sums));
  }
}
