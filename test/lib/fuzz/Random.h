//===- Random.h - seeded choices ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_FUZZ_RANDOM_H
#define ATTN_TEST_LIB_FUZZ_RANDOM_H

#include "../SplitMix64.h"

#include <cstdint>
#include <vector>

namespace attn::fuzz {

/// splitmix64: the same choices on every machine. A case is a function of the seed and its index alone.
class Random {
public:
  Random(uint64_t seed, uint64_t index) : state(seed * 0xd1342543de82ef95 + index) { word(); }

  uint64_t word() { return nextSplitMix64(state); }
  /// 0 to end - 1; 0 for an end of 0.
  size_t below(size_t end) { return end ? word() % end : 0; }
  /// True once in `count` times.
  bool oneIn(size_t count) { return below(count) == 0; }
  template <typename T> const T &of(const std::vector<T> &choices) { return choices[below(choices.size())]; }

private:
  uint64_t state;
};

} // namespace attn::fuzz

#endif // ATTN_TEST_LIB_FUZZ_RANDOM_H
