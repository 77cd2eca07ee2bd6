//===- WgmmaTest.cpp - wgmma and its operands in shared memory ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test lays operands out in shared memory by its own formulas: a swizzle of S bytes permutes the 16-byte chunks of
// row r (of S bytes) by xor with r % 8, r / 2 % 4 or r / 4 % 2 for S = 128, 64, 32.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTestUtil.h"
#include "lib/Emulator/Numbers.h"
#include "lib/Emulator/SharedWindow.h"

using namespace attn::emulator;
using namespace attn::emulator::test;

static std::string repeat(const std::string &text, int count, const std::string &separator = ", ") {
  std::string result = count ? text : "";
  for (int k = 1; k < count; ++k)
    result += separator + text;
  return result;
}

/// Copies %bytes of the image to shared memory, adds its address to the descriptors, multiplies, waits and stores
/// n / 2 sums a thread. A is in shared memory, or four registers of the parameter %pa. extra: before the wait.
static std::string makeKernel(int n, const std::string &type, bool aInRegisters, int keep,
                              const std::string &extra = "") {
  const int sums = n / 2;
  std::string name = "@attn_dev_wgmma_m64n" + std::to_string(n) + "k16_f32_" + type + (aInRegisters ? "_rs" : "_ss");
  std::string structure = "{" + repeat("float", sums) + "}";
  std::string operands = aInRegisters ? "i32, i32, i32, i32, i64" : "i64, i64, i32";
  std::string text = "declare " + structure + " " + name + "(" + repeat("float", sums) + ", " + operands + ")\n" + R"(
@s = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel(ptr addrspace(1) %image, i32 %bytes, i64 %da0, i64 %db0, ptr addrspace(1) %pa, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %t, 16
  br label %copy
copy:
  %o = phi i32 [%first, %0], [%next, %copy]
  %g = getelementptr i8, ptr addrspace(1) %image, i32 %o
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  %v = load <4 x i32>, ptr addrspace(1) %g
  store <4 x i32> %v, ptr addrspace(3) %p
  %next = add i32 %o, 2048
  %more = icmp ult i32 %next, %bytes
  br i1 %more, label %copy, label %ready
ready:
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a32 = ptrtoint ptr addrspace(3) @s to i32
  %low = and i32 %a32, 262143
  %start = lshr i32 %low, 4
  %a64 = zext i32 %start to i64
  %da = add i64 %da0, %a64
  %db = add i64 %db0, %a64
  %ai = mul i32 %t, 4
)";
  for (int k = 0; k < 4; ++k) {
    std::string i = std::to_string(k);
    text += "%j" + i + " = add i32 %ai, " + i + "\n%q" + i + " = getelementptr i32, ptr addrspace(1) %pa, i32 %j" + i +
            "\n%r" + i + " = load i32, ptr addrspace(1) %q" + i + "\n";
  }
  text +=
      "call void @llvm.nvvm.wgmma.fence.sync.aligned()\n%d = call " + structure + " " + name + "(" +
      repeat("float 0.5", sums) + ", " +
      (aInRegisters ? "i32 %r0, i32 %r1, i32 %r2, i32 %r3, i64 %db" : "i64 %da, i64 %db, i32 " + std::to_string(keep)) +
      ")\ncall void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n" + extra +
      "call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n%oi = mul i32 %t, " + std::to_string(sums) +
      "\n%op = getelementptr float, ptr addrspace(1) %out, i32 %oi\n";
  for (int k = 0; k < sums; ++k) {
    std::string i = std::to_string(k);
    text += "%d" + i + " = extractvalue " + structure + " %d, " + i + "\n%e" + i +
            " = getelementptr float, ptr addrspace(1) %op, i32 " + i + "\nstore float %d" + i +
            ", ptr addrspace(1) %e" + i + "\n";
  }
  return text + "ret void }";
}

/// The chunk where chunk `chunk` of a row is put.
static int permute(int chunk, int row, int swizzle) {
  return chunk ^ (swizzle == 128 ? row % 8 : swizzle == 64 ? row / 2 % 4 : swizzle == 32 ? row / 4 % 2 : 0);
}

/// Byte offset of (row, k) of a K-major operand of 16 k: rows of `swizzle` bytes; without one, 8 x 8 matrices of 128
/// bytes, the two along k next to each other.
static int placeKMajor(int row, int k, int swizzle) {
  if (!swizzle)
    return row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2;
  return row * swizzle + permute(k / 8, row, swizzle) * 16 + k % 8 * 2;
}

/// Byte offset of (k, n) of an MN-major operand: panels of `swizzle` bytes of n and 16 k; without a swizzle, 8 x 8
/// matrices, along n first.
static int placeMnMajor(int k, int n, int size, int swizzle) {
  if (!swizzle)
    return k / 8 * size * 16 + n / 8 * 128 + k % 8 * 16 + n % 8 * 2;
  int width = swizzle / 2;
  return n / width * (16 * swizzle) + k * swizzle + permute(n % width / 8, k, swizzle) * 16 + n % 8 * 2;
}

static uint64_t makeDescriptor(uint64_t start, uint64_t leading, uint64_t stride, int swizzle) {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

static int valueA(int m, int k) { return m * 3 - k * 5 + (m * k) % 7; }
static int valueB(int k, int n) { return k * 7 - n + (n * k) % 5; }

namespace {
/// Operands of m64 nN k16: A at offset 0, B at 8192.
struct Product {
  static constexpr int kB = 8192;
  int n;
  bool isBf16;
  std::vector<uint16_t> image;
  std::vector<uint32_t> registers;

  Product(int n, bool isBf16) : n(n), isBf16(isBf16), image(32768), registers(128 * 4) {}
  uint16_t encode(int value) const { return isBf16 ? toBits(float(value)) >> 16 : floatToF16(float(value)); }

  void fillA(int swizzle) {
    for (int m = 0; m < 64; ++m)
      for (int k = 0; k < 16; ++k)
        image[placeKMajor(m, k, swizzle) / 2] = encode(valueA(m, k));
  }
  void fillRegisters() {
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < 4; ++i)
        for (int e = 0; e < 2; ++e) {
          int m = t / 32 * 16 + t % 32 / 4 + 8 * (i % 2), k = t % 4 * 2 + e + 8 * (i / 2);
          registers[t * 4 + i] |= uint32_t(encode(valueA(m, k))) << 16 * e;
        }
  }
  void fillB(int swizzle, bool isMnMajor) {
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < n; ++column)
        image[(kB + (isMnMajor ? placeMnMajor(k, column, n, swizzle) : placeKMajor(column, k, swizzle))) / 2] =
            encode(valueB(k, column));
  }
  /// bias: what the sums held before.
  void check(const std::vector<float> &out, float bias) const {
    for (int t = 0; t < 128; ++t)
      for (int x = 0; x < n / 2; ++x) {
        int m = t / 32 * 16 + t % 32 / 4 + 8 * (x / 2 % 2), column = x / 4 * 8 + t % 4 * 2 + x % 2;
        float expected = bias;
        for (int k = 0; k < 16; ++k)
          expected += float(valueA(m, k) * valueB(k, column));
        ASSERT_EQ(out[t * n / 2 + x], expected) << m << " " << column;
      }
  }
};
} // namespace

static std::string run(Program &program, Product &product, uint64_t a, uint64_t b, std::vector<float> &out,
                       const Options &options = Options()) {
  out.assign(128 * product.n / 2, -1);
  return Call(1, 128, 65536)
      .with(product.image.data())
      .with(int32_t(65536))
      .with(a)
      .with(b)
      .with(product.registers.data())
      .with(out.data())
      .run(program, options);
}

TEST(Wgmma, BothOperandsInSharedMemory) {
  for (int n : {8, 64, 256})
    for (bool isBf16 : {false, true})
      for (int keep : {0, 1}) {
        auto program = compile(makeKernel(n, isBf16 ? "bf16" : "f16", false, keep));
        ASSERT_TRUE(program);
        for (int swizzle : {0, 32, 64, 128}) {
          SCOPED_TRACE(std::to_string(n) + " " + std::to_string(swizzle));
          Product product(n, isBf16);
          product.fillA(swizzle);
          product.fillB(swizzle, false);
          uint64_t leading = swizzle ? 16 : 128, stride = swizzle ? 8 * swizzle : 256;
          std::vector<float> out;
          ASSERT_EQ(run(*program, product, makeDescriptor(0, leading, stride, swizzle),
                        makeDescriptor(Product::kB, leading, stride, swizzle), out),
                    "");
          product.check(out, keep ? 0.5f : 0.0f);
        }
      }
}

TEST(Wgmma, AInRegisters) {
  for (int n : {64, 128})
    for (bool isBf16 : {false, true}) {
      auto program = compile(makeKernel(n, isBf16 ? "bf16" : "f16", true, 1));
      ASSERT_TRUE(program);
      for (int swizzle : {0, 32, 64, 128}) {
        SCOPED_TRACE(std::to_string(n) + " " + std::to_string(swizzle));
        Product product(n, isBf16);
        product.fillRegisters();
        product.fillB(swizzle, true);
        // Without a swizzle the offsets change places.
        uint64_t leading = swizzle ? 16 * swizzle : n * 16, stride = swizzle ? 8 * swizzle : 128;
        std::vector<float> out;
        for (const Options &options : allModes()) {
          ASSERT_EQ(run(*program, product, 0, makeDescriptor(Product::kB, leading, stride, swizzle), out, options), "");
          product.check(out, 0.5f);
        }
      }
    }
}

/// K tiles of more than one swizzle row: a start 32 bytes further is the next 16 k.
TEST(Wgmma, StartsInsideASwizzledRow) {
  auto program = compile(makeKernel(8, "f16", false, 0));
  ASSERT_TRUE(program);
  Product product(8, false);
  for (int m = 0; m < 64; ++m)
    for (int k = 0; k < 16; ++k)
      product.image[placeKMajor(m, k + 32, 128) / 2] = product.encode(valueA(m, k));
  for (int column = 0; column < 8; ++column)
    for (int k = 0; k < 16; ++k)
      product.image[(Product::kB + placeKMajor(column, k + 16, 128)) / 2] = product.encode(valueB(k, column));
  std::vector<float> out;
  ASSERT_EQ(
      run(*program, product, makeDescriptor(64, 16, 1024, 128), makeDescriptor(Product::kB + 32, 16, 1024, 128), out),
      "");
  product.check(out, 0);
}

TEST(Wgmma, OperandsMustStayUntilTheWait) {
  // All threads overwrite two bytes of B: the race is known at once, the change at the first wait of lazy runs.
  const std::string overwrite = R"(
  %bad = getelementptr i8, ptr addrspace(3) @s, i32 8192
  store i16 77, ptr addrspace(3) %bad
)";
  auto program = compile(makeKernel(8, "f16", false, 0, overwrite));
  ASSERT_TRUE(program);
  Product product(8, false);
  product.fillA(128);
  product.fillB(128, false);
  for (Options options : allModes()) {
    std::vector<float> out;
    auto launch = [&] {
      return run(*program, product, makeDescriptor(0, 16, 1024, 128), makeDescriptor(Product::kB, 16, 1024, 128), out,
                 options);
    };
    std::string error = launch();
    EXPECT_NE(error.find(", at store #1: writes offset 8192 of shared memory, a race: warpgroup 0 reads "
                         "it at attn_dev_wgmma_m64n8k16_f32_f16_ss #0"),
              std::string::npos)
        << error;
    options.checkRaces = options.checkUninitialized = false;
    error = launch();
    if (options.lazyCopies)
      EXPECT_NE(
          error.find("an operand in shared memory of attn_dev_wgmma_m64n8k16_f32_f16_ss #0 has changed before this "
                     "wait for it"),
          std::string::npos)
          << error;
    else
      EXPECT_EQ(error, "");
  }
}

TEST(Wgmma, PlainStoresNeedAFence) {
  std::string text = makeKernel(8, "f16", false, 0);
  const std::string fence = "call void @llvm.nvvm.fence.proxy.async.shared_cta()";
  text.replace(text.find(fence), fence.size(), "");
  auto program = compile(text);
  ASSERT_TRUE(program);
  Product product(8, false);
  product.fillA(128);
  product.fillB(128, false);
  std::vector<float> out;
  std::string error =
      run(*program, product, makeDescriptor(0, 16, 1024, 128), makeDescriptor(Product::kB, 16, 1024, 128), out);
  EXPECT_NE(error.find("at attn_dev_wgmma_m64n8k16_f32_f16_ss #0: reads offset 0 of shared memory, which thread (0, 0, "
                       "0) wrote at store #0, without a fence.proxy.async in between"),
            std::string::npos)
      << error;
}

TEST(Wgmma, NeedsAWholeWarpgroup) {
  auto program = compile(makeKernel(8, "f16", false, 0));
  ASSERT_TRUE(program);
  std::vector<char> image(65536);
  std::vector<float> out(512);
  auto error = Call(1, 96, 65536)
                   .with(image.data())
                   .with(int32_t(65536))
                   .with(uint64_t(0))
                   .with(uint64_t(0))
                   .with(image.data())
                   .with(out.data())
                   .run(*program);
  EXPECT_NE(error.find("expects a warpgroup of 128 threads"), std::string::npos) << error;
}
