//===- DeviceImage.h - code for several chips in one file ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_DEVICEIMAGE_H
#define ATTN_CODEGEN_DEVICEIMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn {

/// Code of a kind of attn_rt_code_kind for a chip ("sm_80", "sm_90a").
struct DeviceImagePart {
  uint32_t kind;
  std::string chip;
  std::string code;
};

/// What attn_rt_cuda_load takes: a GPU loads the best part that it runs. attn/Cuda.h has the format.
std::string buildDeviceImage(llvm::ArrayRef<DeviceImagePart> parts);

/// The number and the letter behind it (0: none) of a chip's name: 90 and 'a' of "sm_90a".
std::pair<uint32_t, char> parseChip(llvm::StringRef chip);

} // namespace attn

#endif // ATTN_CODEGEN_DEVICEIMAGE_H
