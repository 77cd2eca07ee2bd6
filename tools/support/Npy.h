//===- Npy.h - NumPy's array files --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .npy format, versions 1 to 3 (numpy.lib.format): magic "\x93NUMPY", version, length of the header, header as a
// Python dictionary, elements. Read: little-endian and single-byte elements, C and Fortran order.
//
// | NumPy | here |
// |---|---|
// | <f2 <f4 <f8 | f16 f32 f64 |
// | |i1 <i2 <i4 <i8 | i8 i16 i32 i64 |
// | |b1 | i1 |
// | |V2, and <u2 where the reader is told so | bf16 |
//
// bf16 is written as |V2, which is what NumPy writes for ml_dtypes.bfloat16.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_SUPPORT_NPY_H
#define ATTN_TOOLS_SUPPORT_NPY_H

#include "Array.h"

namespace attn::tool {

/// What an array is for.
struct WantedArray {
  WantedArray(DType dtype) : dtype(dtype) {}
  WantedArray(DType dtype, std::vector<int64_t> sizes) : dtype(dtype), sizes(std::move(sizes)) {}

  /// Decides what <u2 and |V2 mean.
  DType dtype;
  /// Where given, an array of another type or other sizes is refused; dynamicSize allows any.
  std::optional<std::vector<int64_t>> sizes;
};

/// Bytes that are read one after the other.
class ByteSource {
public:
  explicit ByteSource(std::optional<uint64_t> size) : total(size) {}
  virtual ~ByteSource() = default;
  /// How many there are, where that is known.
  std::optional<uint64_t> size() const { return total; }
  /// The next bytes, at most `size`; fewer only at the end.
  virtual Result<size_t> read(char *data, size_t size) = 0;

private:
  std::optional<uint64_t> total;
};

/// The array in a .npy file. Its header is compared with the size of the file and with what is wanted before an element
/// is read or memory for them is asked for; where the size is not known, memory grows with what comes. name: for
/// messages. Anything malformed or not in the table is an error.
Result<Array> readNpy(ByteSource &source, const WantedArray &wanted, const std::string &name);

/// readNpy on bytes.
Result<Array> decodeNpy(std::string_view bytes, const WantedArray &wanted, const std::string &name);

/// The bytes of a version 1 file in C order.
std::string encodeNpy(const Array &array);

/// The array of a file "x.npy", or of the archive "x.npz:member" (or "x.npz" where it holds one member). A pipe may
/// stand for "x.npy". Members are stored or deflated, as NumPy writes them.
Result<Array> readArray(const std::string &path, const WantedArray &wanted);

/// Names of the arrays in an .npz archive, without ".npy", in the archive's order.
Result<std::vector<std::string>> listNpz(const std::string &path);

/// Writes an .npy file, as writeFile does.
Status writeNpy(const std::string &path, const Array &array);

using NamedArrays = std::vector<std::pair<std::string, const Array *>>;

/// Writes an .npz archive, as writeFile does.
Status writeNpz(const std::string &path, const NamedArrays &arrays);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_NPY_H
