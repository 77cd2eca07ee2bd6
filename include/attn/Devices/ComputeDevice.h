//===- ComputeDevice.h - where the kernels of a GPU run -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DEVICES_COMPUTEDEVICE_H
#define ATTN_DEVICES_COMPUTEDEVICE_H

#include "attn/Device.h"
#include "attn/Emulator/Emulator.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace attn {

/// What the name of a target says of a GPU.
struct DeviceName {
  enum class Kind { Cuda, Emulator, Chip };
  Kind kind = Kind::Chip;
  /// Of a GPU that the CUDA driver sees.
  int32_t ordinal = 0;
  /// "sm_80", "sm_90a"; empty for Cuda, where the GPU tells.
  std::string chip;
  emulator::Options emulation;
};

/// Reads the name of a target; nothing for one that is no GPU's, and an error for one that is but is wrong.
///
/// | name | is |
/// |---|---|
/// | cuda, cuda:1 | a GPU of this machine, by its ordinal |
/// | emulator, emulator:sm_90a | kernels for that chip (sm_80 without one), run on this CPU |
/// | emulator:sm_80:eager:lifo | ... with emulator::Options: eager copies, threads in the order fifo, lifo or
/// random=SEED, | | | unchecked: no checks of shared memory | | sm_80 | a chip to compile for; nothing runs |
llvm::Expected<std::optional<DeviceName>> parseDeviceName(llvm::StringRef name);

/// Kernels that are loaded on a device.
class DeviceProgram {
public:
  virtual ~DeviceProgram() = default;
  /// For attn_rt_call_options. Lives as long as this.
  virtual const attn_rt_device *device() const = 0;
};

/// A GPU, or what stands for one. Thread-safe.
class ComputeDevice {
public:
  virtual ~ComputeDevice() = default;

  /// What to compile for.
  virtual llvm::StringRef chip() const = 0;
  /// A line for people, without its end.
  virtual std::string describe() const = 0;
  /// Memory and copies.
  virtual const attn_rt_device *memory() const = 0;
  /// Whether its memory is the host's.
  virtual bool usesHostMemory() const = 0;
  /// Loads the kernels of takeKernels. The device must outlive the program.
  virtual llvm::Expected<std::unique_ptr<DeviceProgram>> load(std::unique_ptr<llvm::LLVMContext> context,
                                                              std::unique_ptr<llvm::Module> kernels) = 0;
  /// False for memory that kernels surely cannot use.
  virtual bool canUse(const void *memory) const = 0;
  /// Seconds on the device's clock: of what was started between the two, to its end. One measurement at a time.
  virtual llvm::Error startTimer() = 0;
  virtual llvm::Expected<double> stopTimer() = 0;
};

/// Opens the device of a name of kind Cuda or Emulator. A GPU is opened once a process: whoever asks gets the same.
llvm::Expected<std::shared_ptr<ComputeDevice>> openDevice(const DeviceName &name);

/// The host as a device: its memory. It loads no kernels.
std::shared_ptr<ComputeDevice> openHost();

} // namespace attn

#endif // ATTN_DEVICES_COMPUTEDEVICE_H
