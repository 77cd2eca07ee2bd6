//===- Rows.cpp - vectors of memory, whole or in part -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM has masked loads and stores for lanes of 32 and 64 bits; narrower vectors it takes apart, and bf16 then goes
// through f32 by functions that compiled code does not have. Parts of those are copied one by one to or from scratch.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"
#include "../FlashLanes/Loops.h"
#include "../FlashToCpu/Patterns.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;
using namespace attn::loops;
using namespace attn::lanes;

LiveLanes LiveLanes::upTo(ImplicitLocOpBuilder &b, Value first, Value end, int64_t lanes) {
  SmallVector<int32_t> iota(lanes);
  std::iota(iota.begin(), iota.end(), 0);
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value rest = arith::SubIOp::create(b, end, first);
  Value count = arith::MinSIOp::create(b, rest, constantIndex(b, lanes));
  Value numbers = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(iota)));
  Value counts = vector::BroadcastOp::create(b, type, Value(arith::IndexCastOp::create(b, b.getI32Type(), count)));
  return {arith::CmpIOp::create(b, arith::CmpIPredicate::slt, numbers, counts), count};
}

static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

static bool hasMaskedAccess(Type element) { return element.isIndex() || element.getIntOrFloatBitWidth() >= 32; }

static bool isNarrowFloat(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16; }

static SmallVector<Value> advance(ImplicitLocOpBuilder &b, ValueRange indices, Value lane) {
  SmallVector<Value> result(indices);
  result.back() = plus(b, result.back(), lane);
  return result;
}

static Value createRow(ImplicitLocOpBuilder &b, int64_t lanes, Value memref) {
  return createScratch(b, MemRefType::get({lanes}, elementOf(memref)), {});
}

Value loops::loadEach(ImplicitLocOpBuilder &b, int64_t lanes, Value memref,
                      llvm::function_ref<SmallVector<Value>(int64_t)> at) {
  auto type = VectorType::get({lanes}, elementOf(memref));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(memref::LoadOp::create(b, memref, at(lane)));
  if (!isNarrowFloat(type.getElementType()))
    return vector::FromElementsOp::create(b, type, elements);
  Value row = createRow(b, lanes, memref);
  for (auto [lane, element] : llvm::enumerate(elements))
    memref::StoreOp::create(b, element, row, constantIndex(b, lane));
  return vector::LoadOp::create(b, type, row, constantIndex(b, 0));
}

void loops::storeEach(ImplicitLocOpBuilder &b, Value row, Value memref, LiveLanes live,
                      llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value)> at) {
  int64_t lanes = cast<VectorType>(row.getType()).getDimSize(0);
  if (!live.count && !isNarrowFloat(elementOf(memref))) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      memref::StoreOp::create(b, vector::ExtractOp::create(b, row, ArrayRef<int64_t>{lane}), memref,
                              at(b, constantIndex(b, lane)));
    return;
  }
  // A vector of i1 or i4 has bits, which have no place in memory.
  Type element = elementOf(memref);
  bool isBit = !element.isIndex() && element.getIntOrFloatBitWidth() % 8 != 0;
  Value copy = isBit ? Value() : createRow(b, lanes, memref);
  if (copy)
    vector::StoreOp::create(b, row, copy, constantIndex(b, 0));
  Value count = live.count ? live.count : constantIndex(b, lanes);
  buildLoop(b, constantIndex(b, 0), count, 1, [&](ImplicitLocOpBuilder &b, Value lane) {
    Value value = isBit ? vector::ExtractOp::create(b, row, ArrayRef<OpFoldResult>{lane}).getResult()
                        : memref::LoadOp::create(b, copy, lane).getResult();
    memref::StoreOp::create(b, value, memref, at(b, lane));
  });
}

Value loops::loadRow(ImplicitLocOpBuilder &b, int64_t lanes, Value memref, ValueRange indices, LiveLanes live) {
  auto type = VectorType::get({lanes}, elementOf(memref));
  if (!live.mask)
    return vector::LoadOp::create(b, type, memref, indices);
  if (hasMaskedAccess(type.getElementType())) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return vector::MaskedLoadOp::create(b, type, memref, indices, live.mask, zero);
  }
  Value row = createRow(b, lanes, memref);
  buildLoop(b, constantIndex(b, 0), live.count, 1, [&](ImplicitLocOpBuilder &b, Value lane) {
    memref::StoreOp::create(b, memref::LoadOp::create(b, memref, advance(b, indices, lane)), row, lane);
  });
  return vector::LoadOp::create(b, type, row, constantIndex(b, 0));
}

void loops::storeRow(ImplicitLocOpBuilder &b, Value row, Value memref, ValueRange indices, LiveLanes live) {
  if (!live.mask)
    vector::StoreOp::create(b, row, memref, indices);
  else if (hasMaskedAccess(elementOf(memref)))
    vector::MaskedStoreOp::create(b, memref, indices, live.mask, row);
  else
    storeEach(b, row, memref, live, [&](ImplicitLocOpBuilder &b, Value lane) { return advance(b, indices, lane); });
}
