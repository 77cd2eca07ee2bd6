//===- Npy.cpp - NumPy's array files -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Npy.h"

#include <algorithm>

using namespace attn;
using namespace attn::tool;

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// Where elements start, in bytes, is a multiple of it.
constexpr size_t headerAlignment = 64;

struct Header {
  std::string descr;
  bool isFortran = false;
  std::vector<int64_t> shape;
};

/// Reads a header's dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }: the subset of Python
/// literals that NumPy writes there.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  /// False where the text is anything else; `problem` says what was expected.
  bool parse(Header &header);
  const std::string &problem() const { return expected; }

private:
  void skipSpace() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\t'))
      rest.remove_prefix(1);
  }
  /// Whether the next token is the word; takes it if so.
  bool take(std::string_view word) {
    skipSpace();
    if (rest.substr(0, word.size()) != word)
      return false;
    rest.remove_prefix(word.size());
    return true;
  }
  bool fail(const char *what) {
    if (expected.empty())
      expected = what;
    return false;
  }
  bool parseString(std::string &text);
  bool parseBool(bool &value);
  bool parseShape(std::vector<int64_t> &shape);
  bool parseEntry(Header &header);

  std::string_view rest;
  std::string expected;
  unsigned seen = 0;
};

} // namespace

bool HeaderParser::parseString(std::string &text) {
  skipSpace();
  char quote = rest.empty() ? '\0' : rest.front();
  size_t end = quote == '\'' || quote == '"' ? rest.find(quote, 1) : std::string_view::npos;
  if (end == std::string_view::npos)
    return fail("a string");
  text = std::string(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  value = take("True");
  return value || take("False") || fail("True or False");
}

bool HeaderParser::parseShape(std::vector<int64_t> &shape) {
  if (!take("("))
    return fail("a tuple in 'shape'");
  while (!take(")")) {
    skipSpace();
    int64_t size = 0;
    size_t digits = 0;
    for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, rest[digits] - '0', &size))
        return fail("sizes of at most 63 bits");
    if (digits == 0)
      return fail("a size of at least 0");
    rest.remove_prefix(digits);
    take("L"); // Python 2's long integers
    shape.push_back(size);
    if (!take(",") && (skipSpace(), rest.empty() || rest.front() != ')'))
      return fail("',' or ')' after a size");
  }
  return true;
}

bool HeaderParser::parseEntry(Header &header) {
  std::string key;
  if (!parseString(key))
    return false;
  if (!take(":"))
    return fail("':' after a key");
  unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
  if (bit == 0 || (seen & bit))
    return fail("the keys 'descr', 'fortran_order' and 'shape', once each");
  seen |= bit;
  if (bit == 1)
    return parseString(header.descr);
  return bit == 2 ? parseBool(header.isFortran) : parseShape(header.shape);
}

bool HeaderParser::parse(Header &header) {
  if (!take("{"))
    return fail("a dictionary");
  while (!take("}")) {
    if (!parseEntry(header))
      return false;
    if (!take(",") && (skipSpace(), rest.empty() || rest.front() != '}'))
      return fail("',' or '}' after a value");
  }
  skipSpace();
  if (!rest.empty())
    return fail("nothing after the dictionary");
  return seen == 7 || fail("the keys 'descr', 'fortran_order' and 'shape'");
}

static Error malformed(const std::string &name, const std::string &problem) {
  return {ErrorCode::Io, name + ": not a .npy file that can be read: " + problem, {}};
}

/// The element type of a descriptor; Other where the table in Npy.h has none.
static DType convertDescr(const std::string &descr, DType wanted) {
  static constexpr std::pair<const char *, DType> table[] = {
      {"<f2", DType::F16}, {"<f4", DType::F32}, {"<f8", DType::F64},  {"|i1", DType::I8},
      {"<i1", DType::I8},  {"<i2", DType::I16}, {"<i4", DType::I32},  {"<i8", DType::I64},
      {"|b1", DType::I1},  {"<b1", DType::I1},  {"|V2", DType::BF16}, {"<V2", DType::BF16}};
  for (auto [text, dtype] : table)
    if (descr == text)
      return dtype;
  return descr == "<u2" && wanted == DType::BF16 ? DType::BF16 : DType::Other;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// A .npy file that is read from front to back.
class NpyReader {
public:
  NpyReader(ByteSource &source, const WantedArray &wanted, const std::string &name)
      : source(source), wanted(wanted), name(name) {}

  Result<Array> read();

private:
  Error problem(const std::string &text) const { return malformed(name, text); }
  /// Takes bytes; `where` says what ends the file is before, if it ends within them.
  Status take(char *data, size_t size, const char *where);
  Status readHeader(Header &header);
  Status checkFits(DType dtype, const Header &header) const;
  /// The bytes of the elements, compared with those of the file.
  Result<size_t> countBytes(DType dtype, const std::vector<int64_t> &shape) const;
  Result<Array> readElements(DType dtype, const Header &header, size_t bytes);
  Status checkEnd();

  ByteSource &source;
  const WantedArray &wanted;
  const std::string &name;
  /// Bytes taken so far.
  uint64_t position = 0;
};

/// decodeNpy's.
class TextSource : public ByteSource {
public:
  explicit TextSource(std::string_view text) : ByteSource(text.size()), rest(text) {}
  Result<size_t> read(char *data, size_t size) override {
    size = rest.copy(data, size);
    rest.remove_prefix(size);
    return size;
  }

private:
  std::string_view rest;
};

} // namespace

Status NpyReader::take(char *data, size_t size, const char *where) {
  auto got = source.read(data, size);
  if (!got)
    return got.error();
  position += *got;
  return *got == size ? Status() : Status(problem(std::string("it ends before ") + where));
}

Status NpyReader::readHeader(Header &header) {
  constexpr size_t maxHeader = 1 << 20;
  std::string start(magic.size(), '\0');
  unsigned char version[2], lengthBytes[4] = {};
  auto got = source.read(start.data(), start.size());
  if (!got)
    return got.error();
  position = *got;
  if (start != magic)
    return problem("it does not start with \"\\x93NUMPY\"");
  if (Status status = take(reinterpret_cast<char *>(version), 2, "its version"); !status)
    return status;
  if (version[0] < 1 || version[0] > 3)
    return problem("expected version 1, 2 or 3, but got " + std::to_string(version[0]));
  if (Status status = take(reinterpret_cast<char *>(lengthBytes), version[0] == 1 ? 2 : 4, "the length of its header");
      !status)
    return status;
  size_t length = lengthBytes[0] | lengthBytes[1] << 8 | lengthBytes[2] << 16 | size_t(lengthBytes[3]) << 24;
  if (source.size() && length > *source.size() - std::min(position, *source.size()))
    return problem("its header has " + std::to_string(length) + " bytes, but " +
                   std::to_string(*source.size() - std::min(position, *source.size())) + " follow");
  if (length > maxHeader)
    return problem("its header has " + std::to_string(length) + " bytes, but at most " + std::to_string(maxHeader) +
                   " are expected");
  std::string text(length, '\0');
  if (Status status = take(text.data(), length, "the end of its header"); !status)
    return status;
  HeaderParser parser(text);
  return parser.parse(header) ? Status() : problem("its header should have " + parser.problem());
}

Status NpyReader::checkFits(DType dtype, const Header &header) const {
  if (!wanted.sizes)
    return {};
  bool fits = dtype == wanted.dtype && header.shape.size() == wanted.sizes->size();
  for (size_t d = 0; fits && d < header.shape.size(); ++d)
    fits = (*wanted.sizes)[d] == dynamicSize || (*wanted.sizes)[d] == header.shape[d];
  if (fits)
    return {};
  return Error{ErrorCode::InvalidArgument,
               name + ": expected an array of " + describe(wanted.dtype, *wanted.sizes) + ", but got " +
                   describe(dtype, header.shape),
               {}};
}

Result<size_t> NpyReader::countBytes(DType dtype, const std::vector<int64_t> &shape) const {
  int64_t size = byteSize(dtype);
  bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end(), overflows = false;
  for (int64_t dim : shape)
    overflows |= __builtin_mul_overflow(size, dim, &size);
  if (isEmpty)
    size = 0;
  else if (overflows)
    return problem("its shape " + describe(dtype, shape) + " exceeds 63 bits of bytes");
  if (source.size() && static_cast<uint64_t>(size) != *source.size() - position)
    return problem("its shape " + describe(dtype, shape) + " does not match the " +
                   std::to_string(*source.size() - position) + " bytes of elements");
  return static_cast<size_t>(size);
}

/// Copies elements stored with the first index fastest into row-major order.
static void copyFortran(Array &array, std::string_view elements) {
  const std::vector<int64_t> &sizes = array.sizes();
  int64_t width = byteSize(array.dtype());
  std::vector<int64_t> strides(sizes.size()), index(sizes.size(), 0);
  int64_t step = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = step;
    step *= sizes[d];
  }
  int64_t offset = 0;
  for (int64_t n = 0; n < array.size(); ++n) {
    std::memcpy(array.data() + n * width, elements.data() + offset * width, width);
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < sizes[d])
        break;
      offset -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

Result<Array> NpyReader::readElements(DType dtype, const Header &header, size_t bytes) {
  // Not for sizes that the header alone claims: the file has to hold the elements.
  constexpr size_t chunk = 16 << 20;
  std::string elements;
  if (!source.size() || header.isFortran)
    while (elements.size() < bytes) {
      size_t size = elements.size(), more = std::min(chunk, bytes - size);
      elements.resize(size + more);
      if (Status status = take(elements.data() + size, more, "the end of its elements"); !status)
        return status.error();
    }
  auto array = Array::create(dtype, header.shape);
  if (!array)
    return array;
  if (header.isFortran)
    copyFortran(*array, elements);
  else if (!elements.empty())
    std::memcpy(array->data(), elements.data(), elements.size());
  else if (Status status = take(array->data(), bytes, "the end of its elements"); !status)
    return status.error();
  return array;
}

/// Archives compare checksums there.
Status NpyReader::checkEnd() {
  char more;
  auto got = source.read(&more, 1);
  if (!got)
    return got.error();
  return *got == 0 ? Status() : Status(problem("bytes follow its elements"));
}

Result<Array> NpyReader::read() {
  Header header;
  if (Status status = readHeader(header); !status)
    return status.error();
  DType dtype = convertDescr(header.descr, wanted.dtype);
  if (dtype == DType::Other)
    return problem("elements of '" + header.descr +
                   "' are not supported; use <f2, <f4, <f8, |i1, <i2, <i4, <i8, |b1, or |V2 for bf16");
  auto bytes = countBytes(dtype, header.shape);
  if (!bytes)
    return bytes.error();
  if (Status status = checkFits(dtype, header); !status)
    return status.error();
  auto array = readElements(dtype, header, *bytes);
  if (!array)
    return array;
  if (Status status = checkEnd(); !status)
    return status.error();
  // Any byte but 0 is true; printing and writing show 1.
  for (int64_t i = 0; dtype == DType::I1 && i < array->size(); ++i)
    array->data()[i] = array->data()[i] != 0;
  return array;
}

Result<Array> tool::readNpy(ByteSource &source, const WantedArray &wanted, const std::string &name) {
  return NpyReader(source, wanted, name).read();
}

Result<Array> tool::decodeNpy(std::string_view bytes, const WantedArray &wanted, const std::string &name) {
  TextSource source(bytes);
  return readNpy(source, wanted, name);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static const char *descrOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "|V2";
  case DType::F32:
    return "<f4";
  case DType::F64:
    return "<f8";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::I16:
    return "<i2";
  case DType::I32:
    return "<i4";
  default:
    return "<i8";
  }
}

std::string tool::encodeNpy(const Array &array) {
  std::string header = "{'descr': '" + std::string(descrOf(array.dtype())) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.sizes())
    header += std::to_string(size) + ", ";
  if (array.sizes().size() > 1) // A tuple of one keeps its comma.
    header.resize(header.size() - 2);
  else if (array.sizes().size() == 1)
    header.resize(header.size() - 1);
  header += "), }";
  size_t start = magic.size() + 4;
  size_t total = (start + header.size() + 1 + headerAlignment - 1) / headerAlignment * headerAlignment;
  header.append(total - start - header.size() - 1, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(array.data(), array.bytes());
  return bytes;
}
