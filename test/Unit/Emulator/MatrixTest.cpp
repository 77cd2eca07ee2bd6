//===- MatrixTest.cpp - ldmatrix, stmatrix, mma.sync and wgmma ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are written down here a second time, from the PTX ISA, and products compared with plain loops.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTestUtil.h"
#include "lib/Emulator/Numbers.h"
#include <functional>

using namespace attn::emulator;
using namespace attn::emulator::test;

/// "name(type %p0, type %p1, ...)" arguments.
static std::string listArguments(const std::string &type, const std::string &prefix, int first, int count) {
  std::string text;
  for (int k = 0; k < count; ++k)
    text += (first || k ? ", " : "") + type + " %" + prefix + std::to_string(k);
  return text;
}

/// Loads %<prefix>0 ... of the thread from `pointer`, whose element is [thread][count].
static std::string loadRegisters(const std::string &type, const std::string &prefix, const std::string &pointer,
                                 int count) {
  std::string text = "%" + prefix + "i = mul i32 %t, " + std::to_string(count) + "\n%" + prefix + "p = getelementptr " +
                     type + ", ptr addrspace(1) " + pointer + ", i32 %" + prefix + "i\n";
  for (int k = 0; k < count; ++k) {
    std::string name = "%" + prefix + std::to_string(k);
    text += name + "q = getelementptr " + type + ", ptr addrspace(1) %" + prefix + "p, i32 " + std::to_string(k) +
            "\n" + name + " = load " + type + ", ptr addrspace(1) " + name + "q\n";
  }
  return text;
}

/// Stores the elements of the structure %d, or %d itself, to `pointer` as [thread][count].
static std::string storeResults(const std::string &type, const std::string &structure, const std::string &pointer,
                                int count) {
  std::string text = "%di = mul i32 %t, " + std::to_string(count) + "\n%dp = getelementptr " + type +
                     ", ptr addrspace(1) " + pointer + ", i32 %di\n";
  for (int k = 0; k < count; ++k) {
    std::string name = "%d" + std::to_string(k);
    std::string value = count == 1 ? "%d" : name;
    if (count > 1)
      text += name + " = extractvalue " + structure + " %d, " + std::to_string(k) + "\n";
    text += name + "q = getelementptr " + type + ", ptr addrspace(1) %dp, i32 " + std::to_string(k) + "\nstore " +
            type + " " + value + ", ptr addrspace(1) " + name + "q\n";
  }
  return text;
}

static std::string makeStructure(const std::string &type, int count) {
  if (count == 1)
    return type;
  std::string text = "{" + type;
  for (int k = 1; k < count; ++k)
    text += ", " + type;
  return text + "}";
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Rows of 16 bytes; lane l has the address of row 5 l mod 32, so that the order of addresses matters.
static std::string makeMoveKernel(bool loads, int matrices, bool transposes) {
  std::string suffix =
      "matrix.sync.aligned.m8n8.x" + std::to_string(matrices) + (transposes ? ".trans" : "") + ".b16.p3";
  std::string structure = makeStructure("i32", matrices);
  std::string move = loads ? "%d = call " + structure + " @llvm.nvvm.ld" + suffix + "(ptr addrspace(3) %row)\n" +
                                 storeResults("i32", structure, "%out", matrices)
                           : loadRegisters("i32", "r", "%in", matrices) + "call void @llvm.nvvm.st" + suffix +
                                 "(ptr addrspace(3) %row" + listArguments("i32", "r", 1, matrices) + ")\n";
  std::string before = R"(
  %from = getelementptr <4 x i32>, ptr addrspace(1) %in, i32 %t
  %part = load <4 x i32>, ptr addrspace(1) %from
  store <4 x i32> %part, ptr addrspace(3) %own
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
)";
  std::string after = R"(
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %back = load <4 x i32>, ptr addrspace(3) %own
  %to = getelementptr <4 x i32>, ptr addrspace(1) %out, i32 %t
  store <4 x i32> %back, ptr addrspace(1) %to
)";
  return R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr <4 x i32>, ptr addrspace(3) @s, i32 %t
  %five = mul i32 %t, 5
  %place = and i32 %five, 31
  %row = getelementptr <4 x i32>, ptr addrspace(3) @s, i32 %place
)" +
         (loads ? before + move
                : "store <4 x i32> zeroinitializer, ptr addrspace(3) %own\n"
                  "call void @llvm.nvvm.bar.warp.sync(i32 -1)\n" +
                      move + after) +
         "ret void }";
}

/// The element that lane l holds in half e of register m: matrix m's (g, 2t + e), or transposed (2t + e, g); rows are
/// in the order of the lanes' addresses.
static int findElement(int lane, int matrix, int half, bool transposes) {
  int row = transposes ? lane % 4 * 2 + half : lane / 4;
  int column = transposes ? lane / 4 : lane % 4 * 2 + half;
  int address = (matrix * 8 + row) * 5 % 32;
  return address * 8 + column;
}

TEST(Matrix, LdmatrixHasTheIsasLayout) {
  std::vector<uint16_t> in(256);
  for (int k = 0; k < 256; ++k)
    in[k] = uint16_t(1000 + k);
  for (int matrices : {1, 2, 4})
    for (bool transposes : {false, true}) {
      auto program = compile(makeMoveKernel(true, matrices, transposes));
      ASSERT_TRUE(program);
      std::vector<uint16_t> out(32 * matrices * 2);
      ASSERT_EQ(Call(1, 32, 512).with(in.data()).with(out.data()).run(*program), "");
      for (int lane = 0; lane < 32; ++lane)
        for (int k = 0; k < matrices * 2; ++k)
          ASSERT_EQ(out[lane * matrices * 2 + k], 1000 + findElement(lane, k / 2, k % 2, transposes));
    }
}

TEST(Matrix, StmatrixIsItsInverse) {
  for (int matrices : {1, 2, 4})
    for (bool transposes : {false, true}) {
      auto program = compile(makeMoveKernel(false, matrices, transposes));
      ASSERT_TRUE(program);
      std::vector<uint16_t> in(32 * matrices * 2), out(256, 7), expected(256, 0);
      for (int lane = 0; lane < 32; ++lane)
        for (int k = 0; k < matrices * 2; ++k) {
          in[lane * matrices * 2 + k] = uint16_t(1000 + lane * 8 + k);
          expected[findElement(lane, k / 2, k % 2, transposes)] = uint16_t(1000 + lane * 8 + k);
        }
      ASSERT_EQ(Call(1, 32, 512).with(in.data()).with(out.data()).run(*program), "");
      EXPECT_EQ(out, expected);
    }
}

TEST(Matrix, RowsOfLdmatrixAreAlignedAndInRange) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(i32 %step) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = mul i32 %t, %step
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  %d = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %p)
  ret void
})");
  ASSERT_TRUE(program);
  Options unchecked;
  unchecked.checkUninitialized = false;
  EXPECT_EQ(Call(1, 32, 128).with(int32_t(16)).run(*program, unchecked), "");
  auto error = Call(1, 32, 128).with(int32_t(24)).run(*program, unchecked);
  EXPECT_NE(error.find("thread (1, 0, 0), at llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3 #0: accesses offset 24 of "
                       "shared memory, which is not a multiple of 16"),
            std::string::npos)
      << error;
  error = Call(1, 32, 120).with(int32_t(16)).run(*program, unchecked);
  EXPECT_NE(error.find("thread (7, 0, 0)"), std::string::npos) << error;
  EXPECT_NE(Call(1, 40, 128).with(int32_t(16)).run(*program, unchecked).find("expects a warp of 32 threads, but got 8"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
struct MmaCase {
  const char *name;
  /// IR type of a register of A and B, and of C and D.
  const char *operand, *sum;
  int m, k;
  /// Elements in a register of A and B; bytes of one.
  int packed, bytes;
  std::function<uint64_t(int)> encode;
};
} // namespace

static uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static const MmaCase kMmaCases[] = {
    {"m16n8k16.row.col.f32.f32", "<2 x half>", "float", 16, 16, 2, 2, [](int v) { return floatToF16(float(v)); }},
    {"m16n8k8.row.col.f32.f32", "<2 x half>", "float", 16, 8, 2, 2, [](int v) { return floatToF16(float(v)); }},
    {"m16n8k16.row.col.bf16", "i32", "float", 16, 16, 2, 2, [](int v) { return toBits(float(v)) >> 16; }},
    {"m16n8k8.row.col.bf16", "i32", "float", 16, 8, 2, 2, [](int v) { return toBits(float(v)) >> 16; }},
    // The low bits of a tf32 do not count.
    {"m16n8k8.row.col.tf32", "i32", "float", 16, 8, 1, 4, [](int v) { return toBits(float(v)) | 0x1FFF; }},
    {"m16n8k4.row.col.tf32", "i32", "float", 16, 4, 1, 4, [](int v) { return toBits(float(v)) | 0x1FFF; }},
    {"m8n8k4.row.col.f64", "double", "double", 8, 4, 1, 8, [](int v) { return bitsOf(v); }},
    {"m16n8k4.row.col.f64", "double", "double", 16, 4, 1, 8, [](int v) { return bitsOf(v); }},
    {"m16n8k8.row.col.f64", "double", "double", 16, 8, 1, 8, [](int v) { return bitsOf(v); }},
    {"m16n8k16.row.col.f64", "double", "double", 16, 16, 1, 8, [](int v) { return bitsOf(v); }}};

/// Distinct small numbers that every type holds exactly.
static int valueA(int m, int k) { return m * 8 + k - 60; }
static int valueB(int k, int n) { return k * 8 + n - 50; }
static int valueC(int m, int n) { return 1000 + m * 8 + n; }

/// Where a lane's elements lie (PTX ISA): A's e'th element.
static void findA(const MmaCase &test, int lane, int e, int &row, int &column) {
  int reg = e / test.packed, half = e % test.packed, groups = test.m / 8;
  row = lane / 4 + 8 * (reg % groups);
  column = lane % 4 * test.packed + half + 4 * test.packed * (reg / groups);
}
static void findB(const MmaCase &test, int lane, int e, int &row, int &column) {
  row = lane % 4 * test.packed + e % test.packed + 4 * test.packed * (e / test.packed);
  column = lane / 4;
}

static std::string makeMmaKernel(const MmaCase &test, int registersA, int registersB, int sums) {
  std::string structure = makeStructure(test.sum, sums);
  return std::string(
             "define ptx_kernel void @kernel(ptr addrspace(1) %pa, ptr addrspace(1) %pb, ptr addrspace(1) %pc, ") +
         "ptr addrspace(1) %pd) {\n%t = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n" +
         loadRegisters(test.operand, "a", "%pa", registersA) + loadRegisters(test.operand, "b", "%pb", registersB) +
         loadRegisters(test.sum, "c", "%pc", sums) + "%d = call " + structure + " @llvm.nvvm.mma." + test.name + "(" +
         listArguments(test.operand, "a", 0, registersA) + listArguments(test.operand, "b", 1, registersB) +
         listArguments(test.sum, "c", 1, sums) + ")\n" + storeResults(test.sum, structure, "%pd", sums) + "ret void }";
}

template <typename Sum> static void checkMma(const MmaCase &test) {
  SCOPED_TRACE(test.name);
  const int elementsA = test.m * test.k / 32, elementsB = test.k * 8 / 32, sums = test.m * 8 / 32;
  auto program = compile(makeMmaKernel(test, elementsA / test.packed, elementsB / test.packed, sums));
  ASSERT_TRUE(program);
  std::vector<char> a(32 * elementsA * test.bytes), b(32 * elementsB * test.bytes);
  std::vector<Sum> c(32 * sums), d(32 * sums);
  int row, column;
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < elementsA; ++e) {
      findA(test, lane, e, row, column);
      uint64_t bits = test.encode(valueA(row, column));
      std::memcpy(&a[(lane * elementsA + e) * test.bytes], &bits, test.bytes);
    }
    for (int e = 0; e < elementsB; ++e) {
      findB(test, lane, e, row, column);
      uint64_t bits = test.encode(valueB(row, column));
      std::memcpy(&b[(lane * elementsB + e) * test.bytes], &bits, test.bytes);
    }
    for (int e = 0; e < sums; ++e)
      c[lane * sums + e] = Sum(valueC(lane / 4 + 8 * (e / 2), lane % 4 * 2 + e % 2));
  }
  ASSERT_EQ(Call(1, 32).with(a.data()).with(b.data()).with(c.data()).with(d.data()).run(*program), "");
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < sums; ++e) {
      int m = lane / 4 + 8 * (e / 2), n = lane % 4 * 2 + e % 2, expected = valueC(m, n);
      for (int k = 0; k < test.k; ++k)
        expected += valueA(m, k) * valueB(k, n);
      ASSERT_EQ(d[lane * sums + e], Sum(expected)) << m << " " << n;
    }
}

TEST(Matrix, MmaMultiplies) {
  for (const MmaCase &test : kMmaCases) {
    if (test.sum == std::string("float"))
      checkMma<float>(test);
    else
      checkMma<double>(test);
  }
}

TEST(Matrix, MmaSumsInF16WhereAsked) {
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %d = call {<2 x half>, <2 x half>} @llvm.nvvm.mma.m16n8k16.row.col.f16.f16(<2 x half> <half 2.0, half 2.0>, <2 x half> <half 2.0, half 2.0>, <2 x half> <half 2.0, half 2.0>, <2 x half> <half 2.0, half 2.0>, <2 x half> <half 3.0, half 3.0>, <2 x half> <half 3.0, half 3.0>, <2 x half> <half 1.0, half 2.0>, <2 x half> <half 4096.0, half 8192.0>)
)" + storeResults("<2 x half>", "{<2 x half>, <2 x half>}", "%out", 2) +
                         "ret void }");
  ASSERT_TRUE(program);
  std::vector<uint16_t> out(32 * 4);
  ASSERT_EQ(Call(1, 32).with(out.data()).run(*program), "");
  // 16 * 2 * 3 = 96; from 8192 on f16 has steps of 8.
  for (int k = 0; k < 32 * 4; ++k)
    EXPECT_EQ(f16ToFloat(out[k]), (std::array<float, 4>{97, 98, 4192, 8288})[k % 4]);
}
