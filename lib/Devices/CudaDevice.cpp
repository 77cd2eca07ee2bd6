//===- CudaDevice.cpp - kernels on a GPU --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Devices.h"
#include "attn/CodeGen/DeviceCode.h"
#include "attn/Cuda.h"
#include <map>
#include <mutex>

using namespace attn;

namespace {

struct CloseCuda {
  void operator()(attn_rt_cuda *cuda) const { attn_rt_cuda_close(cuda); }
};

struct UnloadProgram {
  void operator()(attn_rt_cuda_program *program) const { attn_rt_cuda_unload(program); }
};

class CudaProgram : public DeviceProgram {
public:
  explicit CudaProgram(attn_rt_cuda_program *program) : program(program) {}

  const attn_rt_device *device() const override { return attn_rt_cuda_device(program.get()); }

private:
  std::unique_ptr<attn_rt_cuda_program, UnloadProgram> program;
};

class CudaDevice : public ComputeDevice {
public:
  explicit CudaDevice(attn_rt_cuda *cuda) : cuda(cuda) { attn_rt_cuda_describe(cuda, &info); }

  /// Chips that there are kernels for: Hopper's own, or those of Ampere, which all later ones run.
  llvm::StringRef chip() const override { return info.major == 9 && info.minor == 0 ? "sm_90a" : "sm_80"; }
  std::string describe() const override {
    return "GPU " + std::string(info.name) + ", compute capability " + std::to_string(info.major) + "." +
           std::to_string(info.minor) + ", " + std::to_string(info.multiprocessors) + " multiprocessors";
  }
  const attn_rt_device *memory() const override { return attn_rt_cuda_memory(cuda.get()); }
  bool usesHostMemory() const override { return false; }
  llvm::Expected<std::unique_ptr<DeviceProgram>> load(std::unique_ptr<llvm::LLVMContext> context,
                                                      std::unique_ptr<llvm::Module> kernels) override;
  bool canUse(const void *memory) const override { return attn_rt_cuda_knows(cuda.get(), memory); }
  llvm::Error startTimer() override;
  llvm::Expected<double> stopTimer() override;
  const attn_rt_cuda_info &description() const { return info; }

private:
  std::unique_ptr<attn_rt_cuda, CloseCuda> cuda;
  attn_rt_cuda_info info = {};
};

} // namespace

llvm::Expected<std::unique_ptr<DeviceProgram>> CudaDevice::load(std::unique_ptr<llvm::LLVMContext> context,
                                                                std::unique_ptr<llvm::Module> kernels) {
  auto ptx = emitPtx(*kernels, chip());
  kernels.reset();
  if (!ptx)
    return ptx.takeError();
  char message[ATTN_RT_MESSAGE_BYTES];
  attn_rt_cuda_program *program = nullptr;
  if (attn_rt_cuda_load(cuda.get(), ptx->data(), static_cast<int64_t>(ptx->size()), &program, message))
    return llvm::createStringError(message);
  return std::make_unique<CudaProgram>(program);
}

llvm::Error CudaDevice::startTimer() {
  char message[ATTN_RT_MESSAGE_BYTES];
  if (attn_rt_cuda_start_timer(cuda.get(), message))
    return llvm::createStringError(message);
  return llvm::Error::success();
}

llvm::Expected<double> CudaDevice::stopTimer() {
  char message[ATTN_RT_MESSAGE_BYTES];
  double seconds = 0;
  if (attn_rt_cuda_stop_timer(cuda.get(), &seconds, message))
    return llvm::createStringError(message);
  return seconds;
}

llvm::Expected<std::shared_ptr<ComputeDevice>> attn::openCuda(int32_t ordinal) {
  // Kernels and buffers of all parts of a program share a stream, so that they need not wait for one another.
  static std::mutex mutex;
  static std::map<int32_t, std::weak_ptr<CudaDevice>> opened;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::shared_ptr<CudaDevice> device = opened[ordinal].lock())
    return device;
  char message[ATTN_RT_MESSAGE_BYTES];
  attn_rt_cuda *cuda = nullptr;
  if (attn_rt_cuda_open(ordinal, /*stream=*/nullptr, &cuda, message))
    return llvm::createStringError(message);
  auto device = std::make_shared<CudaDevice>(cuda);
  if (device->description().major < 8)
    return llvm::createStringError("kernels need a GPU of compute capability 8.0 or higher, but this is " +
                                   device->describe());
  opened[ordinal] = device;
  return device;
}
