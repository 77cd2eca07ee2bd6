// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA GPUs as devices, by the CUDA driver: libcuda.so.1, loaded when the
// first function here is called. No CUDA Toolkit is needed. Functions with a
// message return 0, or a code of attn_rt_code with the message filled.

#ifndef ATTN_CUDA_H
#define ATTN_CUDA_H

#include "attn/Device.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// A GPU, with a stream in which all that is started on it runs in order.
typedef struct attn_rt_cuda attn_rt_cuda;

typedef struct attn_rt_cuda_info {
  char name[128];
  /// Compute capability: 9 and 0 for sm_90.
  int32_t major;
  int32_t minor;
  int32_t multiprocessors;
  /// As 1000 * major + 10 * minor of the CUDA version that the driver supports.
  int32_t driver_version;
  int64_t memory_bytes;
  /// The most shared memory that a block can have.
  int64_t shared_bytes;
} attn_rt_cuda_info;

/// The number of GPUs that the process sees. ATTN_RT_DEVICE_FAILED without a driver.
int32_t attn_rt_cuda_count(int32_t *count, char message[ATTN_RT_MESSAGE_BYTES]);

/// Opens a GPU by its ordinal, from 0. `stream` is a CUstream of the caller's, which must outlive the result, in the
/// GPU's primary context; NULL: a stream of its own. The caller owns *cuda.
int32_t attn_rt_cuda_open(int32_t ordinal, void *stream, attn_rt_cuda **cuda, char message[ATTN_RT_MESSAGE_BYTES]);

/// Waits for what was started and closes the GPU; its programs have been unloaded before. NULL is allowed.
void attn_rt_cuda_close(attn_rt_cuda *cuda);

void attn_rt_cuda_describe(const attn_rt_cuda *cuda, attn_rt_cuda_info *info);

/// The CUstream, for other libraries of CUDA.
void *attn_rt_cuda_stream(const attn_rt_cuda *cuda);

/// The GPU without a program: memory and copies. Lives as long as *cuda.
const attn_rt_device *attn_rt_cuda_memory(const attn_rt_cuda *cuda);

/// Whether the driver knows the memory, as it knows all that is the GPU's or shared with it.
int32_t attn_rt_cuda_knows(const attn_rt_cuda *cuda, const void *memory);

/// Marks the begin and, later, the end of what is measured: seconds of the GPU's clock between the two marks in the
/// stream. Waits for the second one. One measurement at a time.
int32_t attn_rt_cuda_start_timer(attn_rt_cuda *cuda, char message[ATTN_RT_MESSAGE_BYTES]);
int32_t attn_rt_cuda_stop_timer(attn_rt_cuda *cuda, double *seconds, char message[ATTN_RT_MESSAGE_BYTES]);

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Kernels, loaded on a GPU.
typedef struct attn_rt_cuda_program attn_rt_cuda_program;

/// Loads PTX, a cubin, or an image with several of them (below), of which the best one that the GPU runs is taken. The
/// bytes are free when it returns. The caller owns *program.
int32_t attn_rt_cuda_load(attn_rt_cuda *cuda, const void *code, int64_t bytes, attn_rt_cuda_program **program,
                          char message[ATTN_RT_MESSAGE_BYTES]);

/// Waits for what was started and unloads the program. NULL is allowed.
void attn_rt_cuda_unload(attn_rt_cuda_program *program);

/// The GPU with the program, for attn_rt_call_options. Lives as long as *program. A kernel is looked up by name once.
const attn_rt_device *attn_rt_cuda_device(const attn_rt_cuda_program *program);

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// An image is a header, `count` entries, and their code; numbers are little-endian.
#define ATTN_RT_IMAGE_MAGIC "ATTNGPU"
#define ATTN_RT_IMAGE_VERSION 1

enum attn_rt_code_kind {
  /// Text; a zero byte follows its `bytes`.
  ATTN_RT_CODE_PTX = 1,
  ATTN_RT_CODE_CUBIN = 2
};

typedef struct attn_rt_image_header {
  /// ATTN_RT_IMAGE_MAGIC with its zero byte.
  char magic[8];
  uint32_t version;
  uint32_t count;
} attn_rt_image_header;

/// Code for one chip: 90 and 'a' for sm_90a, 80 and 0 for sm_80.
typedef struct attn_rt_image_entry {
  /// One of attn_rt_code_kind.
  uint32_t kind;
  uint32_t chip;
  uint32_t suffix;
  uint32_t reserved;
  /// From the start of the image, a multiple of 16.
  uint64_t offset;
  uint64_t bytes;
} attn_rt_image_entry;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ATTN_CUDA_H
