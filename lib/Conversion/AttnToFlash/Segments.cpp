//===- Segments.cpp - keys in segments that are computed apart -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Segments.h"
#include "IndexMath.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;

Value KvSegments::entry(ImplicitLocOpBuilder &b, Value batch, Value segment) const {
  return arith::AddIOp::create(b, arith::MulIOp::create(b, batch, count), segment);
}

/// A buffer whose extents are static where they are known.
static Value allocate(ImplicitLocOpBuilder &b, ValueRange sizes, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      dynamic.push_back(size);
  }
  return memref::AllocOp::create(b, MemRefType::get(shape, element), dynamic);
}

KvSegments attn::allocateSegments(ImplicitLocOpBuilder &b, const AttentionParts &parts, Type scoreType, int64_t keys) {
  Value count = b.createOrFold<arith::CeilDivUIOp>(parts.kvLen, constantIndex(b, keys));
  Value entries = b.createOrFold<arith::MulIOp>(parts.batch, count);
  SmallVector<Value> sizes{entries, parts.heads, parts.queryLen};
  Value max = allocate(b, sizes, scoreType), sum = allocate(b, sizes, scoreType);
  sizes.push_back(parts.valueDim);
  return {count, keys, max, sum, allocate(b, sizes, scoreType)};
}

void attn::freeSegments(ImplicitLocOpBuilder &b, const KvSegments &segments) {
  for (Value buffer : {segments.max, segments.sum, segments.acc})
    memref::DeallocOp::create(b, buffer);
}

KvRange attn::restrictToSegment(ImplicitLocOpBuilder &b, const KvRange &range, Value segment, int64_t keys) {
  Value start = arith::MulIOp::create(b, segment, constantIndex(b, keys));
  Value end = arith::AddIOp::create(b, start, constantIndex(b, keys));
  // Both ends are on the kv grid, so that the range's own rules hold for what is left; clamping keeps their order.
  auto clamp = [&](Value key) -> Value {
    return key ? arith::MinSIOp::create(b, arith::MaxSIOp::create(b, key, start), end) : Value();
  };
  return {clamp(range.first), clamp(range.firstFull), clamp(range.lastFull), clamp(range.end)};
}

std::pair<Value, Value> attn::segmentsOf(ImplicitLocOpBuilder &b, const KvRange &range, int64_t keys) {
  Value size = constantIndex(b, keys);
  Value first = arith::DivUIOp::create(b, range.first, size);
  Value isSome = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, range.first, range.end);
  Value end = arith::SelectOp::create(b, isSome, arith::CeilDivUIOp::create(b, range.end, size), first);
  return {first, end};
}
