// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a view that kernels copy boxes from has to be like, on any device.

#include "attn/Device.h"

#include <cstdio>

/// What the hardware asks of strides and of the first address, in bytes.
static constexpr int64_t alignment = 16;
static constexpr int64_t strideLimit = int64_t(1) << 40;
static constexpr int64_t sizeLimit = int64_t(1) << 32;
static constexpr int32_t boxLimit = 256;

static bool refuse(char *message, const char *what, const char *wanted, long long got) {
  std::snprintf(message, ATTN_RT_MESSAGE_BYTES, "expects %s %s, but got %lld", what, wanted, got);
  return false;
}

static bool checkDimension(const attn_rt_tensor_map &map, int32_t d, char *message) {
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

static bool isOneOf(int32_t value, int32_t a, int32_t b, int32_t c, int32_t d) {
  return value == a || value == b || value == c || value == d;
}

static bool checkMap(const attn_rt_tensor_map &map, char *message) {
  if (map.rank < 1 || map.rank > 5)
    return refuse(message, "a rank of", "1 to 5", map.rank);
  if (!isOneOf(map.element_bytes, 1, 2, 4, 8))
    return refuse(message, "elements of", "1, 2, 4 or 8 bytes", map.element_bytes);
  if (!isOneOf(map.swizzle_bytes, 0, 32, 64, 128))
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

int32_t attn_rt_check_tensor_map(const attn_rt_tensor_map *map, char message[ATTN_RT_MESSAGE_BYTES]) {
  message[0] = '\0';
  // Without an address the kernel does not look at it.
  return !map->base || checkMap(*map, message);
}
