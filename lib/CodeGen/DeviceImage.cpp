//===- DeviceImage.cpp - code for several chips in one file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/DeviceImage.h"
#include "attn/Cuda.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;

std::pair<uint32_t, char> attn::parseChip(llvm::StringRef chip) {
  uint32_t number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  return {number, chip.empty() ? '\0' : chip.front()};
}

/// Bytes of a part with what follows it: a zero byte, and zeros up to the next part.
static uint64_t paddedSize(const DeviceImagePart &part) { return llvm::alignTo(part.code.size() + 1, 16); }

std::string attn::buildDeviceImage(llvm::ArrayRef<DeviceImagePart> parts) {
  std::string image;
  llvm::raw_string_ostream stream(image);
  llvm::support::endian::Writer writer(stream, llvm::endianness::little);
  stream.write(ATTN_RT_IMAGE_MAGIC, sizeof(attn_rt_image_header::magic));
  writer.write<uint32_t>(ATTN_RT_IMAGE_VERSION);
  writer.write<uint32_t>(parts.size());
  uint64_t offset = sizeof(attn_rt_image_header) + parts.size() * sizeof(attn_rt_image_entry);
  for (const DeviceImagePart &part : parts) {
    auto [chip, suffix] = parseChip(part.chip);
    for (uint32_t word : {part.kind, chip, uint32_t(suffix), uint32_t(0)})
      writer.write(word);
    writer.write<uint64_t>(offset);
    writer.write<uint64_t>(part.code.size());
    offset += paddedSize(part);
  }
  for (const DeviceImagePart &part : parts) {
    stream << part.code;
    stream.write_zeros(paddedSize(part) - part.code.size());
  }
  return image;
}
