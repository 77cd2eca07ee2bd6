//===- Generate.cpp - data from formulas -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Generate.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace attn;
using namespace attn::tool;

static uint64_t splitmix64(uint64_t x) {
  x *= 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::optional<double> tool::parseNumber(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) || *end != '\0')
    return std::nullopt;
  return value;
}

/// The numbers of "X:Y:...", at least one.
static std::optional<std::vector<double>> parseList(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  std::vector<double> numbers;
  for (llvm::StringRef part : parts) {
    std::optional<double> number = tool::parseNumber(part.str());
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Result<Fill> tool::parseFill(const std::string &text) {
  using Kind = Fill::Kind;
  static constexpr std::pair<const char *, Kind> plain[] = {{"uniform", Kind::Uniform}, {"normal", Kind::Normal},
                                                            {"zeros", Kind::Zeros},     {"ones", Kind::Ones},
                                                            {"iota", Kind::Iota},       {"identity", Kind::Identity}};
  for (auto [name, kind] : plain)
    if (text == name)
      return Fill{kind, 0, 0, {}};
  if (text.rfind("value:", 0) == 0)
    if (std::optional<double> value = parseNumber(text.substr(6)))
      return Fill{Kind::Value, *value, *value, {}};
  size_t colon = text.rfind("range:", 0) == 0 ? text.find(':', 6) : std::string::npos;
  if (colon != std::string::npos) {
    std::optional<double> low = parseNumber(text.substr(6, colon - 6)), high = parseNumber(text.substr(colon + 1));
    if (low && high && *low <= *high && std::isfinite(*low) && std::isfinite(*high))
      return Fill{Kind::Range, *low, *high, {}};
  }
  if (text.rfind("list:", 0) == 0)
    if (std::optional<std::vector<double>> list = parseList(llvm::StringRef(text).drop_front(5)))
      return Fill{Kind::List, 0, 0, *list};
  return usageError("a fill expects uniform, normal, zeros, ones, iota, identity, value:X, range:LOW:HIGH with "
                    "LOW <= HIGH, or list:X:Y:..., but got '" +
                    text + "'");
}

/// The sum of 12 numbers (2 k + 1) / 2^17 - 1/2, k of 16 bits: mean 0, variance 12 * 1/12 = 1. Exact in f64.
static double normalNumber(uint64_t key, uint64_t position) {
  int64_t sum = 0;
  for (uint64_t part = 0; part < 3; ++part) {
    uint64_t word = splitmix64(key + 3 * position + part);
    for (unsigned lane = 0; lane < 4; ++lane)
      sum += 2 * static_cast<int64_t>((word >> (16 * lane)) & 0xffff) + 1;
  }
  return static_cast<double>(sum - 12 * 65536) * 0x1p-17;
}

/// Whether row-major `position` has equal last two indices.
static bool isOnDiagonal(const std::vector<int64_t> &sizes, int64_t position) {
  int64_t columns = sizes.back(), rows = sizes[sizes.size() - 2];
  return position % columns == position / columns % rows;
}

/// An element of a float array.
static double floatElement(const Array &array, const Fill &fill, uint64_t key, int64_t position) {
  switch (fill.kind) {
  case Fill::Kind::Uniform:
    return static_cast<double>(splitmix64(key + position) >> 56) / 128 - 1;
  case Fill::Kind::Normal:
    return normalNumber(key, position);
  case Fill::Kind::Zeros:
    return 0;
  case Fill::Kind::Ones:
    return 1;
  case Fill::Kind::Iota:
    return static_cast<double>(position);
  case Fill::Kind::Identity:
    return isOnDiagonal(array.sizes(), position);
  case Fill::Kind::Value:
    return fill.low;
  case Fill::Kind::List:
    return fill.list[position % fill.list.size()];
  case Fill::Kind::Range:
    return fill.low + (fill.high - fill.low) * (static_cast<double>(splitmix64(key + position) >> 56) / 256);
  }
  return 0;
}

/// An element of an integer array; the fill suits it.
static int64_t integerElement(const Array &array, const Fill &fill, uint64_t key, int64_t position) {
  if (fill.kind == Fill::Kind::Uniform)
    return splitmix64(key + position) >> 63;
  if (fill.kind == Fill::Kind::Range) {
    uint64_t count = static_cast<uint64_t>(fill.high - fill.low) + 1;
    return static_cast<int64_t>(fill.low) + static_cast<int64_t>(splitmix64(key + position) % count);
  }
  return fill.kind == Fill::Kind::Iota ? position : static_cast<int64_t>(floatElement(array, fill, key, position));
}

/// Whether an integer type can be filled so.
static Status checkIntegerFill(const Array &array, const Fill &fill) {
  using Kind = Fill::Kind;
  bool isBool = array.dtype() == DType::I1;
  if (fill.kind == Kind::Normal || (fill.kind == Kind::Uniform && !isBool))
    return usageError("integers expect a fill of range:LOW:HIGH, list:X:Y:..., value:X, zeros, ones, iota or identity");
  double bits = static_cast<double>(byteSize(array.dtype()) * 8), largest = isBool ? 1 : std::ldexp(1, bits - 1) - 1;
  // Whole numbers of f64 are exact to 2^53; no sensible length is larger.
  largest = std::min(largest, 0x1p53);
  double least = isBool ? 0 : -largest - (bits < 53 ? 1 : 0);
  std::vector<double> values = {fill.low, fill.high};
  if (fill.kind == Kind::Iota)
    values = {0, static_cast<double>(array.size() - 1)};
  if (fill.kind == Kind::List)
    values = fill.list;
  for (double value : values)
    if (!(value >= least && value <= largest) || value != std::floor(value))
      return usageError("a fill of " + std::string(toString(array.dtype())) + " expects whole numbers from " +
                        std::to_string(static_cast<int64_t>(least)) + " to " +
                        std::to_string(static_cast<int64_t>(largest)) + ", but got " + std::to_string(value));
  return {};
}

Status tool::fillArray(Array &array, const Fill &fill, uint64_t seed, uint64_t argument) {
  if (fill.kind == Fill::Kind::Identity && array.sizes().size() < 2)
    return usageError("the fill identity expects rank 2 or more, but got " + describe(array.dtype(), array.sizes()));
  uint64_t key = splitmix64(splitmix64(seed) + argument);
  if (isFloat(array.dtype())) {
    for (int64_t i = 0; i < array.size(); ++i)
      array.setNumber(i, floatElement(array, fill, key, i));
    return {};
  }
  if (array.size() == 0)
    return {};
  if (Status status = checkIntegerFill(array, fill); !status)
    return status;
  for (int64_t i = 0; i < array.size(); ++i)
    array.setInteger(i, integerElement(array, fill, key, i));
  return {};
}
