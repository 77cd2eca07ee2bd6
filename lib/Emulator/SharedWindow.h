//===- SharedWindow.h - the shared memory of a block ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_SHAREDWINDOW_H
#define ATTN_LIB_EMULATOR_SHAREDWINDOW_H

#include "llvm/Support/Error.h"
#include <cstdint>

namespace attn::emulator {

/// 256 KiB of memory for one block at a time. Its address is below 4 GiB and a multiple of 256 KiB, so that a shared
/// pointer survives a conversion to i32 and back, and its low 18 bits, which matrix descriptors hold, are its offset.
/// Nothing is mapped next to it: a wild access faults rather than reads another block's memory.
class SharedWindow {
public:
  static constexpr uint64_t kBytes = uint64_t(1) << 18;
  /// What a block can have: 227 KiB.
  static constexpr int64_t kUsableBytes = 227 * 1024;

  SharedWindow() = default;
  SharedWindow(SharedWindow &&other) noexcept : address(other.address) { other.address = nullptr; }
  SharedWindow &operator=(SharedWindow &&) = delete;
  ~SharedWindow();

  /// Error: no place below 4 GiB is free.
  static llvm::Expected<SharedWindow> create();

  char *base() const { return address; }

private:
  char *address = nullptr;
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_SHAREDWINDOW_H
