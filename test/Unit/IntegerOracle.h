//===- IntegerOracle.h - what integer ops compute, by formula ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of arith and math ops on integers of up to 64 bits, in 128 bits, independent of MLIR and of the reference
// interpreter.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TEST_UNIT_INTEGERORACLE_H
#define ATTN_TEST_UNIT_INTEGERORACLE_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace integer_oracle {

__extension__ using Wide = __int128;

/// The number that the low `bits` of x are, read as signed or unsigned.
inline Wide asSigned(Wide x, unsigned bits) {
  Wide range = Wide(1) << bits, low = x & (range - 1);
  return low >= range / 2 ? low - range : low;
}
inline Wide asUnsigned(Wide x, unsigned bits) { return x & ((Wide(1) << bits) - 1); }

inline Wide floorDivide(Wide x, Wide y) { return x / y - ((x % y != 0) && ((x < 0) != (y < 0))); }
inline Wide ceilDivide(Wide x, Wide y) { return -floorDivide(-x, y); }

/// base^exponent in `bits` bits, by repeated multiplication of the exponent's bits from the highest.
inline Wide power(Wide base, Wide exponent, unsigned bits) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  Wide result = 1;
  for (int bit = 63; bit >= 0; --bit) {
    result = asSigned(result * result, bits);
    if (exponent >> bit & 1)
      result = asSigned(result * base, bits);
  }
  return result;
}

inline Wide countBits(Wide x) {
  Wide count = 0;
  for (; x; x >>= 1)
    count += x & 1;
  return count;
}

/// An op and its exact result, not yet wrapped. x and y are signed; nothing where the op is undefined.
struct Formula {
  const char *name;
  bool isUnary;
  std::optional<Wide> (*formula)(Wide x, Wide y, unsigned bits);

  /// The result as a signed number of `bits` bits.
  std::optional<int64_t> operator()(int64_t x, int64_t y, unsigned bits) const {
    std::optional<Wide> exact = formula(x, y, bits);
    return exact ? std::optional<int64_t>(static_cast<int64_t>(asSigned(*exact, bits))) : std::nullopt;
  }
};

inline bool overflows(Wide x, Wide y, unsigned bits) { return y == 0 || (y == -1 && x == -(Wide(1) << (bits - 1))); }
inline bool isTooFar(Wide y, unsigned bits) { return asUnsigned(y, bits) >= bits; }

#define ATTN_SIGNED(expression) [](Wide x, Wide y, unsigned) -> std::optional<Wide> { return expression; }
#define ATTN_UNSIGNED(expression)                                                                                      \
  [](Wide x, Wide y, unsigned bits) -> std::optional<Wide> {                                                           \
    x = asUnsigned(x, bits), y = asUnsigned(y, bits);                                                                  \
    return expression;                                                                                                 \
  }
#define ATTN_UNDEFINED_IF(condition, expression)                                                                       \
  [](Wide x, Wide y, unsigned bits) -> std::optional<Wide> {                                                           \
    if (condition)                                                                                                     \
      return std::nullopt;                                                                                             \
    return expression;                                                                                                 \
  }

inline const std::vector<Formula> &ops() {
  static const std::vector<Formula> table = {
      {"arith.addi", false, ATTN_SIGNED(x + y)},
      {"arith.subi", false, ATTN_SIGNED(x - y)},
      {"arith.muli", false, ATTN_SIGNED(x * y)},
      {"arith.andi", false, ATTN_SIGNED(x & y)},
      {"arith.ori", false, ATTN_SIGNED(x | y)},
      {"arith.xori", false, ATTN_SIGNED(x ^ y)},
      {"arith.maxsi", false, ATTN_SIGNED(std::max(x, y))},
      {"arith.minsi", false, ATTN_SIGNED(std::min(x, y))},
      {"arith.maxui", false, ATTN_UNSIGNED(std::max(x, y))},
      {"arith.minui", false, ATTN_UNSIGNED(std::min(x, y))},
      {"arith.divsi", false, ATTN_UNDEFINED_IF(overflows(x, y, bits), x / y)},
      {"arith.remsi", false, ATTN_UNDEFINED_IF(overflows(x, y, bits), x % y)},
      {"arith.floordivsi", false, ATTN_UNDEFINED_IF(overflows(x, y, bits), floorDivide(x, y))},
      {"arith.ceildivsi", false, ATTN_UNDEFINED_IF(overflows(x, y, bits), ceilDivide(x, y))},
      {"arith.divui", false, ATTN_UNDEFINED_IF(y == 0, asUnsigned(x, bits) / asUnsigned(y, bits))},
      {"arith.remui", false, ATTN_UNDEFINED_IF(y == 0, asUnsigned(x, bits) % asUnsigned(y, bits))},
      {"arith.ceildivui", false, ATTN_UNDEFINED_IF(y == 0, ceilDivide(asUnsigned(x, bits), asUnsigned(y, bits)))},
      {"arith.shli", false, ATTN_UNDEFINED_IF(isTooFar(y, bits), x * (Wide(1) << y))},
      {"arith.shrsi", false, ATTN_UNDEFINED_IF(isTooFar(y, bits), x >> y)},
      {"arith.shrui", false, ATTN_UNDEFINED_IF(isTooFar(y, bits), asUnsigned(x, bits) >> y)},
      {"math.ipowi", false, ATTN_UNDEFINED_IF(x == 0 && y < 0, power(x, y, bits))},
      {"math.absi", true, ATTN_SIGNED(x < 0 ? -x : x)},
      {"math.ctpop", true, ATTN_UNSIGNED(countBits(x))},
      {"math.cttz", true,
       ATTN_UNDEFINED_IF(false, countBits(~asUnsigned(x, bits) & (asUnsigned(x, bits) - 1) & asUnsigned(-1, bits)))},
      {"math.ctlz", true,
       [](Wide x, Wide, unsigned bits) -> std::optional<Wide> {
         Wide count = bits;
         for (x = asUnsigned(x, bits); x; x >>= 1)
           --count;
         return count;
       }},
  };
  return table;
}

#undef ATTN_SIGNED
#undef ATTN_UNSIGNED
#undef ATTN_UNDEFINED_IF

/// The extremes of a width and what lies next to them and to zero.
inline std::vector<int64_t> edges(unsigned bits) {
  int64_t highest = INT64_MAX >> (64 - bits), lowest = -highest - 1;
  return {lowest, lowest + 1, lowest / 2, -100, -7, -3,  -2,          -1,          0,
          1,      2,          3,          5,    7,  100, highest / 2, highest - 1, highest};
}

} // namespace integer_oracle

#endif // ATTN_TEST_UNIT_INTEGERORACLE_H
