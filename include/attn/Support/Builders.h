//===- Builders.h - short forms that dialects and conversions share *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_SUPPORT_BUILDERS_H
#define ATTN_SUPPORT_BUILDERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

inline mlir::Value constantIndex(mlir::ImplicitLocOpBuilder &builder, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(builder, value);
}

} // namespace attn

#endif // ATTN_SUPPORT_BUILDERS_H
