//===- Device.h - targets, and memory on them ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attn::Result<attn::Kernel> kernel = module->compile("causal_mha", attn::Target::cuda());
//   attn::Device gpu = kernel->device();
//   attn::Result<attn::DeviceBuffer> q = attn::DeviceBuffer::create(gpu, elements * sizeof(attn::BFloat16));
//   q->upload(host.data(), q->bytes());
//   kernel->run({q->view<attn::BFloat16>({1, 8, 1024, 64}), ...}, {out->view<attn::BFloat16>({1, 8, 1024, 64})});
//   out->download(host.data(), out->bytes());
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_API_DEVICE_H
#define ATTN_API_DEVICE_H

#include "attn/API/Result.h"
#include "attn/API/Tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace attn {

/// What code is made for, as a name: a CPU, or a GPU. An unknown name is an error of whatever compiles for it.
class Target {
public:
  /// This machine, with everything that its CPU offers.
  static Target host() { return Target("host"); }
  /// A CPU of this machine's architecture by LLVM's name: "x86-64-v3", "znver4", ...
  static Target cpu(std::string name) { return Target(std::move(name)); }
  /// An NVIDIA GPU of this machine, by the CUDA driver's number.
  static Target cuda(int ordinal = 0) { return Target("cuda:" + std::to_string(ordinal)); }
  /// An NVIDIA chip ("sm_80", "sm_90a") to compile for, with Module::emit: nothing runs.
  static Target gpu(std::string chip) { return Target(std::move(chip)); }
  /// Kernels for that chip, run on this CPU: slowly, with checks of what they do to shared memory. Tensors lie in the
  /// host's memory. Options behind the chip: ":eager" does asynchronous copies at once and not as late as may be,
  /// ":fifo", ":lifo" and ":random=SEED" order the threads, ":unchecked" leaves the checks out.
  static Target emulator(std::string chip = "sm_80") { return Target("emulator:" + std::move(chip)); }
  /// By any of these names: "host", "znver4", "cuda", "cuda:1", "sm_90a", "emulator:sm_80:lifo".
  static Target named(std::string name) { return Target(std::move(name)); }

  const std::string &name() const { return text; }

private:
  explicit Target(std::string text) : text(std::move(text)) {}
  std::string text;
};

/// Where kernels run and their tensors lie. A value: copies are the same device. Work that is started on it runs in
/// order, whoever starts it.
class Device {
public:
  /// The device of a target: the GPU of cuda, and the host for CPUs and the emulator. TargetUnavailable where there is
  /// no such GPU or no driver.
  static Result<Device> open(const Target &target);

  /// A line for people: "GPU NVIDIA H200, compute capability 9.0, 132 multiprocessors".
  std::string describe() const;

  /// Whether kernels on it take tensors in the host's memory: true for CPUs and the emulator.
  bool usesHostMemory() const;

  /// Returns when all that was started is done. DeviceFailed if a kernel failed; a GPU is of no use to this process
  /// after that.
  Status wait() const;

  /// The seconds, on the device's own clock, from the begin to the end of what work starts (with RunOptions::wait off,
  /// else the host's waiting counts). An error of work's is returned. One measurement at a time.
  Result<double> time(const std::function<Status()> &work) const;

  class Impl;
  /// Internal.
  explicit Device(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  const std::shared_ptr<Impl> &implementation() const { return impl; }

private:
  std::shared_ptr<Impl> impl;
};

/// Memory of a device, aligned to 256 bytes. A value: copies are the same memory, which is freed with the last of them,
/// once what was started before has run.
class DeviceBuffer {
public:
  /// bytes: at least 0. The memory is not initialised.
  static Result<DeviceBuffer> create(const Device &device, int64_t bytes);

  /// For views; on a GPU the host must not read or write it. Null for 0 bytes.
  void *data() const { return memory.get(); }
  int64_t bytes() const { return size; }

  /// Copies from the host or to it: `count` bytes, at `offset` of the buffer. After all that was started before, and
  /// done when it returns.
  Status upload(const void *source, int64_t count, int64_t offset = 0) const;
  Status download(void *target, int64_t count, int64_t offset = 0) const;

  /// The buffer's start as a tensor of T; that it fits is checked when a kernel runs.
  template <typename T> MutableTensorView view(std::vector<int64_t> sizes) const {
    std::vector<int64_t> strides = rowMajorStrides(sizes);
    return view<T>(std::move(sizes), std::move(strides));
  }
  /// The same with strides in elements.
  template <typename T> MutableTensorView view(std::vector<int64_t> sizes, std::vector<int64_t> strides) const {
    MutableTensorView result = attn::view(static_cast<T *>(data()), std::move(sizes), std::move(strides));
    result.capacity = size / static_cast<int64_t>(sizeof(T));
    return result;
  }

private:
  DeviceBuffer(Device device, std::shared_ptr<void> memory, int64_t size)
      : device(std::move(device)), memory(std::move(memory)), size(size) {}
  Status checkRange(const char *what, int64_t count, int64_t offset) const;

  Device device;
  std::shared_ptr<void> memory;
  int64_t size = 0;
};

} // namespace attn

#endif // ATTN_API_DEVICE_H
