//===- Random.h - the same choices everywhere ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_GRAPHS_RANDOM_H
#define ATTN_TEST_LIB_GRAPHS_RANDOM_H

#include "../SplitMix64.h"

#include <cstdint>
#include <vector>

namespace graphs {

/// splitmix64. Choices that are arguments of one call are made in variables first: the order of arguments is the
/// compiler's.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0xbf58476d1ce4e5b9ull + 1) {}

  /// From 0 to below `limit`.
  uint64_t next(uint64_t limit) { return nextSplitMix64(state) % limit; }
  /// Both ends included.
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(next(high - low + 1)); }
  bool chance(unsigned percent) { return next(100) < percent; }
  template <typename T> const T &pick(const std::vector<T> &choices) { return choices[next(choices.size())]; }
  const char *pick(const std::vector<const char *> &choices) { return choices[next(choices.size())]; }

private:
  uint64_t state;
};

} // namespace graphs

#endif // ATTN_TEST_LIB_GRAPHS_RANDOM_H
