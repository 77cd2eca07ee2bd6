//===- ItemWork.cpp - how much work an item of a parallel loop is ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ItemWork.h"
#include "IndexMath.h"

using namespace mlir;
using namespace attn;

/// What the exponential, the sums and the maxima of a score take beside its products.
static constexpr int64_t kSoftmaxWork = 16;

/// Of an operation on one element, which the lanes of a vector do not share.
static constexpr int64_t kScalarWork = 8;

/// Sizes above this make no loop larger; the product of three of them and of a tile's rows stays inside of 64 bits.
static constexpr int64_t kLargeSize = int64_t(1) << 20;

static Value limited(ImplicitLocOpBuilder &b, Value size) {
  return IndexMath(b).min(size, constantIndex(b, kLargeSize));
}

static int64_t operationsOf(Region &region) {
  return region.empty() ? 0 : llvm::range_size(region.front().without_terminator());
}

/// The rows that a tile has at most: queries times heads.
static Value rowsOf(ImplicitLocOpBuilder &b, Value queryLen, const TileSizes &tiles) {
  IndexMath m(b);
  return m.times(m.min(queryLen, m.number(tiles.queries())), m.number(tiles.group));
}

Value attn::buildSoftmaxWork(ImplicitLocOpBuilder &b, AttentionOp op, const AttentionParts &parts,
                             const TileSizes &tiles, Value keys) {
  IndexMath m(b);
  int64_t regions = operationsOf(op.getScoreRegion()) + operationsOf(op.getMaskRegion());
  Value products = m.plus(limited(b, parts.headDim), limited(b, parts.valueDim));
  Value perScore = m.plus(products, m.number(kSoftmaxWork + regions));
  Value scores = m.times(rowsOf(b, parts.queryLen, tiles), limited(b, keys));
  // A vector has half as many f64.
  int64_t width = op.getScoreType().getIntOrFloatBitWidth() / 32;
  return m.times(m.times(scores, perScore), m.number(width));
}

Value attn::buildMergeWork(ImplicitLocOpBuilder &b, const AttentionParts &parts, const TileSizes &tiles,
                           Value segments) {
  IndexMath m(b);
  Value rows = rowsOf(b, parts.queryLen, tiles);
  return m.times(m.times(rows, limited(b, segments)), m.plus(limited(b, parts.valueDim), m.number(kSoftmaxWork)));
}

Value attn::buildClassificationWork(ImplicitLocOpBuilder &b, const MaskDomain &domain, const TileSizes &tiles) {
  IndexMath m(b);
  Value points = m.times(rowsOf(b, domain.queryLen, tiles), limited(b, domain.kvLen));
  return m.times(points, m.number(kScalarWork * (1 + operationsOf(*domain.region))));
}
