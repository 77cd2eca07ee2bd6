//===- SizeArithmetic.cpp - sizes in bytes that may overflow ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeArithmetic.h"
#include "attn/Dialect/Flash/IR/FlashOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace attn::flash;

bool attn::flash::isAllocation(Operation *op) { return isa<memref::AllocOp, memref::AllocaOp>(op); }

OpFoldResult SizeArithmetic::multiply(OpFoldResult a, OpFoldResult b) {
  if (auto x = getConstantIntValue(a), y = getConstantIntValue(b); x && y)
    if (std::optional<int64_t> product = llvm::checkedMul(*x, *y))
      return builder.getIndexAttr(*product);
  if (isConstantIntValue(a, 1))
    return b;
  if (isConstantIntValue(b, 1))
    return a;
  auto product = arith::MulUIExtendedOp::create(builder, toValue(a), toValue(b));
  Value zero = toValue(builder.getIndexAttr(0));
  addFlag(arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, product.getHigh(), zero));
  addFlag(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, product.getLow(), zero));
  return OpFoldResult(product.getLow());
}

OpFoldResult SizeArithmetic::add(OpFoldResult a, OpFoldResult b) {
  if (auto x = getConstantIntValue(a), y = getConstantIntValue(b); x && y)
    if (std::optional<int64_t> sum = llvm::checkedAdd(*x, *y))
      return builder.getIndexAttr(*sum);
  if (isConstantIntValue(a, 0))
    return b;
  if (isConstantIntValue(b, 0))
    return a;
  Value sum = arith::AddIOp::create(builder, toValue(a), toValue(b));
  addFlag(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, sum, toValue(builder.getIndexAttr(0))));
  return sum;
}

OpFoldResult SizeArithmetic::align(OpFoldResult size) {
  OpFoldResult padded = add(size, builder.getIndexAttr(kScratchAlignment - 1));
  if (auto constant = getConstantIntValue(padded))
    return builder.getIndexAttr(*constant / kScratchAlignment * kScratchAlignment);
  Value mask = toValue(builder.getIndexAttr(-kScratchAlignment));
  return arith::AndIOp::create(builder, toValue(padded), mask).getResult();
}

OpFoldResult SizeArithmetic::allocationBytes(Operation *alloc, const DataLayout &layout) {
  auto type = cast<MemRefType>(alloc->getResult(0).getType());
  OpFoldResult bytes = builder.getIndexAttr(layout.getTypeSize(type.getElementType()).getFixedValue());
  unsigned dynamic = 0;
  for (int64_t extent : type.getShape()) {
    OpFoldResult size = builder.getIndexAttr(extent);
    if (ShapedType::isDynamic(extent))
      size = alloc->getOperand(dynamic++);
    bytes = multiply(bytes, size);
  }
  return bytes;
}

Value SizeArithmetic::toValue(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), size);
}

void SizeArithmetic::require(StringRef message) {
  if (!overflowed)
    return;
  Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  Value fits = arith::XOrIOp::create(builder, overflowed, yes);
  RequireOp::create(builder, fits, builder.getStringAttr(message), ValueRange{});
  overflowed = nullptr;
}

void SizeArithmetic::addFlag(Value flag) {
  overflowed = overflowed ? Value(arith::OrIOp::create(builder, overflowed, flag)) : flag;
}
