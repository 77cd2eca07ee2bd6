//===- Tensor.cpp - element types and strides --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/API/Tensor.h"

#include <limits>

using namespace attn;

const char *attn::toString(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::I1:
    return "i1";
  case DType::I8:
    return "i8";
  case DType::I16:
    return "i16";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::Other:
    return "another type";
  }
  return "unknown";
}

int64_t attn::byteSize(DType dtype) {
  switch (dtype) {
  case DType::I1:
  case DType::I8:
    return 1;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::Other:
    return 0;
  }
  return 0;
}

bool attn::isFloat(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32 || dtype == DType::F64;
}

std::vector<int64_t> attn::rowMajorStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    // A size of 0 leaves the outer strides as if it were 1: the tensor has no elements.
    int64_t factor = sizes[i] > 0 ? sizes[i] : 1;
    if (__builtin_mul_overflow(step, factor, &step))
      step = std::numeric_limits<int64_t>::max();
  }
  return strides;
}
