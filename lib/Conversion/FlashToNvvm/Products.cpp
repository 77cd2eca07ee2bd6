//===- Products.cpp - the two matrix products on tensor cores ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each warp multiplies its rows. 16-bit elements: ldmatrix gives the right operand of two products at a time; a pair of
// neighbouring score fragments, rounded, is the left operand of the second product as it lies in registers.
//
// f32: a value is split into a tf32 part and the rest, which is rounded to tf32; three of the four products of the
// parts are summed, the small ones first. The product of the rests is left out: 2^-20 of the whole at most. The order
// of the contracted index is free as long as both operands agree: position t of eight is element 2t, position t + 4 is
// 2t + 1, so that scores in registers are a left operand, too. With allow-tf32 it is one product of the values rounded
// to tf32, to nearest: mma.sync itself would drop bits.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;

/// A fragment of eight columns has four values in each thread.
static MutableArrayRef<Value> fragment(MutableArrayRef<Value> values, int64_t number) {
  return values.slice(4 * number, 4);
}

static SmallVector<Value> zeros(ImplicitLocOpBuilder &b, int64_t count) {
  return SmallVector<Value>(count, arith::ConstantOp::create(b, b.getF32FloatAttr(0)));
}

//===----------------------------------------------------------------------===//
// 16-bit elements
//===----------------------------------------------------------------------===//

/// The rows of this lane's ldmatrix address where matrices 0 and 1 are below one another, and the chunk beside that
/// matrices 2 and 3 are in.
static Value rowOfColumnMajor(ImplicitLocOpBuilder &b, const ThreadPlace &place) { return modulo(b, place.lane, 16); }
static Value chunkOfColumnMajor(ImplicitLocOpBuilder &b, const ThreadPlace &place) { return divide(b, place.lane, 16); }

/// Where matrices 0 and 1 are beside one another, and 2 and 3 below them.
static Value rowOfRowMajor(ImplicitLocOpBuilder &b, const ThreadPlace &place) {
  return add(b, modulo(b, place.lane, 8), times(b, divide(b, place.lane, 16), 8));
}
static Value chunkOfRowMajor(ImplicitLocOpBuilder &b, const ThreadPlace &place) {
  return modulo(b, divide(b, place.lane, 8), 2);
}

static SmallVector<Value> halfScores(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value keys) {
  const KernelShape &shape = lowering.shape;
  const ThreadPlace &place = lowering.place;
  const int64_t fragments = shape.kvTile / 8;
  SmallVector<Value> scores = zeros(b, shape.rowFragments() * fragments * 4);
  Value warpRow = add(b, times(b, place.warp, shape.warpRows), rowOfColumnMajor(b, place));
  for (int64_t depth = 0; depth < shape.key.paddedColumns; depth += 16) {
    SmallVector<SmallVector<Value>> query;
    for (int64_t m = 0; m < shape.rowFragments(); ++m) {
      TileIndex chunk{chunkOfColumnMajor(b, place), depth / 8};
      query.push_back(loadMatrices(b, chunkPointer(b, shape.query, i32(b, 0), {warpRow, 16 * m}, chunk), false));
    }
    for (int64_t n = 0; n < fragments; n += 2) {
      TileIndex row{rowOfRowMajor(b, place), 8 * n}, chunk{chunkOfRowMajor(b, place), depth / 8};
      SmallVector<Value> key = loadMatrices(b, chunkPointer(b, shape.key, keys, row, chunk), false);
      for (int64_t m = 0; m < shape.rowFragments(); ++m)
        for (int64_t k : {0, 1})
          multiply(b, shape.element, query[m], ArrayRef(key).slice(2 * k, 2), fragment(scores, m * fragments + n + k));
    }
  }
  return scores;
}

static void halfValues(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value values, ValueRange weights,
                       MutableArrayRef<Value> acc) {
  const KernelShape &shape = lowering.shape;
  const ThreadPlace &place = lowering.place;
  const int64_t fragments = shape.kvTile / 8, columns = shape.valueColumns / 8;
  for (int64_t key = 0; key < shape.kvTile; key += 16) {
    SmallVector<SmallVector<Value>> left(shape.rowFragments());
    for (int64_t m = 0; m < shape.rowFragments(); ++m)
      for (int64_t k = 0; k < 8; k += 2) {
        int64_t first = 4 * (m * fragments + key / 8) + k;
        left[m].push_back(pack(b, shape.element, weights[first], weights[first + 1]));
      }
    for (int64_t n = 0; n < columns; n += 2) {
      TileIndex row{rowOfColumnMajor(b, place), key}, chunk{chunkOfColumnMajor(b, place), n};
      SmallVector<Value> right = loadMatrices(b, chunkPointer(b, shape.value, values, row, chunk), true);
      for (int64_t m = 0; m < shape.rowFragments(); ++m)
        for (int64_t k : {0, 1})
          multiply(b, shape.element, left[m], ArrayRef(right).slice(2 * k, 2), fragment(acc, m * columns + n + k));
    }
  }
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

namespace {

/// The tf32 parts of values, as registers. `finite` is the large part, but 0 for infinity: what the other operand's
/// small part is multiplied by, which is mostly 0. With allow-tf32 there is the large part alone.
struct Parts {
  SmallVector<Value> large, finite, small;
};

} // namespace

static Value roundToTf32(ImplicitLocOpBuilder &b, Value value) {
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value, NVVM::FPRoundingMode::RNA);
}

static Parts split(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, ValueRange values) {
  Parts parts;
  for (Value value : values) {
    if (lowering.allowTf32) {
      parts.large.push_back(roundToTf32(b, value));
      continue;
    }
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
    Value large = arith::AndIOp::create(b, bits, i32(b, ~0x1fff));
    Value asFloat = arith::BitcastOp::create(b, b.getF32Type(), large);
    // The rest of infinity is none. That of a NaN is NaN, also where the bits that are left are those of infinity.
    Value isWhole = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, asFloat);
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value rest = arith::SelectOp::create(b, isWhole, zero, arith::SubFOp::create(b, value, asFloat));
    Value size = arith::AndIOp::create(b, large, i32(b, 0x7fffffff));
    Value isInfinite = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size, i32(b, 0x7f800000));
    parts.large.push_back(large);
    parts.finite.push_back(arith::SelectOp::create(b, isInfinite, i32(b, 0), large));
    parts.small.push_back(roundToTf32(b, rest));
  }
  return parts;
}

static void multiplyParts(ImplicitLocOpBuilder &b, Type element, const Parts &left, const Parts &right,
                          MutableArrayRef<Value> fragment) {
  if (!left.small.empty()) {
    multiply(b, element, left.small, right.finite, fragment);
    multiply(b, element, left.finite, right.small, fragment);
  }
  multiply(b, element, left.large, right.large, fragment);
}

/// `count` elements of a row, side by side in one chunk.
static SmallVector<Value> loadElements(ImplicitLocOpBuilder &b, const SharedTile &tile, Value base, TileIndex row,
                                       TileIndex column, int64_t count) {
  Value pointer = elementPointer(b, tile, base, row, column);
  if (count == 1)
    return {LLVM::LoadOp::create(b, b.getF32Type(), pointer)};
  Value vector = LLVM::LoadOp::create(b, VectorType::get({count}, b.getF32Type()), pointer, 4 * count);
  SmallVector<Value> elements;
  for (int64_t k = 0; k < count; ++k)
    elements.push_back(LLVM::ExtractElementOp::create(b, vector, i32(b, k)));
  return elements;
}

static SmallVector<Value> fullScores(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value keys) {
  const KernelShape &shape = lowering.shape;
  const ThreadPlace &place = lowering.place;
  const int64_t fragments = shape.kvTile / 8;
  SmallVector<Value> scores = zeros(b, shape.rowFragments() * fragments * 4);
  for (int64_t depth = 0; depth < shape.key.paddedColumns; depth += 8) {
    TileIndex column{times(b, place.t, 2), depth};
    SmallVector<Parts> query;
    for (int64_t m = 0; m < shape.rowFragments(); ++m) {
      Value row = lowering.fragmentRow(b, m);
      SmallVector<Value> upper = loadElements(b, shape.query, i32(b, 0), {row}, column, 2);
      SmallVector<Value> lower = loadElements(b, shape.query, i32(b, 0), {row, 8}, column, 2);
      query.push_back(split(b, lowering, {upper[0], lower[0], upper[1], lower[1]}));
    }
    for (int64_t n = 0; n < fragments; ++n) {
      Parts key = split(b, lowering, loadElements(b, shape.key, keys, {place.g, 8 * n}, column, 2));
      for (int64_t m = 0; m < shape.rowFragments(); ++m)
        multiplyParts(b, shape.element, query[m], key, fragment(scores, m * fragments + n));
    }
  }
  return scores;
}

static void fullValues(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value values, ValueRange weights,
                       MutableArrayRef<Value> acc) {
  const KernelShape &shape = lowering.shape;
  const ThreadPlace &place = lowering.place;
  const int64_t fragments = shape.kvTile / 8, columns = shape.valueColumns / 8;
  Value even = times(b, place.t, 2), odd = add(b, even, 1);
  for (int64_t key = 0; key < shape.kvTile; key += 8) {
    SmallVector<Parts> left;
    for (int64_t m = 0; m < shape.rowFragments(); ++m) {
      ValueRange four = weights.slice(4 * (m * fragments + key / 8), 4);
      left.push_back(split(b, lowering, {four[0], four[2], four[1], four[3]}));
    }
    for (int64_t n = 0; n < columns; ++n) {
      SmallVector<Value> pair;
      for (Value row : {even, odd})
        pair.append(loadElements(b, shape.value, values, {row, key}, {place.g, 8 * n}, 1));
      Parts right = split(b, lowering, pair);
      for (int64_t m = 0; m < shape.rowFragments(); ++m)
        multiplyParts(b, shape.element, left[m], right, fragment(acc, m * columns + n));
    }
  }
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

SmallVector<Value> nvvm::buildScoreProducts(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value keys) {
  return lowering.shape.element.isF32() ? fullScores(b, lowering, keys) : halfScores(b, lowering, keys);
}

void nvvm::buildValueProducts(ImplicitLocOpBuilder &b, const NvvmLowering &lowering, Value values, ValueRange weights,
                              MutableArrayRef<Value> acc) {
  lowering.shape.element.isF32() ? fullValues(b, lowering, values, weights, acc)
                                 : halfValues(b, lowering, values, weights, acc);
}
