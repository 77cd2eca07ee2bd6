// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What generated code asks of the call's device.

#include "Internal.h"

#include <cstdlib>

using namespace attn::runtime;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Kept on the host. Calls have few of them, so a list is enough.
struct attn::runtime::DeviceBuffer {
  DeviceBuffer *next;
  /// What the device returned, and what generated code got.
  void *base;
  void *aligned;
  int64_t bytes;
};

/// What devices promise of their memory.
static constexpr uint64_t deviceAlignment = 256;

/// A device on which a kernel failed has no memory, either: the kernel is the reason to tell.
static void failIfDeviceFailed(const attn_rt_device &device) {
  Error error;
  error.code = device.wait(device.user, error.message);
  if (error.code != ATTN_RT_OK)
    fail(error);
}

void *attn::runtime::allocateDeviceBuffer(Call &call, uint64_t alignment, uint64_t size) {
  alignment = checkBuffer(alignment, size);
  uint64_t padding = alignment > deviceAlignment ? alignment - deviceAlignment : 0;
  auto *buffer = static_cast<DeviceBuffer *>(std::malloc(sizeof(DeviceBuffer)));
  int64_t asked = static_cast<int64_t>((size > 0 ? size : 1) + padding);
  void *base = buffer ? call.device->allocate(call.device->user, asked) : nullptr;
  if (!base) {
    std::free(buffer);
    failIfDeviceFailed(*call.device);
    fail(ATTN_RT_OUT_OF_MEMORY, "no device memory for a buffer of {0} bytes aligned to {1}", static_cast<int64_t>(size),
         static_cast<int64_t>(alignment));
  }
  uintptr_t aligned = (reinterpret_cast<uintptr_t>(base) + alignment - 1) & ~uintptr_t(alignment - 1);
  std::lock_guard<std::mutex> guard(call.mutex);
  *buffer = {call.deviceBuffers, base, reinterpret_cast<void *>(aligned), static_cast<int64_t>(size)};
  call.deviceBuffers = buffer;
  call.countBuffer(buffer->bytes);
  return buffer->aligned;
}

/// Takes a buffer out of the call's list and counters; null if it is not there.
static DeviceBuffer *takeDeviceBuffer(Call &call, const void *aligned) {
  std::lock_guard<std::mutex> guard(call.mutex);
  for (DeviceBuffer **link = &call.deviceBuffers; *link; link = &(*link)->next) {
    DeviceBuffer *buffer = *link;
    if (buffer->aligned != aligned)
      continue;
    *link = buffer->next;
    call.uncountBuffer(buffer->bytes);
    return buffer;
  }
  return nullptr;
}

bool attn::runtime::freeDeviceBuffer(Call &call, void *pointer) {
  DeviceBuffer *buffer = takeDeviceBuffer(call, pointer);
  if (!buffer)
    return false;
  call.device->release(call.device->user, buffer->base);
  std::free(buffer);
  return true;
}

void attn::runtime::releaseDeviceBuffers(Call &call) {
  while (DeviceBuffer *buffer = call.deviceBuffers) {
    call.deviceBuffers = buffer->next;
    call.device->release(call.device->user, buffer->base);
    std::free(buffer);
  }
}

//===----------------------------------------------------------------------===//
// Launches and copies
//===----------------------------------------------------------------------===//

/// The call's device; fails if it has none. `what` has a {0} for `number`.
static const attn_rt_device &requireDevice(const char *what, int64_t number) {
  Call *call = currentThread().call;
  if (!call || !call->device)
    fail(ATTN_RT_DEVICE_FAILED, what, number, 0);
  return *call->device;
}

void attn_rt_launch(const attn_rt_launch_info *info) {
  const attn_rt_device &device =
      requireDevice("the code starts kernels of a GPU, but the call has no device (attn_rt_call_options::device)", 0);
  for (int64_t size : info->grid)
    if (size < 0)
      fail(ATTN_RT_INVALID_ARGUMENT, "a grid's sizes must be at least 0, but one is {0}", size, 0);
  if (info->grid[0] == 0 || info->grid[1] == 0 || info->grid[2] == 0)
    return;
  Error error;
  error.code = device.launch(device.user, info, error.message);
  if (error.code != ATTN_RT_OK)
    fail(error);
  currentThread().call->launches.fetch_add(1, std::memory_order_relaxed);
}

/// Fails unless `bytes` can be copied; false if there are none.
static bool checkCopy(int64_t bytes) {
  if (bytes < 0 || bytes > maxBytes)
    fail(ATTN_RT_INVALID_ARGUMENT, "a copy must have 0 to {1} bytes, but has {0}", bytes, maxBytes);
  return bytes > 0;
}

void attn_rt_device_read(void *host, const void *source, int64_t bytes) {
  const attn_rt_device &device = requireDevice("the code reads {0} bytes of a device, but the call has none", bytes);
  if (!checkCopy(bytes))
    return;
  Error error;
  error.code = device.read(device.user, host, source, bytes, error.message);
  if (error.code != ATTN_RT_OK)
    fail(error);
}

void attn_rt_device_write(void *target, const void *host, int64_t bytes) {
  const attn_rt_device &device = requireDevice("the code writes {0} bytes of a device, but the call has none", bytes);
  if (!checkCopy(bytes))
    return;
  Error error;
  error.code = device.write(device.user, target, host, bytes, error.message);
  if (error.code != ATTN_RT_OK)
    fail(error);
}
