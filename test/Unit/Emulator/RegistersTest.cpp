//===- RegistersTest.cpp - setmaxnreg -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of 384 threads starts with 168 registers each: 65536 / 384 in steps of 8. What the first 128 give up is what
// the other 256 may take: p + 2 c <= 3 * 168 = 504.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTestUtil.h"

using namespace attn::emulator;
using namespace attn::emulator::test;

/// The first warpgroup keeps `fewer` registers, the others take `more`.
static std::string runRoles(int fewer, int more, const Options &options) {
  auto program = compile(R"(
define ptx_kernel void @kernel() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %t, 128
  br i1 %first, label %give, label %take
give:
  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 )" +
                         std::to_string(fewer) + R"()
  ret void
take:
  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 )" +
                         std::to_string(more) + R"()
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32)
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)
)");
  return program ? Call(2, 384).run(*program, options) : "no program";
}

TEST(Registers, RolesShareWhatTheBlockHas) {
  for (const Options &options : allModes())
    for (auto [fewer, more] : {std::pair(24, 240), {40, 232}, {56, 224}, {168, 168}})
      EXPECT_EQ(runRoles(fewer, more, options), "") << fewer << " and " << more;
}

TEST(Registers, MoreThanTheBlockHasIsWaitedForInVain) {
  for (const Options &options : allModes()) {
    // 128 * 120 are given up, 256 * 64 asked for.
    std::string error = runRoles(48, 232, options);
    EXPECT_NE(error.find("deadlock"), std::string::npos) << error;
    EXPECT_NE(error.find("for 64 more registers: the block has 0 free"), std::string::npos) << error;
  }
}

TEST(Registers, TheDirectionIsChecked) {
  EXPECT_NE(runRoles(176, 176, Options()).find("expects at most the 168 registers that the thread has, but got 176"),
            std::string::npos);
  EXPECT_NE(runRoles(160, 160, Options()).find("expects at least the 168 registers that the thread has, but got 160"),
            std::string::npos);
}

TEST(Registers, OpaqueValuesAreWhatTheyAre) {
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %a = call i32 @attn_dev_opaque_i32(i32 -7)
  %b = call i64 @attn_dev_opaque_i64(i64 6000000000)
  %c = sext i32 %a to i64
  %d = add i64 %b, %c
  store i64 %d, ptr addrspace(1) %out
  ret void
}
declare i32 @attn_dev_opaque_i32(i32)
declare i64 @attn_dev_opaque_i64(i64)
)");
  ASSERT_TRUE(program);
  int64_t out = 0;
  EXPECT_EQ(Call(1, 1).with(&out).run(*program), "");
  EXPECT_EQ(out, 5999999993);
}
