//===- Diagnostics.h - MLIR's messages as values ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_DIAGNOSTICS_H
#define ATTN_LIB_API_DIAGNOSTICS_H

#include "attn/API/Result.h"
#include "attn/Pipelines/PassChecks.h"
#include "mlir/IR/Diagnostics.h"
#include <functional>

namespace attn {

/// The file, line and column that an MLIR location leads to; empty if it leads to none.
Location convertLocation(mlir::Location location);

/// Collects the errors of an MLIRContext while it lives, and hands warnings and remarks (those of category attn) to the
/// caller's handler. Nothing reaches stderr. One at a time for a context.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::function<void(const Diagnostic &)> handler);
  ~DiagnosticCollector();
  DiagnosticCollector(const DiagnosticCollector &) = delete;
  DiagnosticCollector &operator=(const DiagnosticCollector &) = delete;

  /// What was collected, as one error: the first error's message and location, its notes and all further errors on
  /// lines of their own. If there was none, `fallback`.
  Error takeError(ErrorCode code, const std::string &fallback) const;

private:
  void receive(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext *context;
  std::vector<Diagnostic> errors;
  std::function<void(const Diagnostic &)> handler;
  mlir::ScopedDiagnosticHandler scope;
};

/// Internal where a pass left invalid IR.
inline ErrorCode codeOf(const PassVerdict &verdict, ErrorCode otherwise) {
  return verdict.invalidPass().empty() ? otherwise : ErrorCode::Internal;
}

} // namespace attn

#endif // ATTN_LIB_API_DIAGNOSTICS_H
