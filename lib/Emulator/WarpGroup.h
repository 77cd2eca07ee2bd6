//===- WarpGroup.h - four warps that multiply together -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_WARPGROUP_H
#define ATTN_LIB_EMULATOR_WARPGROUP_H

#include "Block.h"

namespace attn::emulator {

constexpr uint32_t kWarpGroupSize = 128;

/// What a wgmma read of shared memory, to see at the wait whether it is still there.
struct WgmmaOperand {
  uint64_t descriptor;
  bool isMnMajor;
  /// M of A, N of B; the other size is 16.
  uint32_t rows;
  const Site *site;
  /// The group that it belongs to, from 1.
  uint32_t group;
  std::vector<uint16_t> elements;
};

struct WarpGroup {
  const Site *site = nullptr;
  uint32_t arrived = 0;
  const uint64_t *arguments[kWarpGroupSize];
  void *results[kWarpGroupSize];
  WaitList waiting;
  /// Operands of the groups after groupsDone: the first operandCount.
  std::vector<WgmmaOperand> operands;
  uint32_t operandCount = 0;
  uint32_t groupsDone = 0;
  /// Scratch: A as [64][16], B as [16][N], and the product.
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> product;
};

/// Makes a warpgroup ready for a block.
void startWarpGroup(std::unique_ptr<WarpGroup> &group);

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_WARPGROUP_H
