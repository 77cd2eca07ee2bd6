//===- VerifyFusion.h - a fusion against its graph ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTN_FUSION_VERIFYFUSION_H
#define ATTN_DIALECT_ATTN_FUSION_VERIFYFUSION_H

#include "BuildAttention.h"

namespace attn::fusion {

/// Evaluates the graph of a match and the attention that was built of it by the reference interpreter, before one
/// replaces the other: at the sizes of the graph, dynamic ones small, and as the canonical form with small ones. Fails
/// after an error at the root that names the first element that differs. `build` makes the attention of other matches
/// as it made `built`. Remarks (analysis) say what was not compared. `elements` has the equal sizes of the function.
mlir::LogicalResult verifyFusion(Elements &elements, const AttentionMatch &match, const BuiltAttention &built,
                                 BuildFunction build = buildAttention);

} // namespace attn::fusion

#endif // ATTN_DIALECT_ATTN_FUSION_VERIFYFUSION_H
