//===- BulkCopyTest.cpp - TMA -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EmulatorTestUtil.h"

using namespace attn::emulator;
using namespace attn::emulator::test;

/// Thread 0 loads a box, all wait for it and copy what came to %out (32-bit words).
static std::string makeLoadKernel(int rank) {
  std::string coordinates;
  for (int k = 0; k < rank; ++k)
    coordinates += ", i32 %c" + std::to_string(k);
  std::string text = R"(
@bar = internal addrspace(3) global i64 undef, align 8
@s = external addrspace(3) global [0 x i8], align 1024
declare void @attn_dev_mbarrier_wait(ptr addrspace(3), i32)
define ptx_kernel void @kernel(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, ptr addrspace(1) %at, i32 %bytes, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is = icmp eq i32 %t, 0
  br i1 %is, label %issue, label %wait
issue:
)";
  for (int k = 0; k < rank; ++k) {
    std::string i = std::to_string(k);
    text += "%p" + i + " = getelementptr i32, ptr addrspace(1) %at, i32 " + i + "\n%c" + i +
            " = load i32, ptr addrspace(1) %p" + i + "\n";
  }
  return text + R"(
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  %k = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 %bytes)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.)" +
         std::to_string(rank) + "d(ptr addrspace(3) @s, ptr addrspace(3) @bar, ptr %map" + coordinates +
         R"(, i64 0, i1 false)
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @attn_dev_mbarrier_wait(ptr addrspace(3) @bar, i32 0)
  %o0 = mul i32 %t, 4
  %some = icmp ult i32 %o0, %bytes
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [%t, %wait], [%next, %loop]
  %from = getelementptr i32, ptr addrspace(3) @s, i32 %i
  %v = load i32, ptr addrspace(3) %from
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %to
  %next = add i32 %i, 32
  %o = mul i32 %next, 4
  %more = icmp ult i32 %o, %bytes
  br i1 %more, label %loop, label %end
end:
  ret void
})";
}

/// All threads fill shared memory from %in; thread 0 stores the box.
static std::string makeStoreKernel(const std::string &wait) {
  return R"(
@s = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @kernel(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, i32 %c0, i32 %c1, i32 %bytes, ptr addrspace(1) %in) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [%t, %0], [%next, %loop]
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %v = load i32, ptr addrspace(1) %from
  %to = getelementptr i32, ptr addrspace(3) @s, i32 %i
  store i32 %v, ptr addrspace(3) %to
  %next = add i32 %i, 32
  %o = mul i32 %next, 4
  %more = icmp ult i32 %o, %bytes
  br i1 %more, label %loop, label %full
full:
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %is = icmp eq i32 %t, 0
  br i1 %is, label %issue, label %end
issue:
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) @s, ptr %map, i32 %c0, i32 %c1, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
)" + wait +
         R"(
  br label %end
end:
  ret void
})";
}

namespace {
/// A tensor of up to 5 dimensions whose rows have gaps between them.
struct Tensor {
  attn_rt_tensor_map map = {};
  DeviceMemory<uint16_t> memory{1 << 16};

  Tensor(const std::vector<int64_t> &sizes, const std::vector<int32_t> &box, int32_t swizzle) {
    map.base = memory.get();
    map.rank = int32_t(sizes.size());
    map.element_bytes = 2;
    map.swizzle_bytes = swizzle;
    int64_t stride = 2;
    for (size_t k = 0; k < sizes.size(); ++k) {
      map.sizes[k] = sizes[k];
      map.box[k] = box[k];
      map.strides[k] = stride;
      stride = (stride * sizes[k] + 31) / 16 * 16;
    }
    for (size_t k = 0; k < memory.size(); ++k)
      memory[k] = uint16_t(k * 7 + 1);
  }
  int64_t countBox() const {
    int64_t count = 1;
    for (int32_t k = 0; k < map.rank; ++k)
      count *= map.box[k];
    return count;
  }
  /// The element of the box in dense order, where a box at `at` has it: 0 outside.
  uint16_t expected(int64_t element, const std::vector<int32_t> &at) {
    int64_t offset = 0;
    for (int32_t k = 0; k < map.rank; ++k) {
      int64_t index = at[k] + element % map.box[k];
      element /= map.box[k];
      if (index < 0 || index >= map.sizes[k])
        return 0;
      offset += index * map.strides[k];
    }
    return memory[offset / 2];
  }
  /// Where the element lies in shared memory, in elements: chunks of 16 bytes are permuted within rows of the swizzle.
  int64_t place(int64_t element) const {
    int64_t byte = element * 2, swizzle = map.swizzle_bytes;
    if (!swizzle)
      return element;
    int64_t row = byte / swizzle, chunk = byte % swizzle / 16;
    int64_t xored = swizzle == 128 ? row % 8 : swizzle == 64 ? row / 2 % 4 : row / 4 % 2;
    return (row * swizzle + (chunk ^ xored) * 16 + byte % 16) / 2;
  }
};
} // namespace

static void checkLoad(Tensor &tensor, const std::vector<int32_t> &at) {
  auto program = compile(makeLoadKernel(tensor.map.rank));
  ASSERT_TRUE(program);
  int64_t count = tensor.countBox();
  for (const Options &options : allModes()) {
    std::vector<uint16_t> out(count, 0xABCD);
    ASSERT_EQ(Call(1, 32, count * 2)
                  .withMap(tensor.map)
                  .with(at.data())
                  .with(int32_t(count * 2))
                  .with(out.data())
                  .run(*program, options),
              "");
    for (int64_t k = 0; k < count; ++k)
      ASSERT_EQ(out[tensor.place(k)], tensor.expected(k, at)) << k;
  }
}

TEST(BulkCopy, LoadsBoxesOfEachRank) {
  const std::vector<int64_t> sizes = {24, 5, 4, 3, 2};
  const std::vector<int32_t> box = {16, 3, 2, 2, 2}, at = {4, 1, 1, 0, 0};
  for (size_t rank = 1; rank <= 5; ++rank) {
    Tensor tensor({sizes.begin(), sizes.begin() + rank}, {box.begin(), box.begin() + rank}, 0);
    checkLoad(tensor, {at.begin(), at.begin() + rank});
  }
}

TEST(BulkCopy, FillsWhatLiesOutsideWithZeros) {
  for (std::vector<int32_t> at : {std::vector<int32_t>{-5, 0, 0},
                                  {12, 3, 2},
                                  {0, -2, 1},
                                  {24, 0, 0},
                                  {-16, 0, 0},
                                  {0, 0, 4},
                                  {17, 4, 3},
                                  {0, 0, -100}}) {
    Tensor tensor({24, 5, 4}, {16, 3, 2}, 0);
    checkLoad(tensor, at);
  }
}

TEST(BulkCopy, Swizzles) {
  for (int32_t swizzle : {32, 64, 128})
    for (std::vector<int32_t> at : {std::vector<int32_t>{0, 0}, {swizzle / 2, 7}, {70, 30}, {-3, -3}}) {
      Tensor tensor({100, 40}, {swizzle / 2, 24}, swizzle);
      checkLoad(tensor, at);
    }
}

TEST(BulkCopy, StoresBoxesAndClipsThem) {
  auto program = compile(makeStoreKernel("call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)"));
  ASSERT_TRUE(program);
  for (int32_t swizzle : {0, 128})
    for (std::vector<int32_t> at : {std::vector<int32_t>{8, 3}, {-5, -2}, {80, 30}}) {
      for (const Options &options : allModes()) {
        Tensor tensor({100, 40}, {64, 12}, swizzle);
        Tensor before({100, 40}, {64, 12}, swizzle);
        std::vector<uint16_t> in(64 * 12);
        for (int k = 0; k < 64 * 12; ++k)
          in[tensor.place(k)] = uint16_t(50000 + k);
        ASSERT_EQ(Call(1, 32, 64 * 12 * 2)
                      .withMap(tensor.map)
                      .with(at[0])
                      .with(at[1])
                      .with(int32_t(64 * 12 * 2))
                      .with(in.data())
                      .run(*program, options),
                  "");
        for (int64_t y = 0; y < 40; ++y)
          for (int64_t x = 0; x < 100; ++x) {
            int64_t bx = x - at[0], by = y - at[1], offset = (x * 2 + y * tensor.map.strides[1]) / 2;
            bool isInside = bx >= 0 && bx < 64 && by >= 0 && by < 12;
            ASSERT_EQ(tensor.memory[offset], isInside ? 50000 + by * 64 + bx : before.memory[offset]) << x << " " << y;
          }
      }
    }
}

TEST(BulkCopy, StoresReadUntilTheyAreWaitedFor) {
  std::vector<uint16_t> in(64 * 12);
  auto run = [&](const std::string &wait, bool checks) {
    auto program = compile(makeStoreKernel(wait));
    Tensor tensor({100, 40}, {64, 12}, 0);
    Options options;
    options.checkRaces = options.checkUninitialized = checks;
    return Call(1, 32, 64 * 12 * 2)
        .withMap(tensor.map)
        .with(int32_t(0))
        .with(int32_t(0))
        .with(int32_t(64 * 12 * 2))
        .with(in.data())
        .run(*program, options);
  };
  const std::string store = "store i32 5, ptr addrspace(3) @s\n";
  const std::string wait = "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)\n";
  EXPECT_EQ(run(wait + store, true), "");
  std::string error = run(store + wait, true);
  EXPECT_NE(error.find("a race: a bulk store reads it at llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d #0"),
            std::string::npos)
      << error;
  error = run("", false);
  EXPECT_NE(error.find("the thread exits before it has waited for this store to read shared memory"), std::string::npos)
      << error;
}

TEST(BulkCopy, MapsAreChecked) {
  auto program = compile(makeLoadKernel(2));
  ASSERT_TRUE(program);
  std::vector<int32_t> at = {0, 0};
  std::vector<uint16_t> out(4096);
  auto run = [&](const attn_rt_tensor_map &map) {
    return Call(1, 32, 4096).withMap(map).with(at.data()).with(int32_t(1024)).with(out.data()).run(*program);
  };
  Tensor good({100, 40}, {64, 8}, 128);
  EXPECT_EQ(run(good.map), "");
  auto expect = [&](const attn_rt_tensor_map &map, const std::string &message) {
    std::string error = run(map);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  attn_rt_tensor_map map = good.map;
  map.box[0] = 72;
  expect(map,
         "the tensor map of parameter 0 expects rows of boxes that are at most as long as the swizzle, but got 144");
  map = good.map;
  map.strides[1] = 204;
  expect(map, "expects strides that are multiples of 16 bytes below 2^40, but got 204");
  map = good.map;
  map.swizzle_bytes = 16;
  expect(map, "expects a swizzle of 0, 32, 64 or 128 bytes, but got 16");
  map = good.map;
  map.box[0] = 4;
  expect(map, "expects rows of boxes that are a multiple of 16 bytes, but got 8");
  map = good.map;
  map.rank = 3;
  map.sizes[2] = 1;
  map.box[2] = 1;
  expect(map, "expects a tensor map of rank 2, but got one of rank 3");
  map = good.map;
  map.sizes[1] = 0;
  expect(map, "expects a tensor map with an address and elements");
}

/// The stride of a dimension of size 1 may be anything, as for the CUDA driver.
TEST(BulkCopy, StridesOfDimensionsOfSizeOneAreNotUsed) {
  for (int64_t stride : {0, 2, 7, -16, 200}) {
    Tensor tensor({100, 1}, {64, 8}, 128);
    tensor.map.strides[1] = stride;
    checkLoad(tensor, {3, 0});
  }
}
