//===- NpyFile.cpp - .npy and .npz files -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Npy.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <zip.h>

using namespace attn;
using namespace attn::tool;

static Error fileError(const std::string &path, const std::string &problem) {
  return {ErrorCode::Io, path + ": " + problem, {}};
}

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

namespace {
struct CloseZip {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t *file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, CloseZip>;
} // namespace

static Result<Zip> openZip(const std::string &path, int flags) {
  int code = 0;
  Zip archive(zip_open(path.c_str(), flags, &code));
  if (archive)
    return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return fileError(path, "cannot open the archive: " + text);
}

Result<std::vector<std::string>> tool::listNpz(const std::string &path) {
  auto archive = openZip(path, ZIP_RDONLY);
  if (!archive)
    return archive.error();
  std::vector<std::string> names;
  for (zip_int64_t i = 0, n = zip_get_num_entries(archive->get(), 0); i < n; ++i) {
    const char *entry = zip_get_name(archive->get(), i, 0);
    std::string name = entry ? entry : "";
    if (endsWith(name, ".npy"))
      names.push_back(name.substr(0, name.size() - 4));
  }
  return names;
}

/// The bytes of a member, decompressed. The size that the archive claims is not trusted with memory.
static Result<std::string> readMember(const std::string &path, const std::string &member) {
  auto archive = openZip(path, ZIP_RDONLY);
  if (!archive)
    return archive.error();
  std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen(archive->get(), (member + ".npy").c_str(), 0));
  if (!file)
    return fileError(path, "cannot open '" + member + ".npy' in the archive: " + zip_strerror(archive->get()));
  std::string bytes;
  std::vector<char> chunk(1 << 20);
  while (true) {
    zip_int64_t got = zip_fread(file.get(), chunk.data(), chunk.size());
    if (got < 0)
      return fileError(path, "cannot read '" + member + ".npy' in the archive: " + zip_file_strerror(file.get()));
    if (got == 0)
      return bytes;
    bytes.append(chunk.data(), got);
  }
}

Status tool::writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays) {
  auto archive = openZip(path, ZIP_CREATE | ZIP_TRUNCATE);
  if (!archive)
    return archive.error();
  // libzip reads the buffers when the archive is closed.
  std::vector<std::string> buffers(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    buffers[i] = encodeNpy(*arrays[i].second);
    zip_source_t *source = zip_source_buffer(archive->get(), buffers[i].data(), buffers[i].size(), 0);
    std::string name = arrays[i].first + ".npy";
    zip_int64_t index = source ? zip_file_add(archive->get(), name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      zip_source_free(source);
      return fileError(path, "cannot add '" + name + "': " + zip_strerror(archive->get()));
    }
    // NumPy maps stored members into memory, and floats hardly shrink.
    zip_set_file_compression(archive->get(), index, ZIP_CM_STORE, 0);
  }
  if (zip_close(archive->get()) != 0)
    return fileError(path, std::string("cannot write the archive: ") + zip_strerror(archive->get()));
  static_cast<void>(archive->release());
  return {};
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Result<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  // A directory opens, and fails on reading.
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(bytes << file.rdbuf())) || file.bad())
    return fileError(path, "cannot read the file");
  return bytes.str();
}

static Result<Array> readNpz(const std::string &path, std::string member, DType wanted) {
  if (member.empty()) {
    auto names = listNpz(path);
    if (!names)
      return names.error();
    if (names->size() != 1)
      return fileError(path, "the archive has " + std::to_string(names->size()) + " arrays; name one, as in " + path +
                                 ":arr_0");
    member = names->front();
  }
  auto bytes = readMember(path, member);
  if (!bytes)
    return bytes.error();
  return decodeNpy(*bytes, wanted, path + ":" + member);
}

Result<Array> tool::readArray(const std::string &path, DType wanted) {
  constexpr std::string_view separator = ".npz:";
  size_t archiveEnd = path.rfind(separator);
  if (archiveEnd != std::string::npos)
    return readNpz(path.substr(0, archiveEnd + 4), path.substr(archiveEnd + separator.size()), wanted);
  if (endsWith(path, ".npz"))
    return readNpz(path, "", wanted);
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  return decodeNpy(*bytes, wanted, path);
}

Status tool::writeNpy(const std::string &path, const Array &array) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::string bytes = encodeNpy(array);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : fileError(path, "cannot write the file");
}
