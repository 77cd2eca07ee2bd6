//===- PassTrace.h - which pass runs, for reports of crashes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_PASSTRACE_H
#define ATTN_PIPELINES_PASSTRACE_H

namespace mlir {
class PassManager;
} // namespace mlir

namespace attn {

/// Puts the pass that runs onto LLVM's list of what a thread is doing (llvm::PrettyStackTraceEntry), as "running pass
/// attn-fuse". LLVM's own passes do so themselves. Costs nothing that could be measured.
void tracePasses(mlir::PassManager &passes);

} // namespace attn

#endif // ATTN_PIPELINES_PASSTRACE_H
