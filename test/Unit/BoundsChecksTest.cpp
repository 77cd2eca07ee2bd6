//===- BoundsChecksTest.cpp - code that would leave its memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs at the level of memory, with faults put in: each kind of access, through views that are wrong.
//
//===----------------------------------------------------------------------===//

#include "GuardedMemory.h"
#include "JitTestUtil.h"

using namespace attn;
using namespace jit_test;

namespace {

/// @f(%a: 8 floats, %b: 8 floats, %i): `body` has the constants %c0, %c1 and %one, and the vectors %three (lanes 0 to 2
/// of 4), %ones and %iota; %v is %a as if it had 64 elements.
std::string program(const std::string &body) {
  return R"(
memref.global "private" constant @table : memref<8xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %three = arith.constant dense<[true, true, true, false]> : vector<4xi1>
  %ones = arith.constant dense<1.0> : vector<4xf32>
  %iota = arith.constant dense<[0, 1, 2, 30]> : vector<4xindex>
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [64], strides: [1] : memref<8xf32> to memref<64xf32>
)" + body +
         "\n  return\n}\n";
}

class CheckedProgram {
public:
  explicit CheckedProgram(const std::string &source, bool optimize = true)
      : compiled(compileChecked(source, optimize)) {
    EXPECT_TRUE(compiled.jit) << compiled.error << source;
  }

  /// The error of a run at an index, or nothing. Nothing outside of %a and %b is touched.
  std::string run(int64_t index, attn_rt_pool *pool = nullptr) {
    GuardedVector<float> a(8), b(8);
    std::fill(a.begin(), a.end(), 2.0f);
    std::fill(b.begin(), b.end(), 3.0f);
    Buffer<float, 1> first = {a.data(), a.data(), 0, {8}, {1}}, second = {b.data(), b.data(), 0, {8}, {1}};
    attn_rt_call_result result = call(compiled.entry("f"), {&first, &second, &index}, pool);
    EXPECT_EQ(result.code, *result.message ? ATTN_RT_OUT_OF_BOUNDS : ATTN_RT_OK);
    EXPECT_TRUE(a.isIntact() && b.isIntact());
    return result.message;
  }

private:
  static Compiled compileChecked(const std::string &source, bool optimize) {
    PipelineOptions options;
    options.checkBounds = true;
    return compile(source, options, {}, optimize);
  }
  Compiled compiled;
};

struct Fault {
  const char *name;
  const char *body;
  /// The last index that is right, and the error of the next one.
  int64_t last;
  const char *error;
};

const Fault kFaults[] = {
    {"load",
     R"(%x = memref.load %v[%i] : memref<64xf32> loc("view.mlir":3:7) memref.store %x, %b[%c0] : memref<8xf32>)", 7,
     "compiled code reads 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:3:7"},
    {"store", R"(memref.store %one, %v[%i] : memref<64xf32> loc("view.mlir":4:1))", 7,
     "compiled code writes 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:4:1"},
    {"in_front", R"(%n = arith.subi %c0, %i : index
      memref.store %one, %v[%n] : memref<64xf32> loc("view.mlir":4:1))",
     0,
     "compiled code writes 4 bytes at byte -4 (element -1) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:4:1"},
    {"vector", R"(%x = vector.load %v[%i] : memref<64xf32>, vector<4xf32> loc("view.mlir":5:1)
      vector.store %x, %b[%c0] : memref<8xf32>, vector<4xf32>)",
     4,
     "compiled code reads 16 bytes at byte 20 (element 5) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:5:1"},
    {"masked_load", R"(%x = vector.maskedload %v[%i], %three, %ones : memref<64xf32>, vector<4xi1>, vector<4xf32>
        into vector<4xf32> loc("view.mlir":6:1)
      vector.store %x, %b[%c0] : memref<8xf32>, vector<4xf32>)",
     5,
     "compiled code reads 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:6:1"},
    {"masked_store", R"(vector.maskedstore %v[%i], %three, %ones : memref<64xf32>, vector<4xi1>, vector<4xf32>
        loc("view.mlir":7:1))",
     5,
     "compiled code writes 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:7:1"},
    {"gather", R"(%x = vector.gather %v[%i] [%iota], %three, %ones : memref<64xf32>, vector<4xindex>, vector<4xi1>,
        vector<4xf32> into vector<4xf32> loc("view.mlir":8:1)
      vector.store %x, %b[%c0] : memref<8xf32>, vector<4xf32>)",
     5,
     "compiled code reads 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:8:1"},
    {"scatter", R"(vector.scatter %v[%i] [%iota], %three, %ones : memref<64xf32>, vector<4xindex>, vector<4xi1>,
        vector<4xf32> loc("view.mlir":9:1))",
     5,
     "compiled code writes 4 bytes at byte 32 (element 8) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:9:1"},
    {"copy",
     R"(%x = memref.reinterpret_cast %a to offset: [0], sizes: [%i], strides: [1] : memref<8xf32> to memref<?xf32>
      %t = memref.alloc(%i) : memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32> loc("view.mlir":10:1)
      memref.dealloc %t : memref<?xf32>)",
     8,
     "compiled code reads 36 bytes at byte 0 (element 0) of input 0, which has 32 bytes; the code comes from "
     "view.mlir:10:1"},
    {"buffer", R"(%t = memref.alloc() : memref<8xf32>
      %x = memref.reinterpret_cast %t to offset: [0], sizes: [64], strides: [1] : memref<8xf32> to memref<64xf32>
      memref.store %one, %x[%i] : memref<64xf32> loc("view.mlir":11:1)
      memref.dealloc %t : memref<8xf32>)",
     7,
     "compiled code writes 4 bytes at byte 32 of a temporary buffer, which has 32 bytes; the code comes from "
     "view.mlir:11:1"},
    {"variable", R"(%t = memref.alloca() : memref<8xf32>
      %x = memref.reinterpret_cast %t to offset: [0], sizes: [64], strides: [1] : memref<8xf32> to memref<64xf32>
      memref.store %one, %x[%i] : memref<64xf32> loc("view.mlir":12:1)
      %y = memref.load %x[%c1] : memref<64xf32>
      memref.store %y, %b[%c0] : memref<8xf32>)",
     7,
     "compiled code writes 4 bytes at byte 32 of a variable of its own, which has 32 bytes; the code comes from "
     "view.mlir:12:1"},
    {"constant", R"(%t = memref.get_global @table : memref<8xf32>
      %x = memref.load %t[%i] : memref<8xf32> loc("view.mlir":13:1)
      memref.store %x, %b[%c0] : memref<8xf32>)",
     7,
     "compiled code reads 4 bytes at byte 32 of a variable of its own, which has 32 bytes; the code comes from "
     "view.mlir:13:1"},
};

class BoundsChecks : public testing::TestWithParam<Fault> {};

struct PoolDeleter {
  void operator()(attn_rt_pool *pool) const { attn_rt_pool_destroy(pool); }
};

} // namespace

TEST_P(BoundsChecks, NameTheFirstOffender) {
  for (bool optimize : {true, false}) {
    CheckedProgram checked(program(GetParam().body), optimize);
    EXPECT_EQ(checked.run(0), "");
    EXPECT_EQ(checked.run(GetParam().last), "");
    EXPECT_EQ(checked.run(GetParam().last + 1), GetParam().error) << "optimize " << optimize;
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, BoundsChecks, testing::ValuesIn(kFaults),
                         [](const auto &info) { return std::string(info.param.name); });

/// Wherever an address leads, it belongs to what it was computed from.
TEST(BoundsChecksTest, AnotherOperandIsOutside) {
  PipelineOptions options;
  options.checkBounds = true;
  Compiled compiled = compile(program(R"(
      %x = memref.load %v[%i] : memref<64xf32> loc("view.mlir":3:7)
      memref.store %x, %b[%c0] : memref<8xf32>)"),
                              options);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  std::vector<float> both(16, 1.0f);
  Buffer<float, 1> first = {both.data(), both.data(), 0, {8}, {1}};
  Buffer<float, 1> second = {both.data() + 8, both.data() + 8, 0, {8}, {1}};
  int64_t index = 10;
  attn_rt_call_result result = call(compiled.entry("f"), {&first, &second, &index});
  EXPECT_EQ(std::string(result.message).substr(0, 82),
            "compiled code reads 4 bytes at byte 40 (element 10) of input 0, which has 32 bytes");
}

TEST(BoundsChecksTest, GapsBetweenRowsAreOutside) {
  PipelineOptions options;
  options.checkBounds = true;
  Compiled compiled = compile(R"(
    func.func @f(%a: memref<3x4xf32, strided<[6, 1], offset: ?>>, %i: index) {
      %one = arith.constant dense<1.0> : vector<2xf32>
      %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<3x4xf32, strided<[6, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
      %v = memref.reinterpret_cast %base to offset: [%offset], sizes: [64], strides: [1] : memref<f32> to memref<64xf32, strided<[1], offset: ?>>
      vector.store %one, %v[%i] : memref<64xf32, strided<[1], offset: ?>>, vector<2xf32> loc("view.mlir":3:7)
      return
    })",
                              options);
  ASSERT_TRUE(compiled.jit) << compiled.error;
  GuardedVector<float> memory(16 + 3);
  Buffer<float, 2> a = {memory.data(), memory.data(), 3, {3, 4}, {6, 1}};
  for (int64_t index = 0; index < 20; ++index) {
    attn_rt_call_result result = call(compiled.entry("f"), {&a, &index});
    bool isGap = index < 14 && index % 6 > 2;
    EXPECT_EQ(result.code, isGap || index > 14 ? ATTN_RT_OUT_OF_BOUNDS : ATTN_RT_OK) << index;
    if (isGap) {
      EXPECT_EQ(std::string(result.message), "compiled code writes 8 bytes at byte " + std::to_string(index * 4) +
                                                 " (element " + std::to_string(index) +
                                                 ") of input 0, between its rows; the code comes from view.mlir:3:7");
    }
  }
}

TEST(BoundsChecksTest, FreedBuffersAreOutside) {
  CheckedProgram checked(program(R"(%t = memref.alloc(%i) : memref<?xf32>
      memref.store %one, %t[%c0] : memref<?xf32>
      memref.dealloc %t : memref<?xf32>
      %x = memref.load %t[%c1] : memref<?xf32>
      memref.store %x, %b[%c0] : memref<8xf32>)"));
  EXPECT_NE(checked.run(8).find("of the address space, where the call has no memory or has none any more"),
            std::string::npos);
}

/// In a loop of several threads, too, with scratch, and for any number of threads.
TEST(BoundsChecksTest, TheLowestItemIsNamed) {
  CheckedProgram checked(program(R"(scf.forall (%k) in (8) {
        %s = memref.alloc() : memref<16xf32>
        memref.store %one, %s[%k] : memref<16xf32>
        %y = memref.load %s[%k] : memref<16xf32>
        %n = arith.muli %k, %i : index
        memref.store %y, %v[%n] : memref<64xf32> loc("view.mlir":3:7)
        memref.dealloc %s : memref<16xf32>
      })"));
  for (int64_t threads : {1, 4}) {
    std::unique_ptr<attn_rt_pool, PoolDeleter> pool(attn_rt_pool_create(threads));
    EXPECT_EQ(checked.run(1, pool.get()), "");
    for (int repeat = 0; repeat < 5; ++repeat)
      EXPECT_EQ(checked.run(3, pool.get()), "compiled code writes 4 bytes at byte 36 (element 9) of input 0, which has "
                                            "32 bytes; the code comes from view.mlir:3:7");
  }
}

TEST(BoundsChecksTest, PrefetchesTouchNothing) {
  CheckedProgram checked(program("memref.prefetch %v[%i], read, locality<2>, data : memref<64xf32>"));
  EXPECT_EQ(checked.run(60), "");
}
