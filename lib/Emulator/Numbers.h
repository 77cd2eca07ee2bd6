//===- Numbers.h - 16-bit and tf32 numbers -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_EMULATOR_NUMBERS_H
#define ATTN_LIB_EMULATOR_NUMBERS_H

#include <cstdint>
#include <cstring>

namespace attn::emulator {

inline float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Exact.
inline float bf16ToFloat(uint16_t bits) { return toFloat(uint32_t(bits) << 16); }

/// Exact; without branches, so that loops over it become vector code.
inline float f16ToFloat(uint16_t bits) {
  uint32_t magnitude = uint32_t(bits & 0x7FFF) << 13;
  // The exponent's bias is 15 here and 127 there; denormals come out right by themselves.
  uint32_t finite = toBits(toFloat(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7F800000;
  uint32_t isSpecial = magnitude >= uint32_t(0x7C00) << 13 ? ~0u : 0;
  return toFloat((finite & ~isSpecial) | (special & isSpecial) | uint32_t(bits & 0x8000) << 16);
}

/// What tensor cores read of an f32 operand that should be a tf32: the low 13 bits are ignored.
inline float tf32ToFloat(uint32_t bits) { return toFloat(bits & 0xFFFFE000); }

/// The nearest f16, ties to even; 0x7FFF for NaN.
inline uint16_t floatToF16(float value) {
  uint32_t bits = toBits(value);
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return 0x7FFF;
  // From 65520 on it rounds to infinity.
  if (magnitude >= 0x477FF000)
    return sign | 0x7C00;
  if (magnitude < 0x38800000) {
    // Below 2^-14: a multiple of 2^-24. Adding 0.5 puts that unit at the lowest bit of the sum, which is rounded.
    return sign | uint16_t(toBits(toFloat(magnitude) + 0.5f) - toBits(0.5f));
  }
  magnitude += 0xFFF + (magnitude >> 13 & 1);
  return sign | uint16_t((magnitude - (uint32_t(112) << 23)) >> 13);
}

/// Denormals become zeros of the same sign.
inline float flush(float value) {
  return (toBits(value) & 0x7F800000) == 0 ? toFloat(toBits(value) & 0x80000000) : value;
}

} // namespace attn::emulator

#endif // ATTN_LIB_EMULATOR_NUMBERS_H
