// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU that is open: what attn_rt_cuda and the programs on it share.

#ifndef ATTN_RUNTIME_LIB_CUDACONTEXT_H
#define ATTN_RUNTIME_LIB_CUDACONTEXT_H

#include "CudaDriver.h"
#include "attn/Cuda.h"

struct attn_rt_cuda {
  const attn::runtime::CudaDriver *driver = nullptr;
  int device = 0;
  attn_rt_cuda_info info = {};
  void *context = nullptr;
  void *stream = nullptr;
  bool ownsStream = false;
  /// Keeps freed memory for the next buffers; null where the driver has no such pools.
  void *pool = nullptr;
  /// Of the timer; null until it is used.
  void *events[2] = {nullptr, nullptr};
  bool isTimed = false;
  attn_rt_device memory = {};
};

namespace attn::runtime {

/// Makes the GPU's context the thread's current one for the length of a scope.
class ContextScope {
public:
  explicit ContextScope(const attn_rt_cuda &cuda) : cuda(cuda) { result = cuda.driver->pushContext(cuda.context); }
  ~ContextScope() {
    void *popped;
    if (result == kCudaSuccess)
      cuda.driver->popContext(&popped);
  }
  ContextScope(const ContextScope &) = delete;

  /// Whether the context is current; otherwise the message is filled.
  bool check(char message[ATTN_RT_MESSAGE_BYTES]) const {
    return cuda.driver->check(result, "use the GPU's context", message);
  }

private:
  const attn_rt_cuda &cuda;
  int result;
};

/// The functions of attn_rt_device other than launch, for that GPU. `user` is the attn_rt_cuda.
attn_rt_device makeMemoryDevice(attn_rt_cuda *cuda);

/// The code that a failure of the driver becomes.
inline int32_t codeOf(int result) { return result == kCudaOutOfMemory ? ATTN_RT_OUT_OF_MEMORY : ATTN_RT_DEVICE_FAILED; }

/// The driver's form of a view. False with the message filled where the hardware cannot copy boxes of it.
bool encodeTensorMap(const CudaDriver &driver, const attn_rt_tensor_map &map, EncodedTensorMap &encoded,
                     char message[ATTN_RT_MESSAGE_BYTES]);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDACONTEXT_H
