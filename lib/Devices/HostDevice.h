//===- HostDevice.h - a device whose memory is the host's ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DEVICES_HOSTDEVICE_H
#define ATTN_LIB_DEVICES_HOSTDEVICE_H

#include "attn/Devices/ComputeDevice.h"
#include <chrono>

namespace attn {

/// attn_rt_device of the host's memory, whose launches fail. `user` is handed to launch, if another one is put in.
attn_rt_device makeHostDevice(void *user);

class HostDevice : public ComputeDevice {
public:
  llvm::StringRef chip() const override { return ""; }
  std::string describe() const override { return "the host's memory"; }
  const attn_rt_device *memory() const override { return &device; }
  bool usesHostMemory() const override { return true; }
  llvm::Expected<std::unique_ptr<DeviceProgram>> load(std::unique_ptr<llvm::LLVMContext> context,
                                                      std::unique_ptr<llvm::Module> kernels) override;
  bool canUse(const void *) const override { return true; }
  llvm::Error startTimer() override {
    start = std::chrono::steady_clock::now();
    return llvm::Error::success();
  }
  llvm::Expected<double> stopTimer() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  attn_rt_device device = makeHostDevice(nullptr);
  std::chrono::steady_clock::time_point start;
};

} // namespace attn

#endif // ATTN_LIB_DEVICES_HOSTDEVICE_H
