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

/// The array in the bytes of a .npy file. wanted: the element type that it is for; decides what <u2 and |V2 mean, and
/// refuses nothing else. name: for messages. Anything malformed or not in the table is an error.
Result<Array> decodeNpy(std::string_view bytes, DType wanted, const std::string &name);

/// The bytes of a version 1 file in C order.
std::string encodeNpy(const Array &array);

/// The array of a file "x.npy", or of the archive "x.npz:member" (or "x.npz" where it holds one member).
Result<Array> readArray(const std::string &path, DType wanted);

/// Names of the arrays in an .npz archive, without ".npy", in the archive's order.
Result<std::vector<std::string>> listNpz(const std::string &path);

/// Writes an .npy file.
Status writeNpy(const std::string &path, const Array &array);

/// Writes an .npz archive, replacing any file of that name.
Status writeNpz(const std::string &path, const std::vector<std::pair<std::string, const Array *>> &arrays);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_NPY_H
