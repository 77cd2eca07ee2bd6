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
  // Sizes near 2^63 have no power of two above them, and no multiple.
  sizes.depth = llvm::PowerOf2Ceil(std::min(panelDepth, extentOr(query.k, panelDepth)));
  const int64_t columns = std::max<int64_t>(target.l2Bytes / 3 / (sizes.depth * bytes) / lanes * lanes, lanes);
  // Tiles of about the same size, the last one included.
  const int64_t most = std::min<int64_t>(columns, 256), n = extentOr(query.n, most);
  sizes.tileColumns = llvm::alignTo(llvm::divideCeil(n, llvm::divideCeil(n, most)), lanes);
  const int64_t rows = 128 / blockRows * blockRows;
  sizes.tileRows = llvm::alignTo(std::min(rows, extentOr(query.m, rows)), blockRows);
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

/// Columns that the blocks of a product with n columns compute, those behind the end included.
static int64_t computedColumns(const TargetDescription &target, const MergeQuery &query, int64_t n) {
  ContractionSizes sizes = chooseContraction(target, {query.m, n, query.k, 1, query.sumBits, query.isRightContiguous});
  return llvm::alignTo(n, sizes.lanes);
}

MergeEstimate attn::estimateMerge(const TargetDescription &target, const MergeQuery &query) {
  // Measured on Zen 3: the start of a loop with the wake-up of a thread, and that of a loop on the caller's thread.
  constexpr double parallelStart = 2500, serialStart = 20;
  // Nanoseconds a byte: a strided copy into fresh memory; results that come from behind the second-level cache again.
  constexpr double copyByte = 0.15, farByte = 0.2;
  // Estimates of what little is saved are rough, a copy is certain.
  constexpr double copyFactor = 4;
  // The third-level cache's part of a core, as a multiple of the second-level cache.
  constexpr double nearCaches = 4;

  int64_t columns = 0, computed = 0;
  double starts = 0;
  for (int64_t n : query.n) {
    columns += n;
    computed += computedColumns(target, query, n);
    ContractionSizes sizes =
        chooseContraction(target, {query.m, n, query.k, 1, query.sumBits, query.isRightContiguous});
    starts += sizes.isParallel ? parallelStart : serialStart;
  }
  const double productsInNs = 4.0 * target.vectorBits / query.sumBits, size = query.n.size();
  const double idle = std::max<double>(computed - computedColumns(target, query, columns), 0);
  MergeEstimate estimate{starts * (size - 1) / size + idle * query.m * query.k / productsInNs, 0};
  if (!query.isRightConstant)
    estimate.cost += copyFactor * copyByte * query.k * columns * (query.rightBits / 8);
  const double outBytes = double(query.m) * columns * (query.outBits / 8);
  if (outBytes > nearCaches * target.l2Bytes)
    estimate.cost += farByte * outBytes;
  return estimate;
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
