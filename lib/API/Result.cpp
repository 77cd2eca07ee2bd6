//===- Result.cpp - errors as text -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/API/Result.h"

using namespace attn;

const char *attn::toString(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  case ErrorCode::Parse:
    return "Parse";
  case ErrorCode::Io:
    return "Io";
  case ErrorCode::NotFound:
    return "NotFound";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::CompileFailed:
    return "CompileFailed";
  case ErrorCode::TargetUnavailable:
    return "TargetUnavailable";
  case ErrorCode::KernelRefused:
    return "KernelRefused";
  case ErrorCode::OutOfMemory:
    return "OutOfMemory";
  case ErrorCode::ScratchLimit:
    return "ScratchLimit";
  case ErrorCode::ExecutorFailed:
    return "ExecutorFailed";
  case ErrorCode::DeviceFailed:
    return "DeviceFailed";
  case ErrorCode::OutOfBounds:
    return "OutOfBounds";
  case ErrorCode::Internal:
    return "Internal";
  }
  return "unknown";
}

std::string Location::str() const {
  std::string text = file;
  for (int part : {line, column}) {
    if (part <= 0)
      break;
    if (!text.empty())
      text += ':';
    text += std::to_string(part);
  }
  return text;
}

/// "location: " or nothing.
static std::string prefix(const Location &location) {
  std::string text = location.str();
  return text.empty() ? text : text + ": ";
}

std::string Error::str() const { return prefix(location) + message; }

static const char *toString(Diagnostic::Severity severity) {
  switch (severity) {
  case Diagnostic::Severity::Error:
    return "error";
  case Diagnostic::Severity::Warning:
    return "warning";
  case Diagnostic::Severity::Remark:
    return "remark";
  case Diagnostic::Severity::Note:
    return "note";
  }
  return "unknown";
}

std::string Diagnostic::str() const { return prefix(location) + ::toString(severity) + ": " + message; }
