//===- Random.h - the same choices everywhere ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_GRAPHS_RANDOM_H
#define ATTN_TEST_LIB_GRAPHS_RANDOM_H

#include <cstdint>
#include <vector>

namespace graphs {

/// splitmix64. Choices that are arguments of one call are made in variables first: the order of arguments is the
/// compiler's.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0xbf58476d1ce4e5b9ull + 1) {}

  /// From 0 to below `limit`.
  uint64_t next(uint64_t limit) {
    uint64_t x = state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (x ^ (x >> 31)) % limit;
  }
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
