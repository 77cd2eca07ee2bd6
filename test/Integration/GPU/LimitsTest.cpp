//===- LimitsTest.cpp - what GPUs refuse ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits by which tests of GPUs choose their cases: each is an error that names it, for a GPU of each kind, and
// what is just inside compiles.
//
//===----------------------------------------------------------------------===//

#include "attn/attn.h"
#include "gtest/gtest.h"

namespace {

/// An attention of 2 heads and dynamic lengths; `headDim` as types write it.
std::string program(const std::string &element, const std::string &headDim) {
  std::string type = "tensor<1x2x?x" + headDim + "x" + element + ">", scale = element == "f64" ? "f64" : "f32";
  std::string init = headDim == "?" ? "%n, %d" : "%n";
  return "func.func @f(%q: " + type + ", %k: " + type + ", %v: " + type + ") -> " + type +
         " {\n  %s = arith.constant 0.5 : " + scale + "\n  %c2 = arith.constant 2 : index\n" +
         "  %c3 = arith.constant 3 : index\n  %n = tensor.dim %q, %c2 : " + type +
         "\n  %d = tensor.dim %q, %c3 : " + type + "\n  %o = tensor.empty(" + init + ") : " + type +
         "\n  %r = attn.attention %q, %k, %v scale(%s : " + scale + ")\n    : " + type + ", " + type + ", " + type +
         " outs(%o : " + type + ") -> " + type + "\n  return %r : " + type + "\n}\n";
}

class GpuLimits : public testing::TestWithParam<const char *> {
protected:
  /// The error, or nothing where the program compiles.
  std::string refusal(const std::string &element, const std::string &headDim, int64_t tileQ = 64,
                      int64_t tileKv = 32) const {
    std::string text = program(element, headDim);
    auto module = attn::Module::parse(text, "limits.mlir");
    if (!module.ok())
      return "not parsed: " + module.error().str() + "\n" + text;
    auto target = attn::Target::named(std::string("emulator:") + GetParam());
    auto kernel = module->compile("f", target, attn::CompileOptions().tileQ(tileQ).tileKv(tileKv));
    return kernel.ok() ? "" : kernel.error().message;
  }
  static void expectIn(const std::string &error, const std::string &limit) {
    EXPECT_NE(error.find(limit), std::string::npos) << "expected '" << limit << "', but got '" << error << "'";
  }
};

TEST_P(GpuLimits, TypesAreOf32BitsAtMost) {
  expectIn(refusal("f64", "8"), "f64 is not supported on a GPU target; use f32, f16 or bf16");
  for (const char *element : {"f32", "f16", "bf16"})
    EXPECT_EQ(refusal(element, "8"), "");
}

TEST_P(GpuLimits, TypesTellHeadSizesUpToALimit) {
  expectIn(refusal("f32", "?"),
           "expects head and value sizes that the types tell on a GPU target, but got a dynamic one");
  expectIn(refusal("bf16", "257"), "expects head and value sizes up to 256 on a GPU target, but got 257 and 257");
  EXPECT_EQ(refusal("bf16", "256"), "");
}

TEST_P(GpuLimits, TilesAreWholeFragments) {
  expectIn(refusal("f16", "8", 8), "expects tiles of 16 to 256 query rows on a GPU target, but got 8");
  expectIn(refusal("f16", "8", 512), "expects tiles of 16 to 256 query rows on a GPU target, but got 512");
  expectIn(refusal("f16", "8", 64, 17), "expects tiles of a multiple of 16 keys up to 128 on a GPU target, but got 17");
  expectIn(refusal("f16", "8", 64, 144),
           "expects tiles of a multiple of 16 keys up to 128 on a GPU target, but got 144");
  EXPECT_EQ(refusal("f16", "8", 16, 16), "");
  EXPECT_EQ(refusal("f16", "8", 256, 128), "");
}

INSTANTIATE_TEST_SUITE_P(Chips, GpuLimits, testing::Values("sm_80", "sm_90a"));

} // namespace
