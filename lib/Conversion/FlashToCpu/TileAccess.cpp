//===- TileAccess.cpp - elements, rows and copies of transposed tiles ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between a tensor's rows and a tile turn square blocks in registers: S loads along the columns, log2(S) stages
// of shuffles, S stores along the rows. What is left at the edges goes element by element.
//
//===----------------------------------------------------------------------===//

#include "TileAccess.h"
#include "Loops.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;

MemRefType attn::tileType(int64_t rows, int64_t columns, int64_t lanes, Type element) {
  int64_t chunk = std::min(lanes, rows);
  return MemRefType::get({int64_t(llvm::divideCeil(rows, chunk)), columns, chunk}, element);
}

static int64_t chunkLanes(Value tile) { return cast<MemRefType>(tile.getType()).getDimSize(2); }

static SmallVector<Value> laneIndices(ImplicitLocOpBuilder &b, Value tile, Value column, Value lane) {
  Value lanes = constantIndex(b, chunkLanes(tile));
  return {arith::DivUIOp::create(b, lane, lanes), column, arith::RemUIOp::create(b, lane, lanes)};
}

Value attn::loadLanes(ImplicitLocOpBuilder &b, VectorType type, Value tile, Value column, Value lane) {
  return vector::LoadOp::create(b, type, tile, laneIndices(b, tile, column, lane));
}

void attn::storeLanes(ImplicitLocOpBuilder &b, Value lanes, Value tile, Value column, Value lane) {
  vector::StoreOp::create(b, lanes, tile, laneIndices(b, tile, column, lane));
}

/// A float, or a vector of them, in the precision of `element`.
static Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type from = getElementTypeOrSelf(value), to = element;
  if (from == element)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
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
/// are rows where that is known; 1 where the rows of the tensor have no vectors.
static int64_t blockExtent(Value tile, Value tensor, Value rows) {
  auto type = cast<MemRefType>(tile.getType());
  if (!cast<MemRefType>(tensor.getType()).isLastDimUnitStride())
    return 1;
  int64_t size = std::min<int64_t>(type.getDimSize(2), 256 / type.getElementTypeBitWidth());
  std::optional<int64_t> known = getConstantIntValue(rows);
  return known && *known > 0 ? std::min<int64_t>(size, llvm::bit_floor<uint64_t>(*known)) : size;
}

namespace {

/// Walks over rows and columns by blocks and, at the edges, by single elements.
class BlockWalk {
public:
  BlockWalk(Value tile, Value tensor, Value batch, const TileRows &rows, Value first)
      : tensor(tensor), batch(batch), rows(rows), first(first), size(blockExtent(tile, tensor, rows.rows)) {}

  using Body = llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value column)>;

  void build(ImplicitLocOpBuilder &b, Value columns, Body block, Body element) const {
    Value zero = constantIndex(b, 0);
    Value wholeRows = wholeBlocks(b, rows.rows), wholeColumns = wholeBlocks(b, columns);
    auto elements = [&](ImplicitLocOpBuilder &b, Value low, Value high, Value row) {
      buildLoop(b, low, high, 1, [&](ImplicitLocOpBuilder &b, Value column) { element(b, row, column); });
    };
    if (size > 1)
      buildLoop(b, zero, wholeRows, size, [&](ImplicitLocOpBuilder &b, Value row) {
        buildLoop(b, zero, wholeColumns, size, [&](ImplicitLocOpBuilder &b, Value column) { block(b, row, column); });
        buildLoop(b, row, plus(b, row, constantIndex(b, size)), 1,
                  [&](ImplicitLocOpBuilder &b, Value row) { elements(b, wholeColumns, columns, row); });
      });
    buildLoop(b, size > 1 ? wholeRows : zero, rows.rows, 1,
              [&](ImplicitLocOpBuilder &b, Value row) { elements(b, zero, columns, row); });
  }

  int64_t blockSize() const { return size; }

  /// Where the tensor has the element (row, column) of the tile.
  SmallVector<Value> at(ImplicitLocOpBuilder &b, Value row, Value column) const {
    return {batch, rows.head(b, row), rows.query(b, row), first ? plus(b, first, column) : column};
  }

private:
  Value wholeBlocks(ImplicitLocOpBuilder &b, Value extent) const {
    Value step = constantIndex(b, size);
    return arith::MulIOp::create(b, arith::DivUIOp::create(b, extent, step), step);
  }

  Value tensor, batch;
  const TileRows &rows;
  Value first;
  int64_t size;
};

} // namespace

void attn::copyToTile(ImplicitLocOpBuilder &b, Value source, Value batch, const TileRows &rows, Value scale,
                      Value tile) {
  BlockWalk walk(tile, source, batch, rows, Value());
  Type element = cast<MemRefType>(tile.getType()).getElementType();
  auto convert = [&](ImplicitLocOpBuilder &b, Value value) -> Value {
    value = convertFloat(b, value, element);
    if (!scale)
      return value;
    Value factor = scale;
    if (isa<VectorType>(value.getType()))
      factor = vector::BroadcastOp::create(b, value.getType(), scale);
    return arith::MulFOp::create(b, value, factor);
  };
  auto type = VectorType::get({walk.blockSize()}, cast<MemRefType>(source.getType()).getElementType());
  auto block = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    SmallVector<Value> values;
    for (int64_t k = 0; k < walk.blockSize(); ++k) {
      Value loaded = vector::LoadOp::create(b, type, source, walk.at(b, plus(b, row, constantIndex(b, k)), column));
      values.push_back(convert(b, loaded));
    }
    transposeBlock(b, values);
    for (auto [k, value] : llvm::enumerate(values))
      storeLanes(b, value, tile, plus(b, column, constantIndex(b, k)), row);
  };
  walk.build(b, getDimension(b, tile, 1), block, [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    Value value = convert(b, memref::LoadOp::create(b, source, walk.at(b, row, column)));
    memref::StoreOp::create(b, value, tile, laneIndices(b, tile, column, row));
  });
}

void attn::copyFromTile(ImplicitLocOpBuilder &b, Value tile, Value columns, Value dest, Value batch,
                        const TileRows &rows, Value first) {
  BlockWalk walk(tile, dest, batch, rows, first);
  Type element = cast<MemRefType>(dest.getType()).getElementType();
  auto type = VectorType::get({walk.blockSize()}, cast<MemRefType>(tile.getType()).getElementType());
  auto block = [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    SmallVector<Value> values;
    for (int64_t k = 0; k < walk.blockSize(); ++k)
      values.push_back(loadLanes(b, type, tile, plus(b, column, constantIndex(b, k)), row));
    transposeBlock(b, values);
    for (auto [k, value] : llvm::enumerate(values))
      vector::StoreOp::create(b, convertFloat(b, value, element), dest,
                              walk.at(b, plus(b, row, constantIndex(b, k)), column));
  };
  walk.build(b, columns, block, [&](ImplicitLocOpBuilder &b, Value row, Value column) {
    Value value = memref::LoadOp::create(b, tile, laneIndices(b, tile, column, row));
    memref::StoreOp::create(b, convertFloat(b, value, element), dest, walk.at(b, row, column));
  });
}
