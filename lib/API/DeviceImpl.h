//===- DeviceImpl.h - what a Device holds -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_DEVICEIMPL_H
#define ATTN_LIB_API_DEVICEIMPL_H

#include "attn/API/Device.h"
#include "attn/Devices/ComputeDevice.h"

namespace attn {

class Device::Impl {
public:
  explicit Impl(std::shared_ptr<ComputeDevice> device) : device(std::move(device)) {}

  std::shared_ptr<ComputeDevice> device;
};

/// What the name of a target says of a GPU; nothing for a CPU's.
Result<std::optional<DeviceName>> findDeviceName(const Target &target);

/// Opens what the name says.
Result<Device> openDevice(const DeviceName &name, const Target &target);

/// The error of a function of attn_rt_device.
Error deviceError(int32_t code, const char *message);

} // namespace attn

#endif // ATTN_LIB_API_DEVICEIMPL_H
