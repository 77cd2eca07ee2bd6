// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views that kernels copy boxes from, in the driver's form.

#include "CudaContext.h"

using namespace attn::runtime;

/// One that the driver takes, for dimensions that have no second element.
static constexpr uint64_t anyStride = 16;

/// CU_TENSOR_MAP_DATA_TYPE_UINT8 to UINT64: boxes are copied as they are.
static int dataType(int32_t elementBytes) {
  switch (elementBytes) {
  case 1:
    return 0;
  case 2:
    return 1;
  case 4:
    return 2;
  default:
    return 4;
  }
}

/// CU_TENSOR_MAP_SWIZZLE_NONE to 128B.
static int swizzle(int32_t bytes) {
  switch (bytes) {
  case 0:
    return 0;
  case 32:
    return 1;
  case 64:
    return 2;
  default:
    return 3;
  }
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
  char problem[ATTN_RT_MESSAGE_BYTES];
  if (!attn_rt_check_tensor_map(&map, problem)) {
    setMessage(message, "a view for copies by boxes %s", problem);
    return false;
  }
  uint64_t sizes[5], strides[4];
  uint32_t box[5], steps[5];
  for (int32_t d = 0; d < map.rank; ++d) {
    if (map.sizes[d] == 0)
      return true; // The driver has no form of it, and the kernel nothing to copy.
    sizes[d] = map.sizes[d];
    box[d] = map.box[d];
    steps[d] = 1;
    if (d > 0)
      strides[d - 1] = map.sizes[d] > 1 ? map.strides[d] : anyStride;
  }
  const int noInterleave = 0, promoteTo256Bytes = 3, fillZero = 0;
  int result = driver.encodeTensorMap(&encoded, dataType(map.element_bytes), map.rank, const_cast<void *>(map.base),
                                      sizes, strides, box, steps, noInterleave, swizzle(map.swizzle_bytes),
                                      promoteTo256Bytes, fillZero);
  return driver.check(result, "make a tensor map", message);
}
