//===- EmulatorDevice.cpp - kernels of a GPU on this CPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Devices.h"
#include "HostDevice.h"
#include <cstdio>

using namespace attn;

static emulator::Launch convert(const attn_rt_launch_info &info) {
  emulator::Launch launch;
  launch.kernel = info.kernel;
  for (int d = 0; d < 3; ++d) {
    launch.grid[d] = info.grid[d];
    launch.block[d] = info.block[d];
  }
  launch.sharedBytes = info.shared_bytes;
  for (int64_t n = 0; n < info.parameter_count; ++n) {
    const attn_rt_parameter &parameter = info.parameters[n];
    launch.parameters.push_back(
        {parameter.data, static_cast<size_t>(parameter.bytes), parameter.kind == ATTN_RT_PARAMETER_TENSOR_MAP});
  }
  return launch;
}

namespace {

/// program: null without kernels, as where all sizes are 0; then nothing is launched.
class EmulatorProgram : public DeviceProgram {
public:
  EmulatorProgram(std::unique_ptr<emulator::Program> program, const emulator::Options &options)
      : program(std::move(program)), options(options) {
    callbacks.launch = launch;
  }

  const attn_rt_device *device() const override { return &callbacks; }

private:
  static int32_t launch(void *user, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]) {
    auto &self = *static_cast<EmulatorProgram *>(user);
    llvm::Error error = self.program->launch(convert(*info), self.options);
    if (!error)
      return ATTN_RT_OK;
    std::snprintf(message, ATTN_RT_MESSAGE_BYTES, "%s", llvm::toString(std::move(error)).c_str());
    return ATTN_RT_DEVICE_FAILED;
  }

  std::unique_ptr<emulator::Program> program;
  emulator::Options options;
  attn_rt_device callbacks = makeHostDevice(this);
};

class EmulatorDevice : public HostDevice {
public:
  EmulatorDevice(const std::string &chip, const emulator::Options &options) : name(chip), options(options) {}

  llvm::StringRef chip() const override { return name; }
  std::string describe() const override { return "GPU " + name + ", emulated"; }
  llvm::Expected<std::unique_ptr<DeviceProgram>> load(std::unique_ptr<llvm::LLVMContext> context,
                                                      std::unique_ptr<llvm::Module> kernels) override {
    if (kernels->empty())
      return std::make_unique<EmulatorProgram>(nullptr, options);
    auto program = emulator::Program::create(std::move(kernels), std::move(context));
    if (!program)
      return program.takeError();
    return std::make_unique<EmulatorProgram>(std::move(*program), options);
  }

private:
  std::string name;
  emulator::Options options;
};

} // namespace

std::shared_ptr<ComputeDevice> attn::openEmulator(const std::string &chip, const emulator::Options &options) {
  return std::make_shared<EmulatorDevice>(chip, options);
}
