//===- Device.cpp - devices and their memory ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceImpl.h"

using namespace attn;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Result<std::optional<DeviceName>> attn::findDeviceName(const Target &target) {
  auto name = parseDeviceName(target.name());
  if (!name)
    return Error{ErrorCode::TargetUnavailable, llvm::toString(name.takeError()), {}};
  return *name;
}

Result<Device> attn::openDevice(const DeviceName &name, const Target &target) {
  auto device = openDevice(name);
  if (!device)
    return Error{ErrorCode::TargetUnavailable, target.name() + ": " + llvm::toString(device.takeError()), {}};
  return Device(std::make_shared<Device::Impl>(std::move(*device)));
}

Error attn::deviceError(int32_t code, const char *message) {
  return {code == ATTN_RT_OUT_OF_MEMORY ? ErrorCode::OutOfMemory : ErrorCode::DeviceFailed, message, {}};
}

Result<Device> Device::open(const Target &target) {
  auto name = findDeviceName(target);
  if (!name)
    return name.error();
  if (*name)
    return openDevice(**name, target);
  return Device(std::make_shared<Impl>(openHost()));
}

std::string Device::describe() const { return impl->device->describe(); }

bool Device::usesHostMemory() const { return impl->device->usesHostMemory(); }

Status Device::wait() const {
  const attn_rt_device *device = impl->device->memory();
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  if (int32_t code = device->wait(device->user, message))
    return deviceError(code, message);
  return {};
}

Result<double> Device::time(const std::function<Status()> &work) const {
  if (llvm::Error error = impl->device->startTimer())
    return Error{ErrorCode::DeviceFailed, llvm::toString(std::move(error)), {}};
  Status status = work();
  auto seconds = impl->device->stopTimer();
  if (!status) {
    llvm::consumeError(seconds.takeError());
    return status.error();
  }
  if (!seconds)
    return Error{ErrorCode::DeviceFailed, llvm::toString(seconds.takeError()), {}};
  return *seconds;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Result<DeviceBuffer> DeviceBuffer::create(const Device &device, int64_t bytes) {
  if (bytes < 0)
    return Error{ErrorCode::InvalidArgument, "a buffer expects at least 0 bytes, but got " + std::to_string(bytes), {}};
  if (bytes == 0)
    return DeviceBuffer(device, nullptr, 0);
  const attn_rt_device *memory = device.implementation()->device->memory();
  void *data = memory->allocate(memory->user, bytes);
  if (!data) {
    // A device on which a kernel failed has no memory, either: the kernel is the reason to tell.
    if (Status status = device.wait(); !status)
      return status.error();
    return Error{ErrorCode::OutOfMemory,
                 "no memory for a buffer of " + std::to_string(bytes) + " bytes on " + device.describe(),
                 {}};
  }
  std::shared_ptr<void> owned(data, [device](void *ended) {
    const attn_rt_device *memory = device.implementation()->device->memory();
    memory->release(memory->user, ended);
  });
  return DeviceBuffer(device, std::move(owned), bytes);
}

Status DeviceBuffer::checkRange(const char *what, int64_t count, int64_t offset) const {
  if (count >= 0 && offset >= 0 && offset <= size && count <= size - offset)
    return {};
  return Error{ErrorCode::InvalidArgument,
               std::string(what) + " expects bytes inside of the buffer's " + std::to_string(size) + ", but got " +
                   std::to_string(count) + " at offset " + std::to_string(offset),
               {}};
}

Status DeviceBuffer::upload(const void *source, int64_t count, int64_t offset) const {
  if (Status status = checkRange("an upload", count, offset); !status || count == 0)
    return status;
  const attn_rt_device *rt = device.implementation()->device->memory();
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  if (int32_t code = rt->write(rt->user, static_cast<char *>(data()) + offset, source, count, message))
    return deviceError(code, message);
  return {};
}

Status DeviceBuffer::download(void *target, int64_t count, int64_t offset) const {
  if (Status status = checkRange("a download", count, offset); !status || count == 0)
    return status;
  const attn_rt_device *rt = device.implementation()->device->memory();
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  if (int32_t code = rt->read(rt->user, target, static_cast<char *>(data()) + offset, count, message))
    return deviceError(code, message);
  return {};
}
