//===- Diagnostics.cpp - MLIR's messages as values ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

using namespace attn;

Location attn::convertLocation(mlir::Location location) {
  auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!place)
    return {};
  return {place.getFilename().str(), static_cast<int>(place.getLine()), static_cast<int>(place.getColumn())};
}

static Diagnostic convert(mlir::Diagnostic &diagnostic) {
  Diagnostic result;
  result.message = diagnostic.str();
  result.location = convertLocation(diagnostic.getLocation());
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    result.severity = Diagnostic::Severity::Error;
    break;
  case mlir::DiagnosticSeverity::Warning:
    result.severity = Diagnostic::Severity::Warning;
    break;
  case mlir::DiagnosticSeverity::Remark:
    result.severity = Diagnostic::Severity::Remark;
    break;
  case mlir::DiagnosticSeverity::Note:
    result.severity = Diagnostic::Severity::Note;
    break;
  }
  return result;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context, std::function<void(const Diagnostic &)> handler)
    : context(context), handler(std::move(handler)), scope(context, [this](mlir::Diagnostic &diagnostic) {
        receive(diagnostic);
        return mlir::success();
      }) {
  if (!this->handler)
    return;
  mlir::remark::RemarkCategories categories;
  categories.all = "attn";
  // Fails for a pattern that is no regular expression; this one is.
  (void)mlir::remark::enableOptimizationRemarks(*context, /*streamer=*/nullptr,
                                                std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
                                                /*printAsEmitRemarks=*/true);
}

DiagnosticCollector::~DiagnosticCollector() {
  if (handler)
    context->setRemarkEngine(nullptr);
}

void DiagnosticCollector::receive(mlir::Diagnostic &diagnostic) {
  Diagnostic converted = convert(diagnostic);
  bool isError = converted.severity == Diagnostic::Severity::Error;
  if (isError)
    errors.push_back(converted);
  else if (handler)
    handler(converted);
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    if (isError)
      errors.push_back(convert(note));
    else if (handler)
      handler(convert(note));
  }
}

Error DiagnosticCollector::takeError(ErrorCode code, const std::string &fallback) const {
  if (errors.empty())
    return {code, fallback, {}};
  Error error{code, errors.front().message, errors.front().location};
  for (size_t i = 1; i < errors.size(); ++i)
    error.message += "\n" + errors[i].str();
  return error;
}
