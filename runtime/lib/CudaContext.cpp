// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening GPUs, their memory, copies and timers.

#include "CudaContext.h"

#include <new>

using namespace attn::runtime;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static attn_rt_cuda &cudaOf(void *user) { return *static_cast<attn_rt_cuda *>(user); }

static DeviceAddress addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

static void *allocate(void *user, int64_t bytes) {
  attn_rt_cuda &cuda = cudaOf(user);
  ContextScope scope(cuda);
  DeviceAddress address = 0;
  int result = cuda.pool ? cuda.driver->allocateFromPool(&address, bytes, cuda.pool, cuda.stream)
                         : cuda.driver->allocate(&address, bytes);
  return result == kCudaSuccess ? reinterpret_cast<void *>(static_cast<uintptr_t>(address)) : nullptr;
}

/// What the pool gives back is in the order of the stream; cuMemFree itself waits for the GPU.
static void release(void *user, void *memory) {
  attn_rt_cuda &cuda = cudaOf(user);
  ContextScope scope(cuda);
  if (cuda.pool)
    cuda.driver->releaseInStream(addressOf(memory), cuda.stream);
  else
    cuda.driver->release(addressOf(memory));
}

/// Waits for the stream, if `result` is a success, and reports either's failure.
static int32_t finish(const attn_rt_cuda &cuda, int result, const char *what, char message[ATTN_RT_MESSAGE_BYTES]) {
  if (result == kCudaSuccess)
    result = cuda.driver->waitForStream(cuda.stream);
  return cuda.driver->check(result, what, message) ? ATTN_RT_OK : codeOf(result);
}

static int32_t read(void *user, void *host, const void *device, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]) {
  attn_rt_cuda &cuda = cudaOf(user);
  ContextScope scope(cuda);
  if (!scope.check(message))
    return ATTN_RT_DEVICE_FAILED;
  int result = cuda.driver->copyToHost(host, addressOf(device), bytes, cuda.stream);
  return finish(cuda, result, "copy from the GPU", message);
}

static int32_t write(void *user, void *device, const void *host, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]) {
  attn_rt_cuda &cuda = cudaOf(user);
  ContextScope scope(cuda);
  if (!scope.check(message))
    return ATTN_RT_DEVICE_FAILED;
  int result = cuda.driver->copyToDevice(addressOf(device), host, bytes, cuda.stream);
  return finish(cuda, result, "copy to the GPU", message);
}

static int32_t wait(void *user, char message[ATTN_RT_MESSAGE_BYTES]) {
  attn_rt_cuda &cuda = cudaOf(user);
  ContextScope scope(cuda);
  if (!scope.check(message))
    return ATTN_RT_DEVICE_FAILED;
  return finish(cuda, kCudaSuccess, "finish the kernels on the GPU", message);
}

static int32_t launchNothing(void *, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]) {
  setMessage(message, "no program is loaded that has the kernel %s", info->kernel);
  return ATTN_RT_DEVICE_FAILED;
}

attn_rt_device attn::runtime::makeMemoryDevice(attn_rt_cuda *cuda) {
  return {cuda, launchNothing, allocate, release, read, write, wait};
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

int32_t attn_rt_cuda_count(int32_t *count, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver *driver = loadCudaDriver(message);
  if (!driver || !driver->check(driver->deviceCount(count), "count the GPUs", message))
    return ATTN_RT_DEVICE_FAILED;
  return ATTN_RT_OK;
}

/// Finds the device and what it is.
static bool describeDevice(attn_rt_cuda &cuda, int32_t ordinal, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *cuda.driver;
  attn_rt_cuda_info &info = cuda.info;
  int shared = 0;
  size_t memory = 0;
  auto check = [&](int result) { return driver.check(result, "ask what the GPU is", message); };
  bool isKnown = check(driver.device(&cuda.device, ordinal)) &&
                 check(driver.deviceName(info.name, sizeof(info.name), cuda.device)) &&
                 check(driver.deviceAttribute(&info.major, kAttributeMajor, cuda.device)) &&
                 check(driver.deviceAttribute(&info.minor, kAttributeMinor, cuda.device)) &&
                 check(driver.deviceAttribute(&info.multiprocessors, kAttributeMultiprocessors, cuda.device)) &&
                 check(driver.deviceAttribute(&shared, kAttributeSharedBytes, cuda.device)) &&
                 check(driver.deviceMemory(&memory, cuda.device)) && check(driver.driverVersion(&info.driver_version));
  info.shared_bytes = shared;
  info.memory_bytes = static_cast<int64_t>(memory);
  return isKnown;
}

/// A pool that keeps what was freed. Without one buffers cost a wait each, but work.
static void createPool(attn_rt_cuda &cuda) {
  const CudaDriver &driver = *cuda.driver;
  int hasPools = 0;
  if (!driver.createPool || !driver.destroyPool || !driver.setPoolAttribute || !driver.allocateFromPool ||
      !driver.releaseInStream ||
      driver.deviceAttribute(&hasPools, kAttributeMemoryPools, cuda.device) != kCudaSuccess || !hasPools)
    return;
  MemoryPoolProperties properties = {};
  properties.allocationType = kPoolPinned;
  properties.locationType = kPoolOnDevice;
  properties.locationId = cuda.device;
  if (driver.createPool(&cuda.pool, &properties) != kCudaSuccess) {
    cuda.pool = nullptr;
    return;
  }
  uint64_t everything = UINT64_MAX;
  driver.setPoolAttribute(cuda.pool, kPoolReleaseThreshold, &everything);
}

/// Fills in everything; what there is when it fails is for attn_rt_cuda_close.
static bool openDevice(attn_rt_cuda &cuda, int32_t ordinal, void *stream, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *cuda.driver;
  if (!describeDevice(cuda, ordinal, message) ||
      !driver.check(driver.retainContext(&cuda.context, cuda.device), "make a context on the GPU", message))
    return false;
  ContextScope scope(cuda);
  if (!scope.check(message))
    return false;
  cuda.stream = stream;
  if (!stream) {
    if (!driver.check(driver.createStream(&cuda.stream, kStreamNonBlocking), "make a stream on the GPU", message))
      return false;
    cuda.ownsStream = true;
  }
  createPool(cuda);
  cuda.memory = makeMemoryDevice(&cuda);
  return true;
}

int32_t attn_rt_cuda_open(int32_t ordinal, void *stream, attn_rt_cuda **cuda, char message[ATTN_RT_MESSAGE_BYTES]) {
  *cuda = nullptr;
  int32_t count = 0;
  if (int32_t code = attn_rt_cuda_count(&count, message))
    return code;
  if (ordinal < 0 || ordinal >= count) {
    setMessage(message, "a GPU's ordinal expects 0 to %d, but got %d", count - 1, ordinal);
    if (count == 0)
      setMessage(message, "the CUDA driver finds no GPU");
    return count == 0 ? ATTN_RT_DEVICE_FAILED : ATTN_RT_INVALID_ARGUMENT;
  }
  auto *opened = new (std::nothrow) attn_rt_cuda;
  if (!opened) {
    setMessage(message, "no memory to open a GPU");
    return ATTN_RT_OUT_OF_MEMORY;
  }
  opened->driver = loadCudaDriver(message);
  if (!openDevice(*opened, ordinal, stream, message)) {
    attn_rt_cuda_close(opened);
    return ATTN_RT_DEVICE_FAILED;
  }
  *cuda = opened;
  return ATTN_RT_OK;
}

void attn_rt_cuda_close(attn_rt_cuda *cuda) {
  if (!cuda)
    return;
  const CudaDriver &driver = *cuda->driver;
  if (cuda->context) {
    {
      ContextScope scope(*cuda);
      if (cuda->stream)
        driver.waitForStream(cuda->stream);
      for (void *event : cuda->events)
        if (event)
          driver.destroyEvent(event);
      if (cuda->pool)
        driver.destroyPool(cuda->pool);
      if (cuda->ownsStream)
        driver.destroyStream(cuda->stream);
    }
    driver.releaseContext(cuda->device);
  }
  delete cuda;
}

void attn_rt_cuda_describe(const attn_rt_cuda *cuda, attn_rt_cuda_info *info) { *info = cuda->info; }

void *attn_rt_cuda_stream(const attn_rt_cuda *cuda) { return cuda->stream; }

const attn_rt_device *attn_rt_cuda_memory(const attn_rt_cuda *cuda) { return &cuda->memory; }

int32_t attn_rt_cuda_knows(const attn_rt_cuda *cuda, const void *memory) {
  ContextScope scope(*cuda);
  unsigned type = 0;
  return cuda->driver->pointerAttribute(&type, kPointerMemoryType, addressOf(memory)) == kCudaSuccess;
}

//===----------------------------------------------------------------------===//
// Timers
//===----------------------------------------------------------------------===//

/// Records one of the two events, made at its first use.
static bool recordEvent(attn_rt_cuda &cuda, int number, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *cuda.driver;
  void *&event = cuda.events[number];
  if (!event && !driver.check(driver.createEvent(&event, 0), "make an event on the GPU", message))
    return false;
  return driver.check(driver.recordEvent(event, cuda.stream), "record an event on the GPU", message);
}

int32_t attn_rt_cuda_start_timer(attn_rt_cuda *cuda, char message[ATTN_RT_MESSAGE_BYTES]) {
  ContextScope scope(*cuda);
  cuda->isTimed = scope.check(message) && recordEvent(*cuda, 0, message);
  return cuda->isTimed ? ATTN_RT_OK : ATTN_RT_DEVICE_FAILED;
}

int32_t attn_rt_cuda_stop_timer(attn_rt_cuda *cuda, double *seconds, char message[ATTN_RT_MESSAGE_BYTES]) {
  const CudaDriver &driver = *cuda->driver;
  ContextScope scope(*cuda);
  float milliseconds = 0;
  if (!cuda->isTimed) {
    setMessage(message, "the timer expects to be started before it is stopped");
    return ATTN_RT_INVALID_ARGUMENT;
  }
  cuda->isTimed = false;
  if (!scope.check(message) || !recordEvent(*cuda, 1, message) ||
      !driver.check(driver.waitForEvent(cuda->events[1]), "finish the kernels on the GPU", message) ||
      !driver.check(driver.elapsedTime(&milliseconds, cuda->events[0], cuda->events[1]), "read the GPU's clock",
                    message))
    return ATTN_RT_DEVICE_FAILED;
  *seconds = 1e-3 * static_cast<double>(milliseconds);
  return ATTN_RT_OK;
}
