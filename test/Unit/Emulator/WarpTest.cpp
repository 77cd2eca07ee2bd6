//===- WarpTest.cpp - shuffles, votes, barriers -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatorTestUtil.h"
#include <cmath>

using namespace attn::emulator;
using namespace attn::emulator::test;

/// A kernel that stores, for each thread, the i32 that `body` leaves in %r; %t is the thread, %v its input.
static std::string makeKernel(const std::string &body) {
  return R"(
@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %v = load i32, ptr addrspace(1) %pi
)" + body +
         R"(
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %r, ptr addrspace(1) %po
  ret void
})";
}

/// Runs it on one block in every mode; all agree.
static std::vector<int32_t> run(const std::string &body, const std::vector<int32_t> &input) {
  auto program = compile(makeKernel(body));
  std::vector<int32_t> result;
  if (!program)
    return std::vector<int32_t>(input.size());
  for (const Options &options : allModes()) {
    std::vector<int32_t> out(input.size(), -1);
    EXPECT_EQ(Call(1, int64_t(input.size()), 1024).with(input.data()).with(out.data()).run(*program, options), "");
    EXPECT_TRUE(result.empty() || result == out);
    result = out;
  }
  return result;
}

static std::vector<int32_t> iota(size_t count, int32_t first = 0) {
  std::vector<int32_t> values(count);
  for (size_t k = 0; k < count; ++k)
    values[k] = first + int32_t(k);
  return values;
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// PTX ISA, shfl.sync, for a full warp.
static int32_t expectShuffle(const std::string &mode, int32_t lane, int32_t b, int32_t c, bool &isInRange) {
  int32_t segment = c >> 8 & 31, clamp = c & 31;
  int32_t maxLane = (lane & segment) | (clamp & ~segment), minLane = lane & segment;
  int32_t source = mode == "up"     ? lane - b
                   : mode == "down" ? lane + b
                   : mode == "bfly" ? (lane ^ b)
                                    : (minLane | (b & ~segment));
  isInRange = mode == "up" ? source >= maxLane : source <= maxLane;
  return isInRange ? source : lane;
}

TEST(Shuffle, FollowsThePtxIsa) {
  for (std::string mode : {"idx", "up", "down", "bfly"})
    for (int32_t b : {0, 1, 3, 5, 16, 31})
      // The whole warp, segments of 8, and a clamp in the middle.
      for (int32_t c : {mode == "up" ? 0 : 31, (0x18 << 8) | (mode == "up" ? 0 : 31), 20}) {
        std::string operands = "(i32 -1, i32 %v, i32 " + std::to_string(b) + ", i32 " + std::to_string(c) + ")";
        auto values = run("%x = call {i32, i1} @llvm.nvvm.shfl.sync." + mode + ".i32p" + operands +
                              "\n%y = extractvalue {i32, i1} %x, 0\n%p = extractvalue {i32, i1} %x, 1\n"
                              "%q = zext i1 %p to i32\n%z = shl i32 %q, 16\n%r = or i32 %y, %z",
                          iota(64, 100));
        for (int32_t t = 0; t < 64; ++t) {
          bool isInRange;
          int32_t source = expectShuffle(mode, t % 32, b, c, isInRange);
          ASSERT_EQ(values[t], (100 + t / 32 * 32 + source) | (isInRange ? 0x10000 : 0))
              << mode << " " << b << " " << c << " lane " << t;
        }
      }
}

TEST(Shuffle, MovesFloats) {
  auto values = run("%f = sitofp i32 %v to float\n"
                    "%g = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %f, i32 1, i32 31)\n"
                    "%r = fptosi float %g to i32",
                    iota(32));
  for (int32_t t = 0; t < 32; ++t)
    EXPECT_EQ(values[t], t ^ 1);
}

TEST(Shuffle, HalvesOfAWarpCanShuffleByThemselves) {
  // Each half at its own place.
  auto values = run(R"(
  %low = icmp ult i32 %t, 16
  br i1 %low, label %a, label %b
a:
  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %v, i32 1, i32 31)
  br label %end
b:
  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -65536, i32 %v, i32 2, i32 31)
  br label %end
end:
  %r = phi i32 [%x, %a], [%y, %b])",
                    iota(32));
  for (int32_t t = 0; t < 32; ++t)
    EXPECT_EQ(values[t], t < 16 ? t ^ 1 : t ^ 2);
}

TEST(Shuffle, TheMaskMustNameTheLane) {
  auto program = compile(makeKernel("%r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 1, i32 %v, i32 1, i32 31)"));
  ASSERT_TRUE(program);
  std::vector<int32_t> data(32);
  Options options;
  options.order = Order::Lifo;
  EXPECT_NE(Call(1, 32)
                .with(data.data())
                .with(data.data())
                .run(*program, options)
                .find("the mask 0x1 does not name the lane that executes it, 31"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Votes and reductions
//===----------------------------------------------------------------------===//

TEST(Vote, AsksAllLanes) {
  const std::string odd = "%m = urem i32 %v, 3\n%o = icmp eq i32 %m, 0\n";
  auto ballots = run(odd + "%r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %o)", iota(64));
  for (int32_t t = 0; t < 64; ++t) {
    uint32_t expected = 0;
    for (int32_t lane = 0; lane < 32; ++lane)
      expected |= uint32_t((t / 32 * 32 + lane) % 3 == 0) << lane;
    EXPECT_EQ(uint32_t(ballots[t]), expected);
  }
  auto votes = [&](const std::string &kind, const std::string &limit) {
    return run("%o = icmp ult i32 %v, " + limit + "\n%b = call i1 @llvm.nvvm.vote." + kind +
                   ".sync(i32 -1, i1 %o)\n%r = zext i1 %b to i32",
               iota(64));
  };
  // Warp 0 has 0 to 31, warp 1 32 to 63.
  EXPECT_EQ(votes("all", "40")[0], 1);
  EXPECT_EQ(votes("all", "40")[63], 0);
  EXPECT_EQ(votes("any", "40")[63], 1);
  EXPECT_EQ(votes("any", "32")[63], 0);
  EXPECT_EQ(votes("uni", "32")[0], 1);
  EXPECT_EQ(votes("uni", "32")[63], 1);
  EXPECT_EQ(votes("uni", "40")[63], 0);
}

TEST(Vote, MatchesAndElects) {
  auto any = run("%m = and i32 %v, 3\n%r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %m)", iota(32));
  auto all = run("%m = lshr i32 %v, 5\n%x = call {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %m)\n"
                 "%y = extractvalue {i32, i1} %x, 0\n%p = extractvalue {i32, i1} %x, 1\n%q = zext i1 %p to i32\n"
                 "%r = xor i32 %y, %q",
                 iota(48, 16));
  auto leader = run("%x = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n%p = extractvalue {i32, i1} %x, 1\n"
                    "%r = zext i1 %p to i32",
                    iota(64));
  for (int32_t t = 0; t < 32; ++t)
    EXPECT_EQ(uint32_t(any[t]), 0x11111111u << (t & 3));
  // Lanes of warp 0 differ (16 to 47); the 16 of warp 1 agree (48 to 63).
  EXPECT_EQ(all[0], 0);
  EXPECT_EQ(all[47], 0xFFFF ^ 1);
  for (int32_t t = 0; t < 64; ++t)
    EXPECT_EQ(leader[t], t % 32 == 0);
}

TEST(Reduction, CombinesAllLanes) {
  auto reduce = [&](const std::string &kind) {
    return run("%r = call i32 @llvm.nvvm.redux.sync." + kind + "(i32 %v, i32 -1)", iota(32, -16))[9];
  };
  EXPECT_EQ(reduce("add"), -16);
  EXPECT_EQ(reduce("min"), -16);
  EXPECT_EQ(reduce("max"), 15);
  EXPECT_EQ(reduce("umin"), 0);
  EXPECT_EQ(reduce("umax"), -1);
  EXPECT_EQ(reduce("and"), 0);
  EXPECT_EQ(reduce("or"), -1);
  EXPECT_EQ(reduce("xor"), 0);
  auto greatest = [&](const std::string &kind) {
    return run("%b = bitcast i32 %v to float\n%f = call float @llvm.nvvm.redux.sync." + kind +
                   "(float %b, i32 -1)\n%r = bitcast float %f to i32",
               {0x3F800000, 0x7FC00000, 0x40000000})[0];
  };
  EXPECT_EQ(greatest("fmax"), 0x40000000);
  EXPECT_EQ(greatest("fmin"), 0x3F800000);
  EXPECT_EQ(greatest("fmax.NaN") & 0x7FC00000, 0x7FC00000);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(Barrier, OrdersThreads) {
  // Each thread reads what its mirror image has written.
  auto values = run(R"(
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store i32 %v, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %m = sub i32 95, %t
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %m
  %r = load i32, ptr addrspace(3) %q)",
                    iota(96));
  for (int32_t t = 0; t < 96; ++t)
    EXPECT_EQ(values[t], 95 - t);
}

TEST(Barrier, SomeArriveAndOthersWait) {
  // Warp 0 writes and goes on, warp 1 waits for it; warp 2 has nothing to do with it.
  auto values = run(R"(
  %w = lshr i32 %t, 5
  switch i32 %w, label %end [ i32 0, label %give
                              i32 1, label %take ]
give:
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store i32 %v, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 3, i32 64)
  br label %end
take:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)
  %m = sub i32 63, %t
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %m
  %x = load i32, ptr addrspace(3) %q
  br label %end
end:
  %r = phi i32 [-5, %give], [%x, %take], [-6, %0])",
                    iota(96));
  for (int32_t t = 0; t < 96; ++t)
    EXPECT_EQ(values[t], t < 32 ? -5 : t < 64 ? 63 - t : -6);
}

TEST(Barrier, ThreadsThatExitedAreNotWaitedFor) {
  auto values = run(R"(
  %early = icmp ult i32 %t, 32
  br i1 %early, label %leave, label %stay
leave:
  call void @llvm.nvvm.exit()
  unreachable
stay:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = add i32 %v, 1)",
                    iota(64));
  for (int32_t t = 0; t < 64; ++t)
    EXPECT_EQ(values[t], t < 32 ? -1 : t + 1);
}

TEST(Barrier, Reduces) {
  auto reduce = [&](const std::string &kind, const std::string &type, int32_t limit) {
    return run("%o = icmp slt i32 %v, " + std::to_string(limit) + "\n%x = call " + type +
                   " @llvm.nvvm.barrier.cta.red." + kind + ".aligned.all(i32 0, i1 %o)\n" +
                   (type == "i1" ? "%r = zext i1 %x to i32" : "%r = add i32 %x, 0"),
               iota(64))[11];
  };
  EXPECT_EQ(reduce("popc", "i32", 40), 40);
  EXPECT_EQ(reduce("and", "i1", 63), 0);
  EXPECT_EQ(reduce("and", "i1", 64), 1);
  EXPECT_EQ(reduce("or", "i1", 0), 0);
  EXPECT_EQ(reduce("or", "i1", 1), 1);
}

TEST(Barrier, WarpsSynchronizeThemselves) {
  const std::string body = R"(
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store i32 %v, ptr addrspace(3) %p
  SYNC
  %m = xor i32 %t, 1
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %m
  %r = load i32, ptr addrspace(3) %q)";
  auto with = [&](const std::string &sync) {
    std::string text = body;
    return text.replace(text.find("SYNC"), 4, sync);
  };
  auto values = run(with("call void @llvm.nvvm.bar.warp.sync(i32 -1)"), iota(64));
  for (int32_t t = 0; t < 64; ++t)
    EXPECT_EQ(values[t], t ^ 1);
  // A shuffle waits for all lanes, but orders no memory.
  auto program =
      compile(makeKernel(with("%n = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 1, i32 31)")));
  ASSERT_TRUE(program);
  std::vector<int32_t> data = iota(64), out(64);
  EXPECT_NE(Call(1, 64, 1024).with(data.data()).with(out.data()).run(*program).find("a race"), std::string::npos);
}

TEST(MBarrier, PollingThreadsLetOthersRun) {
  // Warp 0 polls until thread 32 has arrived.
  const std::string body = R"(
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @s, i32 1)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %low = icmp ult i32 %t, 32
  br i1 %low, label %poll, label %arrive
poll:
  %done = call i1 @llvm.nvvm.mbarrier.test.wait.parity.scope.cta.space.cta(ptr addrspace(3) @s, i32 0)
  br i1 %done, label %end, label %poll
arrive:
  %is = icmp eq i32 %t, LAST
  br i1 %is, label %do, label %end
do:
  %k = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @s)
  br label %end
end:
  %r = add i32 %v, 1)";
  auto with = [&](const std::string &last) {
    std::string text = body;
    return text.replace(text.find("LAST"), 4, last);
  };
  EXPECT_EQ(run(with("40"), iota(64))[3], 4);
  auto program = compile(makeKernel(with("99")));
  ASSERT_TRUE(program);
  std::vector<int32_t> data = iota(64), out(64);
  EXPECT_NE(Call(1, 64, 1024).with(data.data()).with(out.data()).run(*program).find("deadlock"), std::string::npos);
}
