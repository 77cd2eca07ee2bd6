//===- TileAccess.cpp - elements, rows and copies of transposed tiles ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between a tensor's rows and a tile turn square blocks in registers: S loads along the columns, log2(S) stages
// of shuffles, S stores along the rows. What is left at the edges goes element by element.
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"
#include "../FlashLanes/Loops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::lanes;

MemRefType cpu::tileType(int64_t rows, int64_t columns, int64_t lanes, Type element) {
  int64_t chunk = std::min(lanes, rows);
  return MemRefType::get({int64_t(llvm::divideCeil(rows, chunk)), columns, chunk}, element);
}

static int64_t chunkLanes(Value tile) { return cast<MemRefType>(tile.getType()).getDimSize(2); }

static SmallVector<Value> laneIndices(ImplicitLocOpBuilder &b, Value tile, Value column, Value lane) {
  Value lanes = constantIndex(b, chunkLanes(tile));
  return {arith::DivUIOp::create(b, lane, lanes), column, arith::RemUIOp::create(b, lane, lanes)};
}

Value cpu::loadLanes(ImplicitLocOpBuilder &b, VectorType type, Value tile, Value column, Value lane) {
  return vector::LoadOp::create(b, type, tile, laneIndices(b, tile, column, lane));
}

void cpu::storeLanes(ImplicitLocOpBuilder &b, Value lanes, Value tile, Value column, Value lane) {
  vector::StoreOp::create(b, lanes, tile, laneIndices(b, tile, column, lane));
}

Value cpu::convertElement(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type from = getElementTypeOrSelf(value), to = element;
  if (from == element)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
  if (from.isIndex())
    return arith::IndexCastOp::create(b, to, value);
  if (from.isInteger())
    return arith::ExtUIOp::create(b, to, value);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

//===----------------------------------------------------------------------===//
// Square blocks
//===----------------------------------------------------------------------===//

/// In every pair (a, b) of vectors that are `distance` apart, a block of `width` elements of b changes places with the
/// block behind it of a; `mask` picks from (a, b) for the first and the second of the two.
static void shufflePairs(ImplicitLocOpBuilder &b, MutableArrayRef<Value> block, int64_t distance,
                         llvm::function_ref<int64_t(int64_t element, bool isSecond)> mask) {
  int64_t size = block.size();
  SmallVector<int64_t> first(size), second(size);
  for (int64_t k = 0; k < size; ++k) {
    first[k] = mask(k, false);
    second[k] = mask(k, true);
  }
  for (int64_t k = 0; k < size; ++k) {
    if (k & distance)
      continue;
    Value low = block[k], high = block[k + distance];
    block[k] = vector::ShuffleOp::create(b, low, high, first);
    block[k + distance] = vector::ShuffleOp::create(b, low, high, second);
  }
}

/// Transposes size vectors of size elements, a power of two. Each stage swaps the off-diagonal blocks of squares, which
/// is one instruction a vector (unpack, permute of halves); only for the 32-bit neighbours of x86 two unpacks take the
/// place of the first two stages, since no instruction swaps single ones.
static void transposeBlock(ImplicitLocOpBuilder &b, MutableArrayRef<Value> block) {
  int64_t size = block.size();
  int64_t width = 1;
  if (size >= 4 && cast<VectorType>(block[0].getType()).getElementTypeBitWidth() == 32) {
    // Within four: (a0 b0 a1 b1), (a2 b2 a3 b3) of neighbours, then pairs of these; the middle two end up exchanged.
    shufflePairs(b, block, 1,
                 [&](int64_t k, bool isSecond) { return k / 4 * 4 + k % 4 / 2 + 2 * isSecond + (k % 2) * size; });
    shufflePairs(b, block, 2,
                 [&](int64_t k, bool isSecond) { return k / 4 * 4 + k % 2 + 2 * isSecond + (k % 4 / 2) * size; });
    for (int64_t k = 0; k < size; k += 4)
      std::swap(block[k + 1], block[k + 2]);
    width = 4;
  }
  for (; width < size; width *= 2)
    shufflePairs(b, block, width, [&](int64_t k, bool isSecond) {
      return isSecond ? (k & width ? k + size : k + width) : (k & width ? k - width + size : k);
    });
}

/// Rows and columns of the blocks for a tile and a tensor, at most 256 bits of the tile's type, and no more than there
/// are rows where that is known; 1 where the rows of the tensor have no vectors (a vector of i1 or i4 has bits, a
/// tensor bytes).
static int64_t blockSize(Value tile, Value tensor, Value rows) {
  auto type = cast<MemRefType>(tile.getType()), tensorType = cast<MemRefType>(tensor.getType());
  Type element = tensorType.getElementType();
  if (!tensorType.isLastDimUnitStride() || (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 != 0))
    return 1;
  int64_t size = std::min<int64_t>(type.getDimSize(2), 256 / type.getElementTypeBitWidth());
  std::optional<int64_t> known = getConstantIntValue(rows);
  return known && *known > 0 ? std::min<int64_t>(size, llvm::bit_floor<uint64_t>(*known)) : size;
}

/// Calls `block` for the square blocks of a window and `element` for what is left at its edges.
static void walkWindow(ImplicitLocOpBuilder &b, const TileWindow &window, int64_t size,
                       llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value column)> block,
                       llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value column)> element) {
  Value zero = constantIndex(b, 0), step = constantIndex(b, size);
  auto wholeBlocks = [&](Value low, Value high) {
    Value blocks = arith::DivUIOp::create(b, arith::SubIOp::create(b, high, low), step);
    return plus(b, low, arith::MulIOp::create(b, blocks, step));
  };
  auto elements = [&](ImplicitLocOpBuilder &b, Value low, Value row) {
    buildLoop(b, low, window.end, 1, [&](ImplicitLocOpBuilder &b, Value column) { element(b, row, column); });
  };
  Value wholeRows = zero;
  if (size > 1) {
    wholeRows = wholeBlocks(zero, window.rows);
    Value wholeColumns = wholeBlocks(window.first, window.end);
    buildLoop(b, zero, wholeRows, size, [&](ImplicitLocOpBuilder &b, Value row) {
      buildLoop(b, window.first, wholeColumns, size,
                [&](ImplicitLocOpBuilder &b, Value column) { block(b, row, column); });
      buildLoop(b, row, plus(b, row, step), 1,
                [&](ImplicitLocOpBuilder &b, Value row) { elements(b, wholeColumns, row); });
    });
  }
  buildLoop(b, wholeRows, window.rows, 1, [&](ImplicitLocOpBuilder &b, Value row) { elements(b, window.first, row); });
}

void cpu::copyToTile(ImplicitLocOpBuilder &b, Value source, TensorIndices at, const TileWindow &window, Value tile,
                     bool areNeighbours) {
  Type from = cast<MemRefType>(source.getType()).getElementType();
  Type to = cast<MemRefType>(tile.getType()).getElementType();
  int64_t size = areNeighbours ? blockSize(tile, source, window.rows) : 1;
  auto block = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    SmallVector<Value> values;
    for (int64_t k = 0; k < size; ++k) {
      SmallVector<Value> indices = at(b, plus(b, row, constantIndex(b, k)), column);
      values.push_back(
          convertElement(b, vector::LoadOp::create(b, VectorType::get({size}, from), source, indices), to));
    }
    transposeBlock(b, values);
    for (auto [k, value] : llvm::enumerate(values))
      storeLanes(b, value, tile, plus(b, column, constantIndex(b, k)), row);
  };
  walkWindow(b, window, size, block, [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    Value value = convertElement(b, memref::LoadOp::create(b, source, at(b, row, column)), to);
    memref::StoreOp::create(b, value, tile, laneIndices(b, tile, column, row));
  });
}

void cpu::copyFromTile(ImplicitLocOpBuilder &b, Value tile, const TileWindow &window, Value dest, TensorIndices at) {
  Type from = cast<MemRefType>(tile.getType()).getElementType();
  Type to = cast<MemRefType>(dest.getType()).getElementType();
  int64_t size = blockSize(tile, dest, window.rows);
  auto block = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    SmallVector<Value> values;
    for (int64_t k = 0; k < size; ++k)
      values.push_back(loadLanes(b, VectorType::get({size}, from), tile, plus(b, column, constantIndex(b, k)), row));
    transposeBlock(b, values);
    for (auto [k, value] : llvm::enumerate(values))
      vector::StoreOp::create(b, convertElement(b, value, to), dest, at(b, plus(b, row, constantIndex(b, k)), column));
  };
  walkWindow(b, window, size, block, [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    Value value = memref::LoadOp::create(b, tile, laneIndices(b, tile, column, row));
    memref::StoreOp::create(b, convertElement(b, value, to), dest, at(b, row, column));
  });
}
