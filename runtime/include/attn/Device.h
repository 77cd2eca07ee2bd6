// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C ABI between host code that starts kernels of a GPU, and whatever runs
// them: the CUDA driver (attn/Cuda.h), or an emulator. runtime/README.md is the
// contract.

#ifndef ATTN_DEVICE_H
#define ATTN_DEVICE_H

#include "attn/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A tiled view of device memory that a kernel copies boxes from (what cuTensorMapEncodeTiled takes). Innermost
/// dimension first; strides in bytes, strides[0] is the element size.
typedef struct attn_rt_tensor_map {
  const void *base;
  int32_t rank;
  int32_t element_bytes;
  int64_t sizes[5];
  int64_t strides[5];
  int32_t box[5];
  int32_t swizzle_bytes /* 0, 32, 64 or 128 */;
} attn_rt_tensor_map;

/// 1 if a kernel can copy boxes from the view, by the rules of cuTensorMapEncodeTiled, or if it has no address; else 0
/// with the message filled: "expects ...". The stride of a dimension of size 1 is not looked at. A view with a size of
/// 0 is right, but no kernel may copy from it. For those who write a device.
int32_t attn_rt_check_tensor_map(const attn_rt_tensor_map *map, char message[ATTN_RT_MESSAGE_BYTES]);

enum attn_rt_parameter_kind {
  /// `bytes` bytes at `data`, handed to the kernel as they are.
  ATTN_RT_PARAMETER_BYTES = 0,
  /// `data` is an attn_rt_tensor_map; the kernel gets the device's 128-byte form of it by value. Where base is NULL the
  /// map is not looked at, and the kernel must not use it.
  ATTN_RT_PARAMETER_TENSOR_MAP = 1
};

typedef struct attn_rt_parameter {
  /// One of attn_rt_parameter_kind.
  int32_t kind;
  int32_t bytes;
  const void *data;
} attn_rt_parameter;

/// A start of a kernel: grid[0] * grid[1] * grid[2] blocks of block[0] * block[1] * block[2] threads, each block with
/// shared_bytes of dynamic shared memory. parameters in the order of the kernel's own.
typedef struct attn_rt_launch_info {
  const char *kernel;
  int64_t grid[3];
  int64_t block[3];
  int64_t shared_bytes;
  int64_t parameter_count;
  const attn_rt_parameter *parameters;
} attn_rt_launch_info;

/// A device with a program loaded on it. Its functions may be called by several threads at once. Those with a message
/// return 0, or a code of attn_rt_code with the message filled, zero-terminated. What they start runs in the order of
/// the calls: a launch sees what earlier launches and copies wrote.
struct attn_rt_device {
  /// Handed to the functions.
  void *user;
  /// Starts a kernel, and may return before it ends. Sizes of the grid are above 0.
  int32_t (*launch)(void *user, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]);
  /// Device memory of that many bytes, above 0, aligned to 256; NULL: out of memory.
  void *(*allocate)(void *user, int64_t bytes);
  /// Frees what allocate returned, as soon as all earlier launches are done with it.
  void (*release)(void *user, void *memory);
  /// Copies to the host, after all earlier launches; the bytes are there when it returns.
  int32_t (*read)(void *user, void *host, const void *device, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]);
  /// Copies to the device, before all later launches; the host's bytes are free when it returns.
  int32_t (*write)(void *user, void *device, const void *host, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]);
  /// Returns when all that was started is done. Errors of kernels that ran show here at the latest.
  int32_t (*wait)(void *user, char message[ATTN_RT_MESSAGE_BYTES]);
};

//===----------------------------------------------------------------------===//
// Called by generated code
//===----------------------------------------------------------------------===//

/// Starts a kernel on the call's device. A grid with a 0 starts nothing. Ends the call with the device's error, with
/// ATTN_RT_INVALID_ARGUMENT where a size is negative, or with ATTN_RT_DEVICE_FAILED where the call has no device.
void attn_rt_launch(const attn_rt_launch_info *info);

/// Copies from the call's device to the host or back, after all earlier launches and before all later ones. Ends the
/// call as attn_rt_launch does. 0 bytes copy nothing.
void attn_rt_device_read(void *host, const void *device, int64_t bytes);
void attn_rt_device_write(void *device, const void *host, int64_t bytes);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ATTN_DEVICE_H
