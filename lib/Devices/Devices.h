//===- Devices.h - the kinds of devices ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DEVICES_DEVICES_H
#define ATTN_LIB_DEVICES_DEVICES_H

#include "attn/Devices/ComputeDevice.h"

namespace attn {

/// A GPU by the CUDA driver.
llvm::Expected<std::shared_ptr<ComputeDevice>> openCuda(int32_t ordinal);

/// Kernels for `chip` on this CPU, which must be one that the emulator knows.
std::shared_ptr<ComputeDevice> openEmulator(const std::string &chip, const emulator::Options &options);

} // namespace attn

#endif // ATTN_LIB_DEVICES_DEVICES_H
