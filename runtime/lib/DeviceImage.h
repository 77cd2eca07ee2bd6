// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: code for several chips, of which a GPU takes the best it runs.

#ifndef ATTN_RUNTIME_LIB_DEVICEIMAGE_H
#define ATTN_RUNTIME_LIB_DEVICEIMAGE_H

#include "attn/Cuda.h"

namespace attn::runtime {

/// Code for one chip, in memory of the image's.
struct DeviceCode {
  uint32_t kind;
  /// 90 and 'a' for sm_90a; 0 and 0 where the code does not say.
  uint32_t chip;
  uint32_t suffix;
  const char *bytes;
  uint64_t size;

  /// Whether a GPU of that compute capability runs it. PTX of a plain chip runs on all later ones, a cubin on those of
  /// its generation; code with suffix a on that chip alone, with f within the generation.
  bool runsOn(int32_t major, int32_t minor) const;

  /// Whether it is to be taken rather than other: of the later chip, of that chip's own features, a cubin.
  bool isBetterThan(const DeviceCode &other) const;
};

constexpr uint32_t kMaxCodes = 64;

/// The parts of an image, of PTX or of a cubin.
struct DeviceImage {
  DeviceCode codes[kMaxCodes];
  uint32_t count = 0;

  /// False with the message filled if the bytes are none of these, or are damaged. They must outlive the result.
  bool parse(const void *code, int64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]);

  /// Keeps those that the GPU runs, best first.
  void keepFor(int32_t major, int32_t minor);

  /// "sm_80 PTX, sm_90a cubin", cut to the buffer.
  void list(char *text, size_t size) const;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_DEVICEIMAGE_H
