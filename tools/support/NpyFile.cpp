//===- NpyFile.cpp - .npy and .npz files -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Npy.h"

#include "OutputFile.h"
#include "llvm/Support/FileSystem.h"

#include <memory>
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
struct FreeSource {
  void operator()(zip_source_t *source) const { zip_source_free(source); }
};
using Zip = std::unique_ptr<zip_t, CloseZip>;
} // namespace

static Result<Zip> openZip(const std::string &path) {
  // libzip looks for an archive's end first: a pipe has none, and what never ends would be waited for.
  llvm::sys::fs::file_status status;
  std::error_code problem = llvm::sys::fs::status(path, status);
  if (!problem && status.type() != llvm::sys::fs::file_type::regular_file)
    return fileError(path, "cannot open the archive: a regular file is expected");
  int code = 0;
  Zip archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive)
    return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return fileError(path, "cannot open the archive: " + text);
}

Result<std::vector<std::string>> tool::listNpz(const std::string &path) {
  auto archive = openZip(path);
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

namespace {

/// A member of an archive, decompressed as it is read.
class MemberSource : public ByteSource {
public:
  MemberSource(Zip archive, zip_file_t *file, uint64_t size, std::string name)
      : ByteSource(size), archive(std::move(archive)), file(file), name(std::move(name)) {}
  Result<size_t> read(char *data, size_t size) override;

private:
  Zip archive;
  std::unique_ptr<zip_file_t, CloseMember> file;
  std::string name;
};

} // namespace

Result<size_t> MemberSource::read(char *data, size_t size) {
  size_t taken = 0;
  while (taken < size) {
    zip_int64_t got = zip_fread(file.get(), data + taken, size - taken);
    if (got < 0)
      return fileError(name, std::string("cannot read the array in the archive: ") + zip_file_strerror(file.get()));
    if (got == 0)
      break;
    taken += got;
  }
  return taken;
}

/// Refuses what an archive claims of a member and what cannot be.
static Status checkMember(const zip_stat_t &member, const std::string &path, const std::string &name) {
  // deflate: 258 bytes from two bits.
  constexpr zip_uint64_t maxRatio = 1032, slack = 1024;
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  uint64_t fileSize = 0;
  if ((member.valid & needed) != needed || llvm::sys::fs::file_size(path, fileSize) || member.comp_size > fileSize)
    return fileError(name, "the archive does not hold the array's " + std::to_string(member.comp_size) + " bytes");
  if (member.comp_method != ZIP_CM_STORE && member.comp_method != ZIP_CM_DEFLATE)
    return fileError(name, "the array is compressed by method " + std::to_string(member.comp_method) +
                               ", but stored (0) or deflated (8) is expected");
  bool isStored = member.comp_method == ZIP_CM_STORE;
  if (member.size > (isStored ? member.comp_size : member.comp_size * maxRatio + slack))
    return fileError(name, std::to_string(member.comp_size) + " bytes in the archive cannot hold the " +
                               std::to_string(member.size) + " that it claims");
  return {};
}

static Result<Array> readMember(const std::string &path, const std::string &member, const WantedArray &wanted) {
  auto archive = openZip(path);
  if (!archive)
    return archive.error();
  zip_stat_t stat;
  zip_stat_init(&stat);
  zip_int64_t index = zip_name_locate(archive->get(), (member + ".npy").c_str(), 0);
  zip_file_t *file = nullptr;
  std::string name = path + ":" + member;
  if (index >= 0 && zip_stat_index(archive->get(), index, 0, &stat) == 0) {
    if (Status status = checkMember(stat, path, name); !status)
      return status.error();
    file = zip_fopen_index(archive->get(), index, 0);
  }
  if (!file)
    return fileError(path, "cannot open '" + member + ".npy' in the archive: " + zip_strerror(archive->get()));
  MemberSource source(std::move(*archive), file, stat.size, name);
  return readNpy(source, wanted, name);
}

/// An archive's bytes, which libzip makes in a source of its own.
static Result<std::string> takeArchive(zip_source_t *source, const std::string &path) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::string bytes;
  bool isRead = zip_source_stat(source, &stat) == 0 && zip_source_open(source) == 0;
  if (isRead) {
    bytes.resize(stat.size);
    isRead = zip_source_read(source, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
    zip_source_close(source);
  }
  if (!isRead)
    return fileError(path, std::string("cannot make the archive: ") + zip_error_strerror(zip_source_error(source)));
  return bytes;
}

/// Adds the arrays' files; libzip reads the buffers when the archive is closed.
static Status addMembers(zip_t *archive, const std::string &path, const NamedArrays &arrays,
                         std::vector<std::string> &buffers) {
  for (const auto &[member, array] : arrays) {
    const std::string &bytes = buffers.emplace_back(encodeNpy(*array));
    zip_source_t *source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    std::string name = member + ".npy";
    zip_int64_t index = source ? zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      zip_source_free(source);
      return fileError(path, "cannot add '" + name + "': " + zip_strerror(archive));
    }
    // NumPy maps stored members into memory, and floats hardly shrink.
    zip_set_file_compression(archive, index, ZIP_CM_STORE, 0);
  }
  return {};
}

Status tool::writeNpz(const std::string &path, const NamedArrays &arrays) {
  // In memory: libzip would replace what has the name, a device too, and leave its temporary file after an interrupt.
  std::unique_ptr<zip_source_t, FreeSource> target(zip_source_buffer_create(nullptr, 0, 0, nullptr));
  Zip archive(target ? zip_open_from_source(target.get(), ZIP_TRUNCATE, nullptr) : nullptr);
  if (!archive)
    return fileError(path, "cannot make the archive");
  zip_source_keep(target.get());
  std::vector<std::string> buffers;
  buffers.reserve(arrays.size());
  if (Status status = addMembers(archive.get(), path, arrays, buffers); !status)
    return status;
  if (zip_close(archive.get()) != 0)
    return fileError(path, std::string("cannot make the archive: ") + zip_strerror(archive.get()));
  static_cast<void>(archive.release());
  auto bytes = takeArchive(target.get(), path);
  return bytes ? writeFile(path, *bytes) : Status(bytes.error());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// An open file, closed with this.
class FileSource : public ByteSource {
public:
  FileSource(llvm::sys::fs::file_t file, std::optional<uint64_t> size, std::string path)
      : ByteSource(size), file(file), path(std::move(path)) {}
  ~FileSource() override { llvm::sys::fs::closeFile(file); }
  Result<size_t> read(char *data, size_t size) override;

private:
  llvm::sys::fs::file_t file;
  std::string path;
};

} // namespace

Result<size_t> FileSource::read(char *data, size_t size) {
  size_t taken = 0;
  while (taken < size) {
    auto got = llvm::sys::fs::readNativeFile(file, llvm::MutableArrayRef<char>(data + taken, size - taken));
    if (!got)
      return fileError(path, "cannot read the file: " + llvm::toString(got.takeError()));
    if (*got == 0)
      break;
    taken += *got;
  }
  return taken;
}

static Result<Array> readFile(const std::string &path, const WantedArray &wanted) {
  auto file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return fileError(path, "cannot read the file: " + llvm::toString(file.takeError()));
  llvm::sys::fs::file_status status;
  std::optional<uint64_t> size;
  if (!llvm::sys::fs::status(*file, status) && status.type() == llvm::sys::fs::file_type::regular_file)
    size = status.getSize();
  FileSource source(*file, size, path);
  return readNpy(source, wanted, path);
}

static Result<Array> readNpz(const std::string &path, std::string member, const WantedArray &wanted) {
  if (member.empty()) {
    auto names = listNpz(path);
    if (!names)
      return names.error();
    if (names->size() != 1)
      return fileError(path, "the archive has " + std::to_string(names->size()) + " arrays; name one, as in " + path +
                                 ":arr_0");
    member = names->front();
  }
  return readMember(path, member, wanted);
}

Result<Array> tool::readArray(const std::string &path, const WantedArray &wanted) {
  constexpr std::string_view separator = ".npz:";
  size_t archiveEnd = path.rfind(separator);
  if (archiveEnd != std::string::npos)
    return readNpz(path.substr(0, archiveEnd + 4), path.substr(archiveEnd + separator.size()), wanted);
  return endsWith(path, ".npz") ? readNpz(path, "", wanted) : readFile(path, wanted);
}

Status tool::writeNpy(const std::string &path, const Array &array) { return writeFile(path, encodeNpy(array)); }
