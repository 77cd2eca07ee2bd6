//===- Generate.h - data from formulas ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SUPPORT_GENERATE_H
#define ATTN_TOOLS_SUPPORT_GENERATE_H

#include "Array.h"

namespace attn::tool {

/// How to fill an array. The same numbers on every machine: word(n) = splitmix64(key + n), with
/// key = splitmix64(splitmix64(seed) + argument), where splitmix64(x) is the output function of that generator on the
/// state x * 0x9e3779b97f4a7c15. (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.)
struct Fill {
  enum class Kind {
    /// Floats: (word >> 56) / 128 - 1: 256 values from -1 to 127/128, exact in every type. i1: the top bit.
    Uniform,
    /// Floats: the sum of 12 independent 16-bit uniform numbers, of mean 0 and deviation 1, rounded to the type.
    Normal,
    Zeros,
    Ones,
    /// The row-major position.
    Iota,
    /// 1 where the last two indices are equal, else 0; rank at least 2.
    Identity,
    /// `low` everywhere.
    Value,
    /// Integers: low + word mod (high - low + 1), both ends included. Floats: low + (high - low) * (word >> 56) / 256.
    Range,
    /// The numbers of `list` in row-major order, from the first again when they are used up.
    List
  };
  Kind kind = Kind::Uniform;
  double low = 0, high = 0;
  std::vector<double> list;
};

/// Parses "uniform", "normal", "zeros", "ones", "iota", "identity", "value:X", "range:LOW:HIGH" or
/// "list:X:Y:...".
Result<Fill> parseFill(const std::string &text);

/// Fills an array. Refuses values that an integer type does not hold, and kinds that the type does not have.
Status fillArray(Array &array, const Fill &fill, uint64_t seed, uint64_t argument);

/// Parses a whole text as a number; "inf", "-inf" and "nan" too.
std::optional<double> parseNumber(const std::string &text);

} // namespace attn::tool

#endif // ATTN_TOOLS_SUPPORT_GENERATE_H
