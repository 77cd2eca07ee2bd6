//===- MapInputs.h - sizes and values that a map is made for -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_INSPECTION_MAPINPUTS_H
#define ATTN_LIB_INSPECTION_MAPINPUTS_H

#include "KnownSlice.h"

namespace attn {

/// The sizes that the op's types tell or the inputs give. A diagnostic at the op where they contradict each other or
/// are missing, and where values do not fit their argument.
mlir::FailureOr<MaskSizes> resolveInputs(AttentionOp op, const TileMapInputs &inputs);

} // namespace attn

#endif // ATTN_LIB_INSPECTION_MAPINPUTS_H
