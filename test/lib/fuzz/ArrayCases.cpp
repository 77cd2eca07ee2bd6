//===- ArrayCases.cpp - damaged .npy and .npz files --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cases.h"
#include "Children.h"
#include "MutateText.h"
#include "tools/support/Generate.h"
#include "tools/support/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace attn;
using namespace attn::fuzz;

static const std::vector<DType> dtypes = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I1,
                                          DType::I8,  DType::I16,  DType::I32, DType::I64};

static tool::Array makeArray(Random &random) {
  std::vector<int64_t> sizes(random.below(5));
  for (int64_t &size : sizes)
    size = static_cast<int64_t>(random.below(5));
  auto array = tool::Array::create(random.of(dtypes), sizes);
  for (int64_t i = 0; i < array->bytes(); ++i)
    array->data()[i] = static_cast<char>(random.word());
  return std::move(*array);
}

/// A file of this process alone, gone with it.
class ScratchFile {
public:
  explicit ScratchFile(const char *suffix) {
    llvm::SmallString<128> folder;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    path = (folder + "/attn-fuzz-" + std::to_string(getpid()) + suffix).str();
  }
  ~ScratchFile() { llvm::sys::fs::remove(path); }
  void write(const std::string &bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << bytes;
  }
  std::string path;
};

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// Another text for the header's dictionary, padded to the same length where it fits.
static void mutateHeader(Random &random, std::string &bytes) {
  static const std::vector<std::string> texts = {"'<f4'",
                                                 "'>f4'",
                                                 "'|V2'",
                                                 "'<U9999999999'",
                                                 "[('a', '<f4')]",
                                                 "'|O'",
                                                 "True",
                                                 "False",
                                                 "None",
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "99999999999999999999999",
                                                 "4611686018427387904",
                                                 "1e9",
                                                 "()",
                                                 "(,)",
                                                 "(1,)",
                                                 "(0, 9223372036854775807)",
                                                 "(4294967296, 4294967296)",
                                                 "'descr'",
                                                 "'shape'",
                                                 "{",
                                                 "}",
                                                 ",",
                                                 ":",
                                                 "(((((((((((((((((",
                                                 "\\x00",
                                                 "\"",
                                                 "L",
                                                 "2L",
                                                 ""};
  size_t open = bytes.find('{'), close = bytes.find('}');
  if (close == std::string::npos || open > close)
    return;
  std::string header = bytes.substr(open, close + 1 - open);
  for (size_t n = 1 + random.below(3); n-- > 0;) {
    Tokens tokens = tokenize(header);
    tokens[random.below(tokens.size())].text = random.of(texts);
    header.clear();
    for (const Token &token : tokens)
      header += token.text;
  }
  size_t room = bytes.find('\n', open);
  if (room != std::string::npos && random.oneIn(4) == false && header.size() < room - open)
    header.append(room - open - header.size(), ' ');
  bytes.replace(open, std::min(room, bytes.size()) - open, header);
}

static std::string makeNpy(Random &random) {
  std::string bytes = tool::encodeNpy(makeArray(random));
  for (size_t n = 1 + random.below(2); n-- > 0;)
    switch (random.below(6)) {
    case 0:
      mutateBytes(random, bytes);
      break;
    case 1: // version and length of the header
      bytes.resize(std::max<size_t>(bytes.size(), 16));
      bytes[6 + random.below(6)] = static_cast<char>(random.oneIn(2) ? random.below(4) : random.word());
      break;
    case 2:
      bytes.resize(random.below(bytes.size() + 1));
      break;
    case 3:
      bytes.append(random.below(100), '\0');
      break;
    default:
      mutateHeader(random, bytes);
    }
  return bytes;
}

//===----------------------------------------------------------------------===//
// .npz
//===----------------------------------------------------------------------===//

/// Numbers in one of the archive's records ("PK\1\2", "PK\3\4", "PK\5\6", and those of 64 bits): sizes, offsets,
/// counts, methods, flags, lengths of names.
static void mutateRecord(Random &random, std::string &bytes) {
  static const std::vector<uint64_t> numbers = {0, 1, 8, 12, 14, 93, 0xffff, 0x7fffffff, 0xffffffff, 0x80000000};
  std::vector<size_t> records;
  for (size_t at = bytes.find("PK"); at != std::string::npos; at = bytes.find("PK", at + 1))
    records.push_back(at);
  if (records.empty())
    return;
  size_t width = random.oneIn(2) ? 2 : 4, at = random.of(records) + 4 + 2 * random.below(22);
  uint64_t number = random.oneIn(3) ? random.word() : random.of(numbers);
  for (size_t i = 0; i < width && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>(number >> (8 * i));
}

static std::string makeNpz(Random &random) {
  ScratchFile file(".made.npz");
  std::vector<tool::Array> arrays;
  for (size_t n = 1 + random.below(3); n-- > 0;)
    arrays.push_back(makeArray(random));
  tool::NamedArrays named;
  for (const tool::Array &array : arrays)
    named.push_back({"arr_" + std::to_string(named.size()), &array});
  if (!tool::writeNpz(file.path, named))
    return "";
  auto buffer = llvm::MemoryBuffer::getFile(file.path);
  std::string bytes = buffer ? (*buffer)->getBuffer().str() : "";
  for (size_t n = 1 + random.below(3); n-- > 0;)
    switch (random.below(5)) {
    case 0:
      mutateBytes(random, bytes);
      break;
    case 1:
      mutateHeader(random, bytes);
      break;
    default:
      mutateRecord(random, bytes);
    }
  return bytes;
}

namespace {

class ArrayCases : public Cases {
public:
  explicit ArrayCases(uint64_t seed) : seed(seed) {}
  std::string make(uint64_t index) const override {
    Random random(seed, index);
    return index % 2 ? makeNpz(random) : makeNpy(random);
  }
  const char *suffix() const override { return ".npy-or-npz"; }
  void run(uint64_t index, const std::string &input) const override;

private:
  uint64_t seed;
};

} // namespace

void ArrayCases::run(uint64_t index, const std::string &input) const {
  Random random(~seed, index);
  ScratchFile file(index % 2 ? ".npz" : ".npy");
  file.write(input);
  setPhase("reading");
  DType dtype = random.of(dtypes);
  tool::WantedArray wanted = random.oneIn(2) ? tool::WantedArray(dtype) : tool::WantedArray(dtype, {dynamicSize, 2});
  std::vector<std::string> paths = {file.path};
  if (index % 2)
    if (auto names = tool::listNpz(file.path))
      for (const std::string &name : *names)
        paths.push_back(file.path + ":" + name);
  for (const std::string &path : paths) {
    auto array = tool::readArray(path, wanted);
    addCount(array ? Accepted : Refused);
    // What was read was in the file: deflate makes at most 1032 bytes of one.
    if (array && static_cast<uint64_t>(array->bytes()) > input.size() * 1032)
      abort();
  }
}

std::unique_ptr<Cases> attn::fuzz::createArrayCases(uint64_t seed) { return std::make_unique<ArrayCases>(seed); }
