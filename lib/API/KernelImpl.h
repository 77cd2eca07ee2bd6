//===- KernelImpl.h - what a Kernel holds -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_API_KERNELIMPL_H
#define ATTN_LIB_API_KERNELIMPL_H

#include "DeviceImpl.h"
#include "attn/API/Kernel.h"

namespace attn {

class Kernel::Impl {
public:
  FunctionSignature signature;
  /// Takes an array of pointers to memref descriptors and scalars; runs inside attn_rt_call only.
  void (*entry)(void **arguments) = nullptr;
  /// Owns the code that entry is in.
  std::shared_ptr<void> code;
  /// Where it runs, and its kernels there; none for CPUs.
  std::optional<Device> device;
  std::unique_ptr<DeviceProgram> program;
  std::vector<StageTime> stages;
  /// Lines of describe() on the CPU and the tiles.
  std::string machine;
};

} // namespace attn

#endif // ATTN_LIB_API_KERNELIMPL_H
