//===- LaunchTest.cpp - launches, parameters and registers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatorTestUtil.h"
#include <thread>

using namespace attn::emulator;
using namespace attn::emulator::test;

/// Each thread writes a number of its own place: 5 registers.
static const char *placesKernel = R"(
define internal i32 @helper(i32 %a, i32 %b) {
  %w = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %x = mul i32 %w, 32
  %y = add i32 %x, %l
  %z = sub i32 %y, %a
  %r = add i32 %z, %b
  ret i32 %r
}
define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %bias) "nvvm.maxntid"="128" {
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %nz = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %bz = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %gx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %gy = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %t0 = mul i32 %tz, %ny
  %t1 = add i32 %t0, %ty
  %t2 = mul i32 %t1, %nx
  %t = add i32 %t2, %tx
  %b0 = mul i32 %bz, %gy
  %b1 = add i32 %b0, %by
  %b2 = mul i32 %b1, %gx
  %b = add i32 %b2, %bx
  %n0 = mul i32 %nx, %ny
  %n = mul i32 %n0, %nz
  %s = mul i32 %b, %n
  %i = add i32 %s, %t
  %v = call i32 @helper(i32 %t, i32 %i)
  %w = add i32 %v, %bias
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %w, ptr addrspace(1) %p
  ret void
})";

TEST(Launch, ThreadsKnowTheirPlaces) {
  auto program = compile(placesKernel);
  ASSERT_TRUE(program);
  constexpr int kThreads = 3 * 5 * 7, kBlocks = 2 * 3 * 4;
  for (int64_t workers : {1, 3}) {
    DeviceMemory<int32_t> out(kBlocks * kThreads, -1);
    Call call(2, 3);
    std::copy_n(std::begin({int64_t(2), int64_t(3), int64_t(4)}), 3, call.launch.grid);
    std::copy_n(std::begin({int64_t(3), int64_t(5), int64_t(7)}), 3, call.launch.block);
    Options options;
    options.threads = workers;
    ASSERT_EQ(call.with(out.get()).with(int32_t(1000)).run(*program, options), "");
    for (int32_t k = 0; k < kBlocks * kThreads; ++k)
      ASSERT_EQ(out[k], k + 1000);
  }
}

TEST(Launch, MayOverlap) {
  auto program = compile(placesKernel);
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(4);
  std::vector<std::unique_ptr<DeviceMemory<int32_t>>> outs;
  for (int k = 0; k < 4; ++k)
    outs.push_back(std::make_unique<DeviceMemory<int32_t>>(8 * 64, -1));
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] { errors[k] = Call(8, 64).with(outs[k]->get()).with(int32_t(k)).run(*program); });
  for (std::thread &thread : threads)
    thread.join();
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(errors[k], "");
    for (int32_t at = 0; at < 8 * 64; ++at)
      ASSERT_EQ((*outs[k])[at], at + k);
  }
}

TEST(Launch, RefusesWhatDoesNotFit) {
  auto program = compile(placesKernel);
  ASSERT_TRUE(program);
  DeviceMemory<int32_t> out(4096);
  auto make = [&](int64_t blocks, int64_t threads, int64_t shared = 0) {
    return std::move(Call(blocks, threads, shared).with(out.get()).with(int32_t(0)));
  };
  EXPECT_EQ(make(0, 32).run(*program), "");
  EXPECT_EQ(make(-1, 32).run(*program), "kernel 'kernel': grid size 0 expects 0 to 2147483647 blocks, but got -1");
  EXPECT_EQ(make(1, 0).run(*program), "kernel 'kernel': block size 0 expects 1 to 1024 threads, but got 0");
  EXPECT_EQ(make(1, 160).run(*program), "kernel 'kernel': a block expects at most 128 threads, but got 160");
  EXPECT_EQ(make(1, 32, 232449).run(*program),
            "kernel 'kernel': expects 0 to 232448 bytes of dynamic shared memory, but got 232449");
  EXPECT_EQ(make(1, 32, 232448).run(*program), "");
  EXPECT_EQ(Call(1, 32).with(out.get()).run(*program), "kernel 'kernel': expects 2 parameters, but got 1");
  EXPECT_EQ(Call(1, 32).with(out.get()).with(int64_t(0)).run(*program),
            "kernel 'kernel': parameter 1 expects 4 bytes, but got 8");
  attn_rt_tensor_map map = {};
  EXPECT_EQ(Call(1, 32).withMap(map).with(int32_t(0)).run(*program),
            "kernel 'kernel': parameter 0 expects a value, but got a tensor map");
  Call other(1, 32);
  other.launch.kernel = "other";
  EXPECT_EQ(other.run(*program), "kernel 'other': is not in the module, which has 'kernel'");
}

TEST(Launch, RequiredBlockSizesAreObeyed) {
  auto program = compile(R"(define ptx_kernel void @kernel() "nvvm.reqntid"="64,2" { ret void })");
  ASSERT_TRUE(program);
  EXPECT_EQ(Call(1, 64).run(*program), "kernel 'kernel': block size 1 expects 2 threads (nvvm.reqntid), but got 1");
  Call call(1, 64);
  call.launch.block[1] = 2;
  EXPECT_EQ(call.run(*program), "");
}

TEST(Create, RefusesModulesWithoutKernels) {
  auto program = tryCompile("define void @f() { ret void }");
  EXPECT_EQ(messageOf(program.takeError()), "the module has no function with the calling convention ptx_kernel");
}

TEST(Create, RefusesTooMuchSharedMemory) {
  auto program = tryCompile("@a = internal addrspace(3) global [232449 x i8] undef\n"
                            "define ptx_kernel void @kernel() { ret void }");
  EXPECT_EQ(messageOf(program.takeError()),
            "the module's shared memory takes 232449 bytes, more than the 232448 that a block has");
}

/// Structures by value: each thread gets its own copy, which it may change.
TEST(Launch, StructuresAreCopied) {
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr byval([3 x i32]) align 4 %s, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr i32, ptr %s, i32 2
  %v = load i32, ptr %q
  %w = add i32 %v, %t
  store i32 %w, ptr %q
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %x = load i32, ptr %q
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %x, ptr addrspace(1) %p
  ret void
})");
  ASSERT_TRUE(program);
  DeviceMemory<int32_t> out(32);
  std::array<int32_t, 3> value = {1, 2, 30};
  ASSERT_EQ(Call(1, 32).with(value).with(out.get()).run(*program), "");
  for (int k = 0; k < 32; ++k)
    EXPECT_EQ(out[k], 30 + k);
}

TEST(Launch, ErrorsNameTheSourceLine) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel() !dbg !4 {
  store i32 0, ptr addrspace(3) @s, !dbg !5
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "causal.mlir", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "kernel", file: !1, unit: !0, type: !3, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 12, scope: !4)
)");
  ASSERT_TRUE(program);
  EXPECT_EQ(
      Call(1, 1).run(*program),
      "kernel 'kernel', block (0, 0, 0), thread (0, 0, 0), at store #0 (causal.mlir:12): accesses 4 bytes at offset "
      "0 of shared memory, which has 0 bytes");
}

/// More than a stack has otherwise.
TEST(Launch, ThreadsHaveRoomForTheirVariables) {
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = alloca [100000 x i32]
  br label %fill
fill:
  %i = phi i32 [0, %0], [%next, %fill]
  %p = getelementptr i32, ptr %a, i32 %i
  %v = add i32 %i, %t
  store i32 %v, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 100000
  br i1 %more, label %fill, label %read
read:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %q = getelementptr i32, ptr %a, i32 %t
  %w = load i32, ptr %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %w, ptr addrspace(1) %o
  ret void
})");
  ASSERT_TRUE(program);
  std::vector<int32_t> out(32);
  ASSERT_EQ(Call(1, 32).with(out.data()).run(*program), "");
  for (int k = 0; k < 32; ++k)
    EXPECT_EQ(out[k], 2 * k);
}

/// The error of the first block is reported, however many run at once.
TEST(Launch, TheFirstBlocksErrorIsReported) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(i32 %first) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %bad = icmp uge i32 %b, %first
  %o = select i1 %bad, i32 4096, i32 0
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  store i32 1, ptr addrspace(3) %p
  ret void
})");
  ASSERT_TRUE(program);
  for (int64_t workers : {1, 2, 5})
    for (int round = 0; round < 5; ++round) {
      Options options;
      options.threads = workers;
      std::string error = Call(40, 1, 64).with(int32_t(17)).run(*program, options);
      EXPECT_NE(error.find("block (17, 0, 0), thread (0, 0, 0), at store #0: accesses 4 bytes at offset 4096"),
                std::string::npos)
          << error;
      // Nothing is left behind.
      EXPECT_EQ(Call(10, 1, 64).with(int32_t(17)).run(*program, options), "");
    }
}

TEST(Launch, RandomOrdersRepeat) {
  // Lanes draw tickets in the order in which they run.
  auto program = compile(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %counter, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = atomicrmw add ptr addrspace(1) %counter, i32 1 monotonic
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %n, ptr addrspace(1) %p
  ret void
})");
  ASSERT_TRUE(program);
  auto draw = [&](Order order, uint64_t seed) {
    DeviceMemory<int32_t> counter(1), out(64);
    Options options;
    options.order = order;
    options.seed = seed;
    EXPECT_EQ(Call(1, 64).with(counter.get()).with(out.get()).run(*program, options), "");
    return std::vector<int32_t>(out.get(), out.get() + 64);
  };
  for (int k = 0; k < 64; ++k) {
    EXPECT_EQ(draw(Order::Fifo, 1)[k], k);
    EXPECT_EQ(draw(Order::Lifo, 1)[k], 63 - k);
  }
  EXPECT_EQ(draw(Order::Random, 1), draw(Order::Random, 1));
  EXPECT_NE(draw(Order::Random, 1), draw(Order::Random, 2));
}

TEST(Launch, CountsWhatItDoes) {
  auto program = compile(R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr addrspace(1) %in) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = mul i32 %t, 16
  %p = getelementptr i8, ptr addrspace(3) @s, i32 %o
  %g = getelementptr i8, ptr addrspace(1) %in, i32 %o
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %p, ptr addrspace(1) %g)
  call void @llvm.nvvm.cp.async.wait.all()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %v = load i32, ptr addrspace(3) %p
  store i32 %v, ptr addrspace(3) %p
  ret void
})");
  ASSERT_TRUE(program);
  DeviceMemory<char> in(64 * 16);
  Counters counters;
  ASSERT_EQ(Call(3, 64, 1024).with(in.get()).run(*program, Options(), &counters), "");
  EXPECT_EQ(counters.instructions, 3 * 64 * 10);
  EXPECT_EQ(counters.copies, 3 * 64);
  EXPECT_EQ(counters.copiedBytes, 3 * 64 * 16);
  EXPECT_EQ(counters.barriers, 3);
  EXPECT_EQ(counters.sharedLoads, 3 * 64);
  EXPECT_EQ(counters.sharedStores, 3 * 64);
  // Words 16 bytes apart: 4 of 32 lanes in a bank, so 3 more cycles for each load and store of each warp.
  EXPECT_EQ(counters.bankConflicts, 3 * 2 * 2 * 3);
}
