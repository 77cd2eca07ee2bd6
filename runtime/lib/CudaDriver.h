// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of the CUDA driver that the runtime calls, found by dlsym. The
// types are those of cuda.h, which need not be there: handles are pointers,
// enumerations are ints.

#ifndef ATTN_RUNTIME_LIB_CUDADRIVER_H
#define ATTN_RUNTIME_LIB_CUDADRIVER_H

#include "attn/Runtime.h"

#include <cstddef>
#include <cstdint>

namespace attn::runtime {

/// CUdeviceptr.
using DeviceAddress = unsigned long long;

/// CUtensorMap.
struct alignas(64) EncodedTensorMap {
  uint64_t words[16];
};

/// CUmemPoolProps.
struct MemoryPoolProperties {
  int allocationType;
  int handleTypes;
  int locationType;
  int locationId;
  void *windowsSecurity;
  size_t maxBytes;
  unsigned short usage;
  unsigned char reserved[54];
};

/// Values of cuda.h's enumerations.
enum CudaValue : int {
  kCudaSuccess = 0,
  kCudaOutOfMemory = 2,
  kCudaNotFound = 500,
  kAttributeMultiprocessors = 16,
  kAttributeMajor = 75,
  kAttributeMinor = 76,
  kAttributeSharedBytes = 97,
  kAttributeMemoryPools = 115,
  kFunctionDynamicSharedBytes = 8,
  kPointerMemoryType = 2,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
  kStreamNonBlocking = 1,
  kPoolPinned = 1,
  kPoolOnDevice = 1,
  kPoolReleaseThreshold = 4,
};

/// FUNCTION(member, symbol, parameters): `symbol` is the exported name, with the version that has these parameters.
#define ATTN_CUDA_FUNCTIONS(FUNCTION)                                                                                  \
  FUNCTION(init, cuInit, (unsigned))                                                                                   \
  FUNCTION(driverVersion, cuDriverGetVersion, (int *))                                                                 \
  FUNCTION(errorName, cuGetErrorName, (int, const char **))                                                            \
  FUNCTION(errorString, cuGetErrorString, (int, const char **))                                                        \
  FUNCTION(deviceCount, cuDeviceGetCount, (int *))                                                                     \
  FUNCTION(device, cuDeviceGet, (int *, int))                                                                          \
  FUNCTION(deviceName, cuDeviceGetName, (char *, int, int))                                                            \
  FUNCTION(deviceAttribute, cuDeviceGetAttribute, (int *, int, int))                                                   \
  FUNCTION(deviceMemory, cuDeviceTotalMem_v2, (size_t *, int))                                                         \
  FUNCTION(retainContext, cuDevicePrimaryCtxRetain, (void **, int))                                                    \
  FUNCTION(releaseContext, cuDevicePrimaryCtxRelease_v2, (int))                                                        \
  FUNCTION(pushContext, cuCtxPushCurrent_v2, (void *))                                                                 \
  FUNCTION(popContext, cuCtxPopCurrent_v2, (void **))                                                                  \
  FUNCTION(createStream, cuStreamCreate, (void **, unsigned))                                                          \
  FUNCTION(destroyStream, cuStreamDestroy_v2, (void *))                                                                \
  FUNCTION(waitForStream, cuStreamSynchronize, (void *))                                                               \
  FUNCTION(loadModule, cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **))                          \
  FUNCTION(unloadModule, cuModuleUnload, (void *))                                                                     \
  FUNCTION(findFunction, cuModuleGetFunction, (void **, void *, const char *))                                         \
  FUNCTION(setFunctionAttribute, cuFuncSetAttribute, (void *, int, int))                                               \
  FUNCTION(launchKernel, cuLaunchKernel,                                                                               \
           (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))   \
  FUNCTION(allocate, cuMemAlloc_v2, (DeviceAddress *, size_t))                                                         \
  FUNCTION(release, cuMemFree_v2, (DeviceAddress))                                                                     \
  FUNCTION(copyToDevice, cuMemcpyHtoDAsync_v2, (DeviceAddress, const void *, size_t, void *))                          \
  FUNCTION(copyToHost, cuMemcpyDtoHAsync_v2, (void *, DeviceAddress, size_t, void *))                                  \
  FUNCTION(pointerAttribute, cuPointerGetAttribute, (void *, int, DeviceAddress))                                      \
  FUNCTION(createEvent, cuEventCreate, (void **, unsigned))                                                            \
  FUNCTION(recordEvent, cuEventRecord, (void *, void *))                                                               \
  FUNCTION(waitForEvent, cuEventSynchronize, (void *))                                                                 \
  FUNCTION(elapsedTime, cuEventElapsedTime, (float *, void *, void *))                                                 \
  FUNCTION(destroyEvent, cuEventDestroy_v2, (void *))

/// Those that older drivers have not: null there.
#define ATTN_CUDA_OPTIONAL_FUNCTIONS(FUNCTION)                                                                         \
  FUNCTION(createPool, cuMemPoolCreate, (void **, const MemoryPoolProperties *))                                       \
  FUNCTION(destroyPool, cuMemPoolDestroy, (void *))                                                                    \
  FUNCTION(setPoolAttribute, cuMemPoolSetAttribute, (void *, int, void *))                                             \
  FUNCTION(allocateFromPool, cuMemAllocFromPoolAsync, (DeviceAddress *, size_t, void *, void *))                       \
  FUNCTION(releaseInStream, cuMemFreeAsync, (DeviceAddress, void *))                                                   \
  FUNCTION(encodeTensorMap, cuTensorMapEncodeTiled,                                                                    \
           (EncodedTensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,           \
            const uint32_t *, int, int, int, int))

struct CudaDriver {
#define ATTN_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  ATTN_CUDA_FUNCTIONS(ATTN_MEMBER)
  ATTN_CUDA_OPTIONAL_FUNCTIONS(ATTN_MEMBER)
#undef ATTN_MEMBER

  /// True for success; otherwise formats "cannot <what>: <name> (<number>): <text>" into the message.
  bool check(int result, const char *what, char message[ATTN_RT_MESSAGE_BYTES]) const;
};

/// The driver, loaded and initialised once a process; null, with the message filled, where that fails. A failure is
/// tried again at the next call. The environment variable ATTN_CUDA_DRIVER names another library than libcuda.so.1.
const CudaDriver *loadCudaDriver(char message[ATTN_RT_MESSAGE_BYTES]);

/// snprintf into a message.
void setMessage(char message[ATTN_RT_MESSAGE_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDADRIVER_H
