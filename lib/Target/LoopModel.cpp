//===- LoopModel.cpp - block sizes of the linalg around attention -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Target/LoopModel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace attn;

/// Multiply-adds of an item of a parallel loop, at least: some tens of microseconds.
static constexpr double kItemProducts = 1 << 19;

static bool isAtMost(int64_t extent, int64_t limit) { return extent >= 0 && extent <= limit; }

/// The extent, or `otherwise` where only the run knows it; at least 1.
static int64_t extentOr(int64_t extent, int64_t otherwise) {
  return extent < 0 ? otherwise : std::max<int64_t>(extent, 1);
}

static ContractionSizes sizesOfFewRows(const ContractionQuery &query, int64_t blockRows, int64_t vectors,
                                       int64_t lanesOfVector) {
  ContractionSizes sizes{};
  sizes.blockRows = std::clamp<int64_t>(query.m, 1, blockRows);
  const int64_t most = std::min<int64_t>(blockRows * vectors / sizes.blockRows, 8);
  const int64_t needed = llvm::divideCeil(extentOr(query.n, most * lanesOfVector), lanesOfVector);
  sizes.lanes = lanesOfVector * llvm::bit_floor<uint64_t>(std::clamp<int64_t>(needed, 1, most));
  sizes.tileRows = std::max<int64_t>(query.m, 1);
  sizes.tileColumns = sizes.lanes;
  sizes.depth = 0;
  sizes.packsRight = false;
  return sizes;
}

static ContractionSizes sizesOfManyRows(const TargetDescription &target, const ContractionQuery &query,
                                        int64_t blockRows, int64_t lanes) {
  const int64_t bytes = query.sumBits / 8;
  ContractionSizes sizes{};
  sizes.blockRows = blockRows;
  sizes.lanes = lanes;
  sizes.packsRight = true;
  const int64_t panelDepth = llvm::bit_floor<uint64_t>(std::max<int64_t>(target.l1Bytes / 2 / (lanes * bytes), 16));
  sizes.depth = std::min<int64_t>(panelDepth, llvm::PowerOf2Ceil(extentOr(query.k, panelDepth)));
  const int64_t columns = std::max<int64_t>(target.l2Bytes / 3 / (sizes.depth * bytes) / lanes * lanes, lanes);
  // Tiles of about the same size, the last one included.
  const int64_t most = std::min<int64_t>(columns, 256), n = extentOr(query.n, most);
  sizes.tileColumns = llvm::alignTo(llvm::divideCeil(n, llvm::divideCeil(n, most)), lanes);
  const int64_t rows = 128 / blockRows * blockRows;
  sizes.tileRows = std::min<int64_t>(rows, llvm::alignTo(extentOr(query.m, rows), blockRows));
  return sizes;
}

ContractionSizes attn::chooseContraction(const TargetDescription &target, const ContractionQuery &query) {
  const bool manyRegisters = target.vectorRegisters >= 32;
  const int64_t vectors = manyRegisters ? 4 : 2;
  const int64_t blockRows = !manyRegisters && target.hasFma ? 6 : 4;
  const int64_t lanes = target.vectorBits / query.sumBits;
  const int64_t fewRows = query.isRightContiguous ? 2 * blockRows : 3;
  ContractionSizes sizes = isAtMost(query.m, fewRows) ? sizesOfFewRows(query, blockRows, vectors, lanes)
                                                      : sizesOfManyRows(target, query, blockRows, vectors * lanes);
  double products = 1;
  for (int64_t extent : {query.m, query.n, query.k, query.outer})
    products *= extent < 0 ? kItemProducts : double(extent);
  sizes.isParallel = products >= kItemProducts;
  return sizes;
}

LoopSizes attn::chooseLoop(const TargetDescription &target, const LoopQuery &query) {
  constexpr int64_t functionWork = 12, itemWork = 1 << 16;
  LoopSizes sizes{};
  sizes.lanes = std::max<int64_t>(target.vectorBits / query.elementBits, 1);
  const bool isLight = query.functions == 0 && query.operations <= 4;
  const int64_t vectors = isLight ? 4 : query.functions == 0 && query.carriesLanes ? 2 : 1;
  sizes.mainLanes = sizes.lanes * vectors;
  sizes.elementWork = 1 + (query.operations + functionWork * query.functions) / 4;
  sizes.itemWork = itemWork;
  return sizes;
}
