//===- Frames.h - where a process was -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_LIB_FUZZ_FRAMES_H
#define ATTN_TEST_LIB_FUZZ_FRAMES_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace attn::fuzz {

/// Where a process was, read from its return addresses.
struct Place {
  /// See Failure::isOurs.
  bool isOurs = false;
  /// "innermost < its caller < ...", three of them, outside of the C and C++ libraries.
  std::string functions;
};

/// frames: what backtrace() found in a handler of this process or one forked from it, innermost first.
Place findPlace(llvm::ArrayRef<void *> frames);

} // namespace attn::fuzz

#endif // ATTN_TEST_LIB_FUZZ_FRAMES_H
