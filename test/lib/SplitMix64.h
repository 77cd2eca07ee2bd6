//===- SplitMix64.h - pseudo-random words, the same on every machine -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_SPLITMIX64_H
#define ATTN_TEST_LIB_SPLITMIX64_H

#include <cstdint>

/// The next word of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, section
/// 5); moves the state on.
inline uint64_t nextSplitMix64(uint64_t &state) {
  uint64_t x = state += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

#endif // ATTN_TEST_LIB_SPLITMIX64_H
