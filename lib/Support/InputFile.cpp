//===- InputFile.cpp - the text of a file ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/Support/InputFile.h"

#include "llvm/Support/FileSystem.h"

using namespace attn;
namespace fs = llvm::sys::fs;

using Buffer = llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>;

static Buffer readStream(fs::file_t file, llvm::StringRef name) {
  constexpr size_t maxBytes = size_t(256) << 20, chunk = 1 << 16;
  std::string text;
  while (true) {
    size_t size = text.size();
    text.resize(size + chunk);
    llvm::Expected<size_t> got = fs::readNativeFile(file, llvm::MutableArrayRef<char>(&text[size], chunk));
    if (!got)
      return llvm::errorToErrorCode(got.takeError());
    text.resize(size + *got);
    if (*got == 0)
      return llvm::MemoryBuffer::getMemBufferCopy(text, name);
    if (text.size() > maxBytes)
      return std::make_error_code(std::errc::file_too_large);
  }
}

Buffer attn::readInputFile(llvm::StringRef path, llvm::StringRef name) {
  if (name.empty())
    name = path;
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  fs::file_status status;
  std::error_code code = fs::status(*file, status);
  // A directory can be opened, but not read.
  Buffer buffer = code ? Buffer(code)
                  : status.type() == fs::file_type::regular_file
                      ? llvm::MemoryBuffer::getOpenFile(*file, name, status.getSize())
                      : readStream(*file, name);
  fs::closeFile(*file);
  return buffer;
}
