//===- Float16.h - storage of 16-bit floating-point numbers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two bytes with conversions, no arithmetic: buffers of these types are what f16 and bf16 tensors lie in.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_API_FLOAT16_H
#define ATTN_API_FLOAT16_H

#include <cstdint>
#include <cstring>

namespace attn {

namespace detail {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rounds the low `shift` bits (1 to 31) of a magnitude away, to nearest, ties to even.
inline uint32_t roundShift(uint32_t value, unsigned shift) {
  uint32_t kept = value >> shift;
  uint32_t rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

} // namespace detail

/// IEEE 754 binary16: 5 exponent bits, 10 fraction bits, largest finite value 65504.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  /// Rounds to nearest, ties to even; above 65519.99 infinity; NaN stays NaN (quiet). Exact for every f16 value.
  explicit Float16(float value) {
    uint32_t source = detail::bitsOf(value), magnitude = source & 0x7fffffffu;
    uint32_t result;
    if (magnitude > 0x7f800000u)
      result = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
    else if (magnitude >= 0x477ff000u) // rounds to 65536 or more
      result = 0x7c00u;
    else if (magnitude >= 0x38800000u) // normal: 2^-14 or more
      result = detail::roundShift(magnitude - 0x38000000u, 13);
    else if (magnitude >= 0x33000000u) // 2^-25 or more: at least a tie with the least subnormal
      result = detail::roundShift((magnitude & 0x7fffffu) | 0x800000u, 126 - (magnitude >> 23));
    else
      result = 0;
    bits = static_cast<uint16_t>(result | ((source >> 16) & 0x8000u));
  }
  static Float16 fromBits(uint16_t bits) {
    Float16 value;
    value.bits = bits;
    return value;
  }

  /// Exact.
  explicit operator float() const {
    uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1fu;
    uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0x1fu)
      return detail::floatOf(sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0)
      return detail::floatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
};

/// bfloat16: the upper half of an f32, 8 exponent bits, 7 fraction bits.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to nearest, ties to even; NaN stays NaN (quiet). Exact for every bf16 value.
  explicit BFloat16(float value) {
    uint32_t source = detail::bitsOf(value);
    if ((source & 0x7fffffffu) > 0x7f800000u)
      bits = static_cast<uint16_t>((source >> 16) | 0x40u);
    else
      bits = static_cast<uint16_t>(detail::roundShift(source, 16));
  }
  static BFloat16 fromBits(uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }

  /// Exact.
  explicit operator float() const { return detail::floatOf(static_cast<uint32_t>(bits) << 16); }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2, "buffers of these types are buffers of f16 and bf16");

} // namespace attn

#endif // ATTN_API_FLOAT16_H
