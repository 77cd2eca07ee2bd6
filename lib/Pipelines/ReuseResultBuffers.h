//===- ReuseResultBuffers.h - results in their buffers ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_REUSERESULTBUFFERS_H
#define ATTN_PIPELINES_REUSERESULTBUFFERS_H

#include "mlir/Pass/Pass.h"

namespace attn {

/// Upstream's elimination of empty tensors, but where the tensor that goes into a buffer shares its beginning with
/// another one: `%x = op outs(%begun)`, `%y = op outs(%begun)`. Bufferization does not see that the buffer is written
/// by the materialization at the end, and would compute both in it.
std::unique_ptr<mlir::Pass> createReuseResultBuffersPass();

} // namespace attn

#endif // ATTN_PIPELINES_REUSERESULTBUFFERS_H
