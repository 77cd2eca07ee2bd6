//===- IndexMath.h - arithmetic on index values ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOFLASH_INDEXMATH_H
#define ATTN_CONVERSION_ATTNTOFLASH_INDEXMATH_H

#include "attn/Support/Builders.h"

namespace attn {

/// Arithmetic on values of type index of at least 0, as short to write as formulas are; words are i32.
class IndexMath {
public:
  explicit IndexMath(mlir::ImplicitLocOpBuilder &b) : b(b) {}
  mlir::Value number(int64_t value) { return constantIndex(b, value); }
  mlir::Value word(int32_t value) { return mlir::arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); }
  mlir::Value plus(mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  mlir::Value minus(mlir::Value x, mlir::Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  mlir::Value times(mlir::Value x, mlir::Value y) { return mlir::arith::MulIOp::create(b, x, y); }
  mlir::Value min(mlir::Value x, mlir::Value y) { return mlir::arith::MinSIOp::create(b, x, y); }
  mlir::Value ceilDiv(mlir::Value x, int64_t y) { return mlir::arith::CeilDivUIOp::create(b, x, number(y)); }
  mlir::Value is(mlir::Value x, mlir::arith::CmpIPredicate predicate, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, predicate, x, y);
  }
  mlir::Value toWord(mlir::Value x) { return mlir::arith::IndexCastOp::create(b, b.getI32Type(), x); }
  mlir::Value toIndex(mlir::Value x) { return mlir::arith::IndexCastOp::create(b, b.getIndexType(), x); }

private:
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_INDEXMATH_H
