//===- EmulatorStoresTest.cpp - outputs of any alignment, on the emulator --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query i keeps key i alone, so that row i of the output is row i of the values, bit by bit, and row i of the weights
// is row i of the identity. Outputs start at, and have rows of, any number of elements: what is aligned is stored by
// other instructions than what is not. Memory around the rows stays as it was.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace attn;

static constexpr int64_t kHeads = 2, kRows = 70, kHeadDim = 16;

/// Rows of one result inside a larger buffer.
template <typename T> class Rows {
public:
  /// `offset` and `rowStride` in elements.
  Rows(int64_t columns, int64_t offset, int64_t rowStride)
      : columns(columns), rowStride(rowStride), bytes((kHeads * kRows * rowStride + 64) * sizeof(T) + 64, kUntouched) {
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    first = bytes.data() + (64 - address % 64) % 64 + offset * sizeof(T);
  }

  MutableTensorView view() {
    return attn::view(reinterpret_cast<T *>(first), {1, kHeads, kRows, columns},
                      {kHeads * kRows * rowStride, kRows * rowStride, rowStride, 1});
  }

  /// Takes an element out: what is left at the end must be untouched.
  float take(int64_t head, int64_t row, int64_t column) {
    unsigned char *at = first + ((head * kRows + row) * rowStride + column) * sizeof(T);
    T value;
    std::memcpy(&value, at, sizeof(T));
    std::memset(at, kUntouched, sizeof(T));
    return static_cast<float>(value);
  }

  bool isUntouched() const {
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == kUntouched; });
  }

private:
  static constexpr unsigned char kUntouched = 0xa5;

  int64_t columns, rowStride;
  std::vector<unsigned char> bytes;
  unsigned char *first;
};

/// Exact in every type.
static float valueAt(int64_t head, int64_t row, int64_t column) {
  return static_cast<float>((31 * head + 7 * row + column) % 251);
}

static std::string identityText(const std::string &type, int64_t valueDim, int64_t kvLen, bool hasWeights) {
  auto tensor = [&](int64_t rows, int64_t columns, const std::string &element) {
    return "tensor<1x" + std::to_string(kHeads) + "x" + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
           element + ">";
  };
  std::string query = tensor(kRows, kHeadDim, type), key = tensor(kvLen, kHeadDim, type);
  std::string value = tensor(kvLen, valueDim, type), out = tensor(kRows, valueDim, type);
  std::string weights = tensor(kRows, kvLen, "f32");
  std::string results = out + (hasWeights ? ", " + weights : "");
  return "func.func @f(%q: " + query + ", %k: " + key + ", %v: " + value + ") -> (" + results +
         ") {\n  %scale = arith.constant 0.5 : f32\n  %o = tensor.empty() : " + out + "\n" +
         (hasWeights ? "  %w = tensor.empty() : " + weights + "\n" : "") + "  %r" + (hasWeights ? ":2" : "") +
         " = attn.attention %q, %k, %v scale(%scale)\n    where(%b, %h, %i, %j) {\n" +
         "      %keep = arith.cmpi eq, %i, %j : index\n      attn.yield %keep : i1\n    }\n    : " + query + ", " +
         key + ", " + value + " outs(%o : " + out + ")" + (hasWeights ? " weights(%w : " + weights + ")" : "") +
         " -> " + results + "\n  return %r" + (hasWeights ? "#0, %r#1" : "") + " : " + results + "\n}\n";
}

/// Of [1, heads, rows, columns].
template <typename T>
static std::vector<T> filled(int64_t rows, int64_t columns, float (*at)(int64_t, int64_t, int64_t)) {
  std::vector<T> values;
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        values.push_back(T(at(head, row, column)));
  return values;
}

static float ones(int64_t, int64_t, int64_t) { return 1; }

/// The kernel of a text for a target, and its inputs.
template <typename T> struct Identity {
  Identity(const std::string &type, int64_t valueDim, int64_t kvLen, bool hasWeights, const std::string &target)
      : valueDim(valueDim), kvLen(kvLen), query(filled<T>(kRows, kHeadDim, ones)),
        key(filled<T>(kvLen, kHeadDim, ones)), value(filled<T>(kvLen, valueDim, valueAt)) {
    auto module = Module::parse(identityText(type, valueDim, kvLen, hasWeights));
    EXPECT_TRUE(module.ok()) << module.error().str();
    auto compiled = module->compile("f", Target::named(target));
    EXPECT_TRUE(compiled.ok()) << compiled.error().str();
    kernel = std::move(*compiled);
  }

  void run(std::vector<MutableTensorView> outputs) {
    auto report =
        kernel->run({attn::view(query, {1, kHeads, kRows, kHeadDim}), attn::view(key, {1, kHeads, kvLen, kHeadDim}),
                     attn::view(value, {1, kHeads, kvLen, valueDim})},
                    outputs);
    ASSERT_TRUE(report.ok()) << report.error().str();
  }

  int64_t valueDim, kvLen;
  std::vector<T> query, key, value;
  std::optional<Kernel> kernel;
};

template <typename T> static void checkOutputs(const std::string &type, int64_t valueDim, const std::string &target) {
  Identity<T> identity(type, valueDim, kRows, /*hasWeights=*/false, target);
  for (int64_t offset : {0, 1, 2, 4})
    for (int64_t gap : {0, 1, 4, 8}) {
      SCOPED_TRACE(type + ", value size " + std::to_string(valueDim) + ", offset " + std::to_string(offset) + ", gap " +
                   std::to_string(gap) + ", " + target);
      Rows<T> out(valueDim, offset, valueDim + gap);
      identity.run({out.view()});
      for (int64_t head = 0; head < kHeads; ++head)
        for (int64_t row = 0; row < kRows; ++row)
          for (int64_t column = 0; column < valueDim; ++column)
            ASSERT_EQ(out.take(head, row, column), valueAt(head, row, column)) << row << ", " << column;
      EXPECT_TRUE(out.isUntouched());
    }
}

TEST(EmulatorStores, OutputsOfHalves) {
  for (int64_t valueDim : {8, 20, 24, 48, 64})
    checkOutputs<BFloat16>("bf16", valueDim, "emulator:sm_80:random=3");
  checkOutputs<Float16>("f16", 40, "emulator:sm_80:lifo");
  checkOutputs<Float16>("f16", 136, "emulator:sm_80");
}

TEST(EmulatorStores, OutputsOfFloats) {
  for (int64_t valueDim : {7, 8, 22, 64})
    checkOutputs<float>("f32", valueDim, "emulator:sm_80:random=4");
}

TEST(EmulatorStores, OutputsOfWarpgroups) {
  for (int64_t valueDim : {24, 64})
    checkOutputs<BFloat16>("bf16", valueDim, "emulator:sm_90a:random=5");
}

TEST(EmulatorStores, Weights) {
  for (int64_t kvLen : {70, 71, 100})
    for (int64_t gap : {0, 1}) {
      SCOPED_TRACE(std::to_string(kvLen) + " keys, gap " + std::to_string(gap));
      Identity<BFloat16> identity("bf16", 16, kvLen, /*hasWeights=*/true, "emulator:sm_80:random=6");
      Rows<BFloat16> out(16, 0, 16);
      Rows<float> weights(kvLen, 0, kvLen + gap);
      identity.run({out.view(), weights.view()});
      for (int64_t head = 0; head < kHeads; ++head)
        for (int64_t row = 0; row < kRows; ++row)
          for (int64_t key = 0; key < kvLen; ++key)
            ASSERT_EQ(weights.take(head, row, key), row == key ? 1 : 0) << row << ", " << key;
      EXPECT_TRUE(weights.isUntouched());
    }
}

/// Dimensions of size 1 have strides that no tensor map could have, and that none looks at: the row of the one key's
/// values comes out, whatever the head size.
TEST(EmulatorStores, OneKeyOfASmallHead) {
  for (int64_t size : {1, 2, 4, 12}) {
    SCOPED_TRACE(size);
    std::string rest = std::to_string(size) + "xbf16>", q = "tensor<1x2x?x" + rest, k = "tensor<?x?x?x" + rest;
    auto module =
        Module::parse("func.func @f(%q: " + q + ", %k: " + k + ", %v: " + k + ", %o: " + q + ") -> " + q +
                      " {\n  %s = arith.constant 1.0 : f32\n  %r = attn.attention %q, %k, %v scale(%s) : " + q + ", " +
                      k + ", " + k + " outs(%o : " + q + ") -> " + q + "\n  return %r : " + q + "\n}\n");
    ASSERT_TRUE(module.ok()) << module.error().str();
    auto kernel = module->compile("f", Target::named("emulator:sm_90a"));
    ASSERT_TRUE(kernel.ok()) << kernel.error().str();
    std::vector<BFloat16> query = filled<BFloat16>(kRows, size, ones), out(query.size());
    std::vector<BFloat16> value(size + 8, BFloat16(3.0f));
    // Of 16 bytes, as the driver wants the first address.
    auto *row = reinterpret_cast<BFloat16 *>((reinterpret_cast<uintptr_t>(value.data()) + 15) / 16 * 16);
    for (int64_t e = 0; e < size; ++e)
      row[e] = BFloat16(1.5f + e);
    auto report = kernel->run({attn::view(query, {1, kHeads, kRows, size}), attn::view(row, {1, 1, 1, size}),
                               attn::view(row, {1, 1, 1, size}), attn::view(query, {1, kHeads, kRows, size})},
                              {attn::view(out, {1, kHeads, kRows, size})});
    ASSERT_TRUE(report.ok()) << report.error().str();
    for (size_t n = 0; n < out.size(); ++n)
      ASSERT_EQ(static_cast<float>(out[n]), 1.5f + n % size) << n;
  }
}
