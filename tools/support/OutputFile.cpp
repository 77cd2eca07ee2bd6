//===- OutputFile.cpp - what the tools write ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace attn;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// Where the bytes of an output go.
struct Destination {
  /// A stream of this process, where the path names what it is.
  std::FILE *stream = nullptr;
  /// Else a file; links are resolved.
  std::string file;
  /// The file is to be replaced or made, not written into.
  bool isReplaced = false;
  /// Its permissions, if there is one.
  std::optional<fs::perms> permissions;
};

} // namespace

static Error cannotWrite(const std::string &name, std::error_code code) {
  return {ErrorCode::Io, "cannot write the file: " + code.message(), {name, 0, 0}};
}

/// Follows the symbolic links of a path whose file does not exist.
static llvm::ErrorOr<std::string> followToNothing(std::string name) {
  constexpr int maxLinks = 40;
  for (int link = 0; link < maxLinks; ++link) {
    std::error_code code;
    std::filesystem::path target = std::filesystem::read_symlink(name, code);
    if (code)
      return name;
    name = target.is_absolute() ? target : std::filesystem::path(name).parent_path() / target;
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

static llvm::ErrorOr<Destination> findExisting(const std::string &name, const fs::file_status &status) {
  for (std::FILE *stream : {stdout, stderr}) {
    fs::file_status open;
    if (!fs::status(fileno(stream), open) && fs::equivalent(open, status))
      return Destination{stream, {}, false, {}};
  }
  if (status.type() == fs::file_type::directory_file)
    return std::make_error_code(std::errc::is_a_directory);
  // A link into /proc names an open file, which may have no name any more.
  llvm::SmallString<128> real;
  fs::file_status again;
  bool isNamed = !fs::real_path(name, real) && !fs::status(real, again) && fs::equivalent(again, status);
  if (status.type() != fs::file_type::regular_file || !isNamed)
    return Destination{nullptr, name, false, {}};
  if (std::error_code code = fs::access(real, fs::AccessMode::Write))
    return code;
  return Destination{nullptr, real.str().str(), true, status.permissions()};
}

static llvm::ErrorOr<Destination> findDestination(const std::string &name) {
  fs::file_status status;
  std::error_code code = fs::status(name, status);
  if (!code)
    return findExisting(name, status);
  if (code != std::errc::no_such_file_or_directory)
    return code;
  auto target = followToNothing(name);
  if (!target)
    return target.getError();
  return Destination{nullptr, *target, true, {}};
}

/// Writes to an open file and closes it if asked to.
static std::error_code writeBytes(int file, llvm::StringRef bytes, bool closes) {
  llvm::raw_fd_ostream stream(file, closes, /*unbuffered=*/true);
  stream << bytes;
  if (closes)
    stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

static std::error_code writeStream(std::FILE *stream, llvm::StringRef bytes) {
  bool isWritten = std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size() && std::fflush(stream) == 0;
  return isWritten ? std::error_code() : std::error_code(errno, std::generic_category());
}

static std::error_code replaceFile(const Destination &destination, llvm::StringRef bytes) {
  auto file = fs::TempFile::create(destination.file + ".%%%%%%%%.tmp");
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  std::error_code code = writeBytes(file->FD, bytes, /*closes=*/false);
  if (!code && destination.permissions)
    code = fs::setPermissions(file->FD, *destination.permissions);
  if (!code)
    return llvm::errorToErrorCode(file->keep(destination.file));
  llvm::consumeError(file->discard());
  return code;
}

Status tool::writeFile(const std::string &name, llvm::StringRef bytes) {
  auto destination = findDestination(name);
  std::error_code code = destination.getError();
  int file = -1;
  if (!code && destination->stream)
    code = writeStream(destination->stream, bytes);
  else if (!code && destination->isReplaced)
    code = replaceFile(*destination, bytes);
  else if (!code && !(code = fs::openFileForWrite(destination->file, file, fs::CD_OpenExisting, fs::OF_None)))
    code = writeBytes(file, bytes, /*closes=*/true);
  return code ? Status(cannotWrite(name, code)) : Status();
}

Status tool::checkWritable(const std::string &name) {
  auto destination = findDestination(name);
  std::error_code code = destination.getError();
  if (!code && destination->isReplaced) {
    llvm::StringRef folder = path::parent_path(destination->file);
    code = fs::access(folder.empty() ? "." : folder, fs::AccessMode::Write);
  } else if (!code && !destination->stream) {
    code = fs::access(destination->file, fs::AccessMode::Write);
  }
  return code ? Status(cannotWrite(name, code)) : Status();
}

Status tool::flushStdout() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return {};
  return Error{
      ErrorCode::Io, "cannot write to stdout: " + std::error_code(errno, std::generic_category()).message(), {}};
}
