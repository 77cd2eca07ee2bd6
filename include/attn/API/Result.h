//===- Result.h - errors of the user's API ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing in this API throws on its own account (the standard library may, when memory runs out) and nothing prints.
// Whatever can fail returns Result<T>:
//
//   attn::Result<attn::Module> module = attn::Module::parse(text);
//   if (!module) {
//     std::cerr << module.error().str() << "\n"; // kernel.mlir:4:10: 'attn.attention' op expects ...
//     return 1;
//   }
//   module->functions();
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_API_RESULT_H
#define ATTN_API_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace attn {

/// What went wrong, for programs; Error::message is for people.
enum class ErrorCode {
  /// An argument of a call breaks a rule that the message names. Nothing ran.
  InvalidArgument,
  /// The text is not MLIR, or it is MLIR that a verifier refuses.
  Parse,
  /// A file cannot be read.
  Io,
  /// The module has no such function.
  NotFound,
  /// Right, but not something that this version compiles.
  Unsupported,
  /// A pass or the code generator failed on a valid module.
  CompileFailed,
  /// The target is not known here, or this CPU lacks instructions that it needs.
  TargetUnavailable,
  /// The compiled code refused its arguments: sizes of several arguments disagree, or a length is out of range.
  KernelRefused,
  /// Memory for buffers or scratch could not be had, or its size overflows.
  OutOfMemory,
  /// More scratch would be needed than RunOptions::maxScratchBytes allows.
  ScratchLimit,
  /// The caller's executor did not run every worker exactly once.
  ExecutorFailed,
  /// A kernel on a GPU, or the GPU's driver, failed.
  DeviceFailed,
  /// Code that checks its accesses was about to leave its arguments (CompileOptions::checkBounds): a fault of the
  /// compiler.
  OutOfBounds,
  /// A pass left IR that is not valid: a fault of the compiler, to be reported with the input.
  Internal
};

/// The name of a code, such as "InvalidArgument". Static storage.
const char *toString(ErrorCode code);

/// A place in a text. line and column count from 1; 0 where they are not known.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column", shorter where parts are missing, empty where all are.
  std::string str() const;
};

/// Why a call failed. message says the rule, what was expected, what was found, and for arguments the remedy.
struct Error {
  ErrorCode code = ErrorCode::InvalidArgument;
  std::string message;
  Location location;

  /// "file:line:column: message", or the message alone.
  std::string str() const;
};

/// A message of the compiler that is no failure, see ParseOptions and CompileOptions.
struct Diagnostic {
  enum class Severity { Error, Warning, Remark, Note };
  Severity severity = Severity::Remark;
  std::string message;
  Location location;

  /// "file:line:column: severity: message".
  std::string str() const;
};

/// A value or an Error. Holds the value after success; reading the wrong one is a programming error (an assertion).
template <typename T> class [[nodiscard]] Result {
public:
  using value_type = T;

  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &value() & {
    assert(ok() && "value of a failed Result");
    return *std::get_if<0>(&content);
  }
  const T &value() const & {
    assert(ok() && "value of a failed Result");
    return *std::get_if<0>(&content);
  }
  T value() && {
    assert(ok() && "value of a failed Result");
    return std::move(*std::get_if<0>(&content));
  }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  const Error &error() const {
    assert(!ok() && "error of a successful Result");
    return *std::get_if<1>(&content);
  }

private:
  std::variant<T, Error> content;
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  using value_type = void;

  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  bool ok() const { return !failure; }
  explicit operator bool() const { return ok(); }

  const Error &error() const {
    assert(!ok() && "error of a successful Result");
    return *failure;
  }

private:
  std::optional<Error> failure;
};

using Status = Result<void>;

} // namespace attn

#endif // ATTN_API_RESULT_H
