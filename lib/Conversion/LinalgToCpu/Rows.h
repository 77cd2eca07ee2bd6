//===- Rows.h - vectors of memory, whole or in part ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_LINALGTOCPU_ROWS_H
#define ATTN_CONVERSION_LINALGTOCPU_ROWS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn::loops {

/// The lanes of a vector that count, from the first one on: as i1 by lane, and how many they are (index, at least 1).
/// Both are null where all do.
struct LiveLanes {
  mlir::Value mask, count;

  /// Those of `lanes` lanes, the first of which has index `first`, that are in front of `end`.
  static LiveLanes upTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value first, mlir::Value end, int64_t lanes);
};

/// The vector of `lanes` neighbours from `indices` on, in the memref's element type; lanes that do not count hold
/// something and are not read from memory. The memref's last dimension has unit stride and no i1.
mlir::Value loadRow(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, mlir::Value memref, mlir::ValueRange indices,
                    LiveLanes live);
void storeRow(mlir::ImplicitLocOpBuilder &builder, mlir::Value row, mlir::Value memref, mlir::ValueRange indices,
              LiveLanes live);

/// The same where each lane has indices of its own.
mlir::Value loadEach(mlir::ImplicitLocOpBuilder &builder, int64_t lanes, mlir::Value memref,
                     llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t lane)> at);
void storeEach(mlir::ImplicitLocOpBuilder &builder, mlir::Value row, mlir::Value memref, LiveLanes live,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ImplicitLocOpBuilder &, mlir::Value lane)> at);

} // namespace attn::loops

#endif // ATTN_CONVERSION_LINALGTOCPU_ROWS_H
