//===- GlobalView.cpp - addresses in a view of global memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalView.h"
#include "../FlashLanes/Loops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;
using namespace attn::lanes;

GlobalView::GlobalView(ImplicitLocOpBuilder &b, Value view) : view(view) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, view);
  strides = metadata.getStrides();
  Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(b, metadata.getBaseBuffer());
  start = plus(b, pointer, bytes(b, metadata.getOffset()));
}

bool GlobalView::hasUnitColumns() const { return type().isLastDimUnitStride(); }

Value GlobalView::bytes(ImplicitLocOpBuilder &b, Value elements) const {
  return b.createOrFold<arith::MulIOp>(elements, constantIndex(b, type().getElementTypeBitWidth() / 8));
}

Value GlobalView::isAligned(ImplicitLocOpBuilder &b, int64_t alignment, ValueRange more) const {
  Value bits = start;
  for (Value stride : strides.drop_back())
    bits = b.createOrFold<arith::OrIOp>(bits, bytes(b, stride));
  for (Value other : more)
    bits = b.createOrFold<arith::OrIOp>(bits, other);
  Value low = b.createOrFold<arith::AndIOp>(bits, constantIndex(b, alignment - 1));
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, low, constantIndex(b, 0));
}

Value GlobalView::rowAddress(ImplicitLocOpBuilder &b, ValueRange place) const {
  Value offset = arith::MulIOp::create(b, place[0], strides[0]);
  for (size_t k : {1, 2})
    offset = plus(b, offset, arith::MulIOp::create(b, place[k], strides[k]));
  return plus(b, start, bytes(b, offset));
}

Value GlobalView::rowStep(ImplicitLocOpBuilder &b, int64_t rows) const {
  return bytes(b, b.createOrFold<arith::MulIOp>(strides[2], constantIndex(b, rows)));
}

Value nvvm::globalPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1),
                                  Value(arith::IndexCastOp::create(b, b.getI64Type(), address)));
}
