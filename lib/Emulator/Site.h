//===- Site.h - operations of a kernel, for messages ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_SITE_H
#define ATTN_LIB_EMULATOR_SITE_H

#include <cstdint>
#include <string>

namespace attn::emulator {

/// One operation in the kernel's IR.
struct Site {
  /// Place in the program's list; what the shadow memory keeps.
  uint32_t index;
  /// The intrinsic's or function's name, or "load", "store".
  std::string name;
  /// How many of that name come before it in the module.
  uint32_t ordinal;
  /// "file:line" where the IR has debug locations, else empty.
  std::string location;

  /// As in "llvm.nvvm.bar.warp.sync #0 (kernel.mlir:12)".
  std::string str() const {
    return name + " #" + std::to_string(ordinal) + (location.empty() ? "" : " (" + location + ")");
  }
};

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_SITE_H
