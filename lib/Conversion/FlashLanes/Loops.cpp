//===- Loops.cpp - loops over blocks of indices -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;
using namespace attn::lanes;

void lanes::buildRepeated(ImplicitLocOpBuilder &b, int64_t count, int64_t step,
                          llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
  constexpr int64_t mostWrittenOut = 16;
  if (count > mostWrittenOut * step)
    return buildLoop(b, constantIndex(b, 0), constantIndex(b, count), step, body);
  for (int64_t k = 0; k < count; k += step)
    body(b, constantIndex(b, k));
}

void lanes::buildBlocks(ImplicitLocOpBuilder &b, Value low, Value high, int64_t count,
                        llvm::function_ref<void(ImplicitLocOpBuilder &, ArrayRef<Value>)> block) {
  auto indicesFrom = [](ImplicitLocOpBuilder &b, Value first, int64_t count) {
    SmallVector<Value> indices;
    for (int64_t k = 0; k < count; ++k)
      indices.push_back(plus(b, first, constantIndex(b, k)));
    return indices;
  };
  auto whole = [&](Value end) {
    buildLoop(b, low, end, count,
              [&](ImplicitLocOpBuilder &b, Value first) { block(b, indicesFrom(b, first, count)); });
  };
  std::optional<int64_t> from = getConstantIntValue(low), to = getConstantIntValue(high);
  if (from && to) {
    int64_t rest = std::max<int64_t>(*to - *from, 0) % count;
    if (*to - *from >= count)
      whole(constantIndex(b, *to - rest));
    if (rest)
      block(b, indicesFrom(b, constantIndex(b, *to - rest), rest));
    return;
  }
  Value size = arith::SubIOp::create(b, high, low);
  Value end = plus(b, low, arith::SubIOp::create(b, size, arith::RemUIOp::create(b, size, constantIndex(b, count))));
  whole(end);
  if (count == 1)
    return;
  Value hasRest = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, end, high);
  auto rest = scf::IfOp::create(b, hasRest, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(rest.thenYield());
  Value last = arith::SubIOp::create(b, high, constantIndex(b, 1));
  SmallVector<Value> indices = indicesFrom(b, end, count - 1);
  for (Value &index : indices)
    index = arith::MinSIOp::create(b, index, last);
  block(b, indices);
}
