// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views that kernels copy boxes from, in the driver's form.

#include "CudaContext.h"

using namespace attn::runtime;

/// What the hardware asks of strides and of the first address, in bytes.
static constexpr int64_t alignment = 16;
static constexpr int64_t strideLimit = int64_t(1) << 40;
static constexpr int64_t sizeLimit = int64_t(1) << 32;
static constexpr int32_t boxLimit = 256;

/// CU_TENSOR_MAP_DATA_TYPE_UINT8 to UINT64: boxes are copied as they are. -1: no such size.
static int dataType(int32_t elementBytes) {
  switch (elementBytes) {
  case 1:
    return 0;
  case 2:
    return 1;
  case 4:
    return 2;
  case 8:
    return 4;
  default:
    return -1;
  }
}

/// CU_TENSOR_MAP_SWIZZLE_NONE to 128B; -1: no such swizzle.
static int swizzle(int32_t bytes) {
  switch (bytes) {
  case 0:
    return 0;
  case 32:
    return 1;
  case 64:
    return 2;
  case 128:
    return 3;
  default:
    return -1;
  }
}

static bool refuse(char *message, const char *what, const char *wanted, long long got) {
  setMessage(message, "a view for copies by boxes expects %s %s, but got %lld", what, wanted, got);
  return false;
}

static bool checkDimension(const attn_rt_tensor_map &map, int32_t d, char message[ATTN_RT_MESSAGE_BYTES]) {
  if (map.sizes[d] < 0 || map.sizes[d] > sizeLimit)
    return refuse(message, "sizes of", "0 to 2^32", map.sizes[d]);
  if (map.box[d] < 1 || map.box[d] > boxLimit)
    return refuse(message, "boxes of", "1 to 256 elements a dimension", map.box[d]);
  // The stride of a dimension of size 1 is never used.
  if (d > 0 && map.sizes[d] > 1 &&
      (map.strides[d] % alignment != 0 || map.strides[d] < 0 || map.strides[d] >= strideLimit))
    return refuse(message, "strides that are multiples of 16 bytes below", "2^40", map.strides[d]);
  return true;
}

static bool checkMap(const attn_rt_tensor_map &map, char message[ATTN_RT_MESSAGE_BYTES]) {
  if (map.rank < 1 || map.rank > 5)
    return refuse(message, "a rank of", "1 to 5", map.rank);
  if (dataType(map.element_bytes) < 0)
    return refuse(message, "elements of", "1, 2, 4 or 8 bytes", map.element_bytes);
  if (swizzle(map.swizzle_bytes) < 0)
    return refuse(message, "a swizzle of", "0, 32, 64 or 128 bytes", map.swizzle_bytes);
  if (map.strides[0] != map.element_bytes)
    return refuse(message, "the first stride to be", "the element's size", map.strides[0]);
  if (reinterpret_cast<uintptr_t>(map.base) % alignment != 0)
    return refuse(message, "its address to be a multiple of", "16 bytes",
                  static_cast<long long>(reinterpret_cast<uintptr_t>(map.base)));
  for (int32_t d = 0; d < map.rank; ++d)
    if (!checkDimension(map, d, message))
      return false;
  int64_t row = int64_t(map.box[0]) * map.element_bytes;
  if (row % alignment != 0)
    return refuse(message, "rows of boxes that are a multiple of", "16 bytes", row);
  if (map.swizzle_bytes > 0 && row > map.swizzle_bytes)
    return refuse(message, "rows of boxes that are at most as long as", "the swizzle", row);
  return true;
}

bool attn::runtime::encodeTensorMap(const CudaDriver &driver, const attn_rt_tensor_map &map, EncodedTensorMap &encoded,
                                    char message[ATTN_RT_MESSAGE_BYTES]) {
  encoded = {};
  if (!map.base)
    return true; // The kernel does not look at it.
  if (!driver.encodeTensorMap) {
    setMessage(message, "the CUDA driver has no cuTensorMapEncodeTiled; copies by boxes need one for CUDA 12 or newer");
    return false;
  }
  if (!checkMap(map, message))
    return false;
  uint64_t sizes[5], strides[4];
  uint32_t box[5], steps[5];
  for (int32_t d = 0; d < map.rank; ++d) {
    if (map.sizes[d] == 0)
      return true; // The driver has no form of it, and the kernel nothing to copy.
    sizes[d] = map.sizes[d];
    box[d] = map.box[d];
    steps[d] = 1;
    if (d > 0)
      strides[d - 1] = map.sizes[d] > 1 ? map.strides[d] : alignment;
  }
  const int noInterleave = 0, promoteTo256Bytes = 3, fillZero = 0;
  int result = driver.encodeTensorMap(&encoded, dataType(map.element_bytes), map.rank, const_cast<void *>(map.base),
                                      sizes, strides, box, steps, noInterleave, swizzle(map.swizzle_bytes),
                                      promoteTo256Bytes, fillZero);
  return driver.check(result, "make a tensor map", message);
}
