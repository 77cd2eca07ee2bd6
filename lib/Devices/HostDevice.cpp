//===- HostDevice.cpp - a device whose memory is the host's -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostDevice.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attn;

static int32_t refuseLaunch(void *, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]) {
  std::snprintf(message, ATTN_RT_MESSAGE_BYTES, "the host runs no kernels of a GPU, but was asked for %s",
                info->kernel);
  return ATTN_RT_DEVICE_FAILED;
}

/// Sizes of aligned_alloc are multiples of the alignment.
static void *allocate(void *, int64_t bytes) {
  return bytes > INT64_MAX - 255 ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}

static void release(void *, void *memory) { std::free(memory); }

static int32_t copy(void *target, const void *source, int64_t bytes) {
  std::memcpy(target, source, bytes);
  return ATTN_RT_OK;
}

static int32_t read(void *, void *host, const void *device, int64_t bytes, char *) { return copy(host, device, bytes); }

static int32_t write(void *, void *device, const void *host, int64_t bytes, char *) {
  return copy(device, host, bytes);
}

static int32_t wait(void *, char *) { return ATTN_RT_OK; }

attn_rt_device attn::makeHostDevice(void *user) { return {user, refuseLaunch, allocate, release, read, write, wait}; }

llvm::Expected<std::unique_ptr<DeviceProgram>> HostDevice::load(std::unique_ptr<llvm::LLVMContext>,
                                                                std::unique_ptr<llvm::Module>) {
  return llvm::createStringError("the host runs no kernels of a GPU");
}

std::shared_ptr<ComputeDevice> attn::openHost() { return std::make_shared<HostDevice>(); }
