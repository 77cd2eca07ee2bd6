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

// Four rows at a time: the additions of one row wait for each other.
ATTN_EMULATOR_VECTORIZED
void attn::emulator::multiplyBy8(const float *a, const float *b, float *product, unsigned m, unsigned k) {
  for (unsigned row = 0; row < m; row += 4, a += 4 * k, product += 4 * 8) {
    float first[8] = {}, second[8] = {}, third[8] = {}, fourth[8] = {};
    for (unsigned step = 0; step < k; ++step) {
      const float *factors = b + step * 8;
      for (unsigned column = 0; column < 8; ++column)
        first[column] += a[step] * factors[column];
      for (unsigned column = 0; column < 8; ++column)
        second[column] += a[k + step] * factors[column];
      for (unsigned column = 0; column < 8; ++column)
        third[column] += a[2 * k + step] * factors[column];
      for (unsigned column = 0; column < 8; ++column)
        fourth[column] += a[3 * k + step] * factors[column];
    }
    std::memcpy(product, first, sizeof(first));
    std::memcpy(product + 8, second, sizeof(second));
    std::memcpy(product + 16, third, sizeof(third));
    std::memcpy(product + 24, fourth, sizeof(fourth));
  }
}
