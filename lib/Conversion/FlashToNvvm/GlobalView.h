//===- GlobalView.h - addresses in a view of global memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_FLASHTONVVM_GLOBALVIEW_H
#define ATTN_CONVERSION_FLASHTONVVM_GLOBALVIEW_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::nvvm {

/// A view [entry, head, position, column] for accesses wider than an element. Addresses and sizes are in bytes, of type
/// index.
class GlobalView {
public:
  /// Builds what its rows have in common.
  GlobalView(mlir::ImplicitLocOpBuilder &builder, mlir::Value view);

  /// The types tell that columns are neighbours.
  bool hasUnitColumns() const;

  /// Element counts in bytes.
  mlir::Value bytes(mlir::ImplicitLocOpBuilder &builder, mlir::Value elements) const;

  /// True (i1) where the first element of every row is at a multiple of `alignment`, a power of two, and so are `more`
  /// bytes.
  mlir::Value isAligned(mlir::ImplicitLocOpBuilder &builder, int64_t alignment, mlir::ValueRange more = {}) const;

  /// The address of the first element at a place [entry, head, position].
  mlir::Value rowAddress(mlir::ImplicitLocOpBuilder &builder, mlir::ValueRange place) const;

  /// Bytes from a row to the one `rows` positions behind it.
  mlir::Value rowStep(mlir::ImplicitLocOpBuilder &builder, int64_t rows) const;

  /// Bytes from a column to the next one.
  mlir::Value columnStep(mlir::ImplicitLocOpBuilder &builder) const { return bytes(builder, strides[3]); }

  mlir::MemRefType type() const { return mlir::cast<mlir::MemRefType>(view.getType()); }

private:
  mlir::Value view, start;
  mlir::ValueRange strides;
};

/// A pointer of address space 1.
mlir::Value globalPointer(mlir::ImplicitLocOpBuilder &builder, mlir::Value address);

} // namespace attn::nvvm

#endif // ATTN_CONVERSION_FLASHTONVVM_GLOBALVIEW_H
