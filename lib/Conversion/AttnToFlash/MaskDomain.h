//===- MaskDomain.h - the mask of an op and where it is defined --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CONVERSION_ATTNTOFLASH_MASKDOMAIN_H
#define ATTN_CONVERSION_ATTNTOFLASH_MASKDOMAIN_H

#include "../AttnToLinalg/CapturedReads.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn {

/// A mask region over memrefs and the sizes of its indices, as values in front of the loops: b < batch, h < heads,
/// i < queryLen, j < kvLen, or below a logical end that each batch entry has.
struct MaskDomain {
  /// May be empty: every key is kept.
  mlir::Region *region;
  mlir::Value batch, heads, queryLen, kvLen;
  /// Null, or [batch].
  mlir::Value kvLengths;

  /// The logical end of the keys of a batch entry: kvLengths[batchIndex], or kvLen.
  mlir::Value kvEnd(mlir::ImplicitLocOpBuilder &builder, mlir::Value batchIndex) const;

  /// Checks of the run: no size above kMaxExtent, each of kvLengths in 0 to kvLen.
  void buildChecks(mlir::ImplicitLocOpBuilder &builder) const;
};

/// As CapturedReads.h says, for a region of attention.
void clampCapturedLoads(mlir::Region &region, const AttentionDims &dims);
/// The same for both regions of an op.
void clampCapturedLoads(AttentionOp op);

void buildCaptureChecks(mlir::ImplicitLocOpBuilder &builder, const MaskDomain &domain,
                        llvm::ArrayRef<mlir::Region *> regions);

/// Ends the call unless `got` = `expected`, with a message in which {0} and {1} stand for the two; nothing is built
/// where they are known to be equal.
void requireEqual(mlir::ImplicitLocOpBuilder &builder, mlir::Value got, mlir::Value expected,
                  const llvm::Twine &message);

/// Ends the call unless `got` is in 0 to `limit`: "expected <what> in 0 to {1}, but got {0}".
void requireAtMost(mlir::ImplicitLocOpBuilder &builder, mlir::Value got, int64_t limit, const llvm::Twine &what);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOFLASH_MASKDOMAIN_H
