//===- AsyncCopyTest.cpp - cp.async, bulk copies of bytes, atomics ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatorTestUtil.h"
#include <numeric>

using namespace attn::emulator;
using namespace attn::emulator::test;

static std::vector<int32_t> iota(size_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

/// Each thread copies `bytes` to shared memory, of which it reads %n, and gives what came, in 32-bit words.
static std::string makeCopyKernel(const std::string &name, int bytes) {
  std::string text = R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = mul i32 %t, BYTES
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  %g = getelementptr i8, ptr addrspace(1) %in, i32 %o
  call void @llvm.nvvm.cp.async.NAME.shared.global.BYTES.s(ptr addrspace(3) %p, ptr addrspace(1) %g, i32 %n)
  call void @llvm.nvvm.cp.async.wait.all()
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %o
  %v = load [WORDS x i32], ptr addrspace(3) %p
  store [WORDS x i32] %v, ptr addrspace(1) %to
  ret void
})";
  auto replace = [&](const std::string &what, const std::string &by) {
    for (size_t at; (at = text.find(what)) != std::string::npos;)
      text.replace(at, what.size(), by);
  };
  replace("BYTES", std::to_string(bytes));
  replace("WORDS", std::to_string(bytes / 4));
  replace("NAME", name);
  return text;
}

TEST(AsyncCopy, FillsTheRestWithZeros) {
  const std::pair<const char *, int> kinds[] = {{"ca", 4}, {"ca", 8}, {"ca", 16}, {"cg", 16}};
  for (auto [name, bytes] : kinds) {
    auto program = compile(makeCopyKernel(name, bytes));
    ASSERT_TRUE(program);
    const int words = bytes / 4;
    std::vector<int32_t> in = iota(size_t(32) * words);
    for (int valid = 0; valid <= bytes; valid += 4)
      for (const Options &options : allModes()) {
        DeviceMemory<int32_t> source(in.size()), out(in.size(), -1);
        std::copy(in.begin(), in.end(), source.get());
        ASSERT_EQ(
            Call(1, 32, 32 * bytes).with(source.get()).with(out.get()).with(int32_t(valid)).run(*program, options), "");
        for (int k = 0; k < 32 * words; ++k)
          ASSERT_EQ(out[k], k % words * 4 < valid ? in[k] : 0);
      }
  }
}

TEST(AsyncCopy, ChecksWhatItIsGiven) {
  auto program = compile(makeCopyKernel("ca", 8));
  ASSERT_TRUE(program);
  DeviceMemory<int32_t> memory(128);
  auto run = [&](int64_t shift, int32_t valid, int64_t shared = 256) {
    return Call(1, 32, shared)
        .with(reinterpret_cast<char *>(memory.get()) + shift)
        .with(memory.get())
        .with(valid)
        .run(*program);
  };
  EXPECT_NE(run(4, 8).find("reads a global address that is not a multiple of 8"), std::string::npos);
  EXPECT_NE(run(0, 9).find("expects to read at most 8 bytes, but got 9"), std::string::npos);
  EXPECT_NE(run(0, 8, 252).find("thread (31, 0, 0), at llvm.nvvm.cp.async.ca.shared.global.8.s #0: accesses 8 bytes at "
                                "offset 248 of shared memory, which has 252 bytes"),
            std::string::npos);
}

/// A barrier in shared memory that COUNT arrivals complete, initialised by thread 0; BODY; then all wait for it, and
/// each thread gives the word of its mirror image.
static std::string makeBarrierKernel(const std::string &count, const std::string &body) {
  return R"(
@bar = internal addrspace(3) global i64 undef, align 8
@s = external addrspace(3) global [0 x i8], align 128
declare void @attn_dev_mbarrier_wait(ptr addrspace(3), i32)
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 )" +
         count + R"()
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
)" + body +
         R"(
  call void @attn_dev_mbarrier_wait(ptr addrspace(3) @bar, i32 0)
  %m = sub i32 63, %t
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %m
  %v = load i32, ptr addrspace(3) %q
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %to
  ret void
})";
}

static void checkMirrored(const std::string &text) {
  auto program = compile(text);
  ASSERT_TRUE(program);
  for (const Options &options : allModes()) {
    DeviceMemory<int32_t> in(64), out(64);
    std::iota(in.get(), in.get() + 64, 1);
    ASSERT_EQ(Call(1, 64, 256).with(in.get()).with(out.get()).run(*program, options), "");
    for (int k = 0; k < 64; ++k)
      ASSERT_EQ(out[k], 64 - k);
  }
}

TEST(AsyncCopy, ArrivesAtAnMBarrier) {
  const std::string copy = R"(
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  %g = getelementptr i32, ptr addrspace(1) %in, i32 %t
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %p, ptr addrspace(1) %g)
)";
  // The arrival of the copies is the thread's own, or one more beside it.
  checkMirrored(makeBarrierKernel(
      "64", copy + "call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @bar)\n"));
  checkMirrored(
      makeBarrierKernel("64", copy + "call void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3) @bar)\n"
                                     "%k = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)\n"));
  // A plain arrival says nothing of the copies.
  auto program = compile(
      makeBarrierKernel("64", copy + "%k = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)\n"));
  ASSERT_TRUE(program);
  DeviceMemory<int32_t> in(64), out(64);
  EXPECT_NE(Call(1, 64, 256).with(in.get()).with(out.get()).run(*program).find("nothing has waited for"),
            std::string::npos);
}

TEST(BulkCopy, LoadsBytesInARow) {
  checkMirrored(makeBarrierKernel("1", R"(
  br i1 %isFirst, label %issue, label %wait
issue:
  %k = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 256)
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) @s, ptr addrspace(3) @bar, ptr addrspace(1) %in, i32 256, i64 0, i1 false)
  br label %wait
wait:
)"));
}

TEST(BulkCopy, StoresBytesInARow) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 128
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %bytes) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store i32 %t, ptr addrspace(3) %p
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %e = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)
  %isElected = extractvalue {i32, i1} %e, 1
  br i1 %isElected, label %issue, label %end
issue:
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %out, ptr addrspace(3) @s, i32 %bytes, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:
  ret void
})");
  ASSERT_TRUE(program);
  for (const Options &options : allModes()) {
    DeviceMemory<int32_t> out(32, -1);
    ASSERT_EQ(Call(1, 32, 128).with(out.get()).with(int32_t(96)).run(*program, options), "");
    for (int k = 0; k < 32; ++k)
      ASSERT_EQ(out[k], k < 24 ? k : -1);
    EXPECT_NE(Call(1, 32, 128).with(out.get()).with(int32_t(100)).run(*program, options).find("multiples of 16"),
              std::string::npos);
  }
}

TEST(Shared, AtomicsNeedNoOrder) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %init, label %ready
init:
  store i32 5, ptr addrspace(3) @s
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %old = atomicrmw add ptr addrspace(3) @s, i32 %t monotonic
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load i32, ptr addrspace(3) @s
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %to
  ret void
})");
  ASSERT_TRUE(program);
  std::vector<int32_t> out(96);
  ASSERT_EQ(Call(1, 96, 16).with(out.data()).run(*program), "");
  for (int32_t value : out)
    EXPECT_EQ(value, 5 + 95 * 96 / 2);
}

TEST(Shared, GenericPointersAreCheckedToo) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr %out, i32 %stride) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = mul i32 %t, %stride
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  %q = addrspacecast ptr addrspace(3) %p to ptr
  store i32 %t, ptr %q
  %v = load i32, ptr %q
  %to = getelementptr i32, ptr %out, i32 %t
  store i32 %v, ptr %to
  ret void
})");
  ASSERT_TRUE(program);
  std::vector<int32_t> out(32);
  ASSERT_EQ(Call(1, 32, 128).with(out.data()).with(int32_t(4)).run(*program), "");
  for (int k = 0; k < 32; ++k)
    EXPECT_EQ(out[k], k);
  EXPECT_NE(Call(1, 32, 128).with(out.data()).with(int32_t(0)).run(*program).find("a race"), std::string::npos);
  EXPECT_NE(Call(1, 32, 124).with(out.data()).with(int32_t(4)).run(*program).find("accesses 4 bytes at offset 124"),
            std::string::npos);
}
