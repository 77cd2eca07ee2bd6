//===- TileClasses.h - records of tile classes, by their definition -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_REFERENCE_TILECLASSES_H
#define ATTN_LIB_REFERENCE_TILECLASSES_H

#include "Compiler.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"

namespace attn::reference {

/// Whether a record was made for an attention of these sizes (batch, heads, queryLen, kvLen) and logical ends of keys:
/// false, with an error, if not. What it says of the tiles is not looked at: results follow from the masks.
bool checkRecord(Frame &frame, AttentionOp op, const Tensor &record, llvm::ArrayRef<int64_t> sizes,
                 llvm::ArrayRef<int64_t> lengths);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_TILECLASSES_H
