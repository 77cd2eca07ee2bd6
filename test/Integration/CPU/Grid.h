//===- Grid.h - the axes of the integration grid -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is one value of each axis; its .mlir text and its data follow from it by formulas. Every dimension of a case
// has a different size, so that a swap fails.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TEST_INTEGRATION_CPU_GRID_H
#define ATTN_TEST_INTEGRATION_CPU_GRID_H

#include "attn/attn.h"
#include "test/Unit/GuardedMemory.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace grid {

/// The axes. The names of their values are in axisValues().
enum Axis {
  Mask,
  Score,
  Type,
  Out,
  Heads,
  Lengths,
  Sizes,
  Layout,
  Static,
  Results,
  Sink,
  KvLengths,
  Tiles,
  Segments,
  NumAxes
};

/// For each axis the names of its values, for titles and for counting them.
const std::array<std::vector<std::string>, NumAxes> &axisValues();

/// One value (its position in axisValues()) of each axis.
using Case = std::array<unsigned, NumAxes>;

/// Cases that together have every pair of values of every two axes, chosen greedily from `seed`.
std::vector<Case> pairwise(uint64_t seed);
/// `count` random cases: a sample of the full product, for runs by hand.
std::vector<Case> sample(uint64_t seed, int64_t count);

/// `mask:causal.score:alibi...`.
std::string title(const Case &c);

/// A buffer of one argument or result in guarded memory. In one of booleans true is any byte but 0.
class Buffer {
public:
  /// `sizes` row-major; filled by the caller through set().
  Buffer(attn::DType dtype, std::vector<int64_t> sizes);
  void set(int64_t element, double value);
  void setInteger(int64_t element, int64_t value);
  int64_t count() const { return elements; }
  std::vector<unsigned char> bytes() const { return {memory.data(), memory.data() + memory.size()}; }
  /// Fills it as the constructor did.
  void clear() { std::fill_n(memory.data(), memory.size(), 0xff); }
  attn::MutableTensorView view();
  /// True if what lies between the elements and the pages that fault still holds what the constructor wrote.
  bool guardsIntact() const { return memory.isIntact(); }

private:
  attn::DType dtype;
  std::vector<int64_t> sizes;
  int64_t elements, width;
  GuardedMemory memory;
};

/// What tests of masks and scores compile for, see suiteTarget().
std::string testTarget();
/// True for the emulator of a GPU: GPUs refuse f64, head sizes that types leave open, and some tile sizes.
bool isGpu(const std::string &target);
/// How a GPU refuses f64.
inline constexpr char kGpuRefusesF64[] = "f64 is not supported on a GPU target; use f32, f16 or bf16";

/// The program of a case and its data.
struct Problem {
  std::string text;
  std::vector<std::unique_ptr<Buffer>> inputs, outputs;
  attn::CompileOptions options;
};
/// Dynamic types leave every size open; with `keepsHeadSizes` all but those equal to the head or value size.
Problem build(const Case &c, bool keepsHeadSizes = false);

} // namespace grid

#endif // ATTN_TEST_INTEGRATION_CPU_GRID_H
