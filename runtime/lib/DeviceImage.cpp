// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceImage.h"
#include "CudaDriver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace attn::runtime;

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

bool DeviceCode::runsOn(int32_t major, int32_t minor) const {
  uint32_t device = 10 * major + minor;
  if (chip == 0)
    return true; // the driver has to tell
  if (suffix == 'a')
    return device == chip;
  bool sameGeneration = device / 10 == chip / 10;
  return device >= chip && (sameGeneration || (kind == ATTN_RT_CODE_PTX && suffix != 'f'));
}

bool DeviceCode::isBetterThan(const DeviceCode &other) const {
  if (chip != other.chip)
    return chip > other.chip;
  if ((suffix != 0) != (other.suffix != 0))
    return suffix != 0;
  return kind == ATTN_RT_CODE_CUBIN && other.kind != ATTN_RT_CODE_CUBIN;
}

/// Reads ".target sm_90a" of a PTX text that ends with a zero byte or at `size`.
static void readTarget(DeviceCode &code) {
  static const char directive[] = ".target sm_";
  const char *end = code.bytes + code.size;
  const char *found = std::search(code.bytes, end, directive, directive + sizeof(directive) - 1);
  const char *at = found == end ? end : found + sizeof(directive) - 1;
  for (; at < end && *at >= '0' && *at <= '9' && code.chip < 1000; ++at)
    code.chip = 10 * code.chip + (*at - '0');
  if (code.chip > 0 && at < end && (*at == 'a' || *at == 'f'))
    code.suffix = *at;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// One entry of an image of `bytes` bytes at `base`; false if it is damaged.
static bool readEntry(const char *base, uint64_t bytes, uint64_t number, DeviceCode &code) {
  attn_rt_image_entry entry;
  std::memcpy(&entry, base + sizeof(attn_rt_image_header) + number * sizeof(entry), sizeof(entry));
  uint64_t terminator = entry.kind == ATTN_RT_CODE_PTX ? 1 : 0;
  if ((entry.kind != ATTN_RT_CODE_PTX && entry.kind != ATTN_RT_CODE_CUBIN) || entry.offset > bytes ||
      entry.bytes > bytes - entry.offset || terminator > bytes - entry.offset - entry.bytes)
    return false;
  code = {entry.kind, entry.chip, entry.suffix, base + entry.offset, entry.bytes};
  return terminator == 0 || code.bytes[code.size] == '\0';
}

static bool parseImage(DeviceImage &image, const char *base, uint64_t bytes, char message[ATTN_RT_MESSAGE_BYTES]) {
  attn_rt_image_header header;
  std::memcpy(&header, base, sizeof(header));
  if (header.version != ATTN_RT_IMAGE_VERSION) {
    setMessage(message, "the image of GPU code has version %u, but this runtime reads version %u", header.version,
               ATTN_RT_IMAGE_VERSION);
    return false;
  }
  bool fits =
      header.count <= kMaxCodes && header.count * sizeof(attn_rt_image_entry) <= bytes - sizeof(attn_rt_image_header);
  for (uint32_t n = 0; fits && n < header.count; ++n)
    fits = readEntry(base, bytes, n, image.codes[n]);
  image.count = fits ? header.count : 0;
  if (!fits)
    setMessage(message, "the image of GPU code is damaged or cut off");
  return fits;
}

bool DeviceImage::parse(const void *code, int64_t size, char message[ATTN_RT_MESSAGE_BYTES]) {
  const char *base = static_cast<const char *>(code);
  uint64_t bytes = size > 0 ? size : 0;
  auto startsWith = [&](const char *magic, size_t length) {
    return bytes >= length && std::memcmp(base, magic, length) == 0;
  };
  if (bytes >= sizeof(attn_rt_image_header) && startsWith(ATTN_RT_IMAGE_MAGIC, sizeof(ATTN_RT_IMAGE_MAGIC)))
    return parseImage(*this, base, bytes, message);
  bool isCubin = startsWith("\x7f"
                            "ELF",
                            4);
  codes[0] = {isCubin ? ATTN_RT_CODE_CUBIN : ATTN_RT_CODE_PTX, 0, 0, base, bytes};
  if (!isCubin)
    readTarget(codes[0]);
  count = isCubin || codes[0].chip > 0;
  if (count == 0)
    setMessage(message, "code for a GPU expects PTX, a cubin or an image of them, but got %lld bytes of something else",
               static_cast<long long>(size));
  return count > 0;
}

void DeviceImage::keepFor(int32_t major, int32_t minor) {
  DeviceCode *end =
      std::remove_if(codes, codes + count, [&](const DeviceCode &code) { return !code.runsOn(major, minor); });
  std::sort(codes, end, [](const DeviceCode &a, const DeviceCode &b) { return a.isBetterThan(b); });
  count = static_cast<uint32_t>(end - codes);
}

void DeviceImage::list(char *text, size_t size) const {
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t n = 0; n < count && used + 1 < size; ++n) {
    const DeviceCode &code = codes[n];
    char suffix[2] = {static_cast<char>(code.suffix), '\0'};
    int length = std::snprintf(text + used, size - used, "%ssm_%u%s %s", n ? ", " : "", code.chip, suffix,
                               code.kind == ATTN_RT_CODE_PTX ? "PTX" : "cubin");
    used += length > 0 ? length : 0;
  }
}
