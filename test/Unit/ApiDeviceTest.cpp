//===- ApiDeviceTest.cpp - devices and their memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeCudaControl.h"
#include "attn/attn.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <optional>

using namespace attn;
using testing::HasSubstr;

namespace {

FakeCuda &fake() {
  static FakeCuda instance(ATTN_FAKE_CUDA);
  return instance;
}

constexpr const char *kAttention = R"(
!heads = tensor<1x2x80x16xf32>
func.func @attend(%query: !heads, %key: !heads, %value: !heads) -> !heads {
  %scale = arith.constant 0.25 : f32
  %init = tensor.empty() : !heads
  %out = attn.attention %query, %key, %value scale(%scale) : !heads, !heads, !heads outs(%init : !heads) -> !heads
  return %out : !heads
})";

class ApiDevice : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    fake().reset();
    objects = fake().liveObjects();
  }
  void TearDown() override {
    EXPECT_EQ(fake().liveObjects(), objects);
    EXPECT_EQ(fake().callsWithoutContext(), 0);
  }
  Device open() {
    auto device = Device::open(Target::named(GetParam()));
    EXPECT_TRUE(device.ok()) << (device ? "" : device.error().message);
    return *device;
  }
  int objects = 0;
};

TEST_P(ApiDevice, BuffersUploadAndDownload) {
  auto buffer = DeviceBuffer::create(open(), 6 * sizeof(float));
  ASSERT_TRUE(buffer) << buffer.error().message;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 256, 0u);
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  float copy[6] = {};
  ASSERT_TRUE(buffer->upload(numbers, sizeof(numbers)));
  ASSERT_TRUE(buffer->upload(numbers, 2 * sizeof(float), 4 * sizeof(float)));
  ASSERT_TRUE(buffer->download(copy, sizeof(copy)));
  EXPECT_THAT(copy, testing::ElementsAre(1, 2, 3, 4, 1, 2));
  float last = 0;
  DeviceBuffer same = *buffer;
  ASSERT_TRUE(same.download(&last, sizeof(last), 3 * sizeof(float)));
  EXPECT_EQ(last, 4);
}

TEST_P(ApiDevice, RefusesWhatIsOutsideOfABuffer) {
  auto buffer = DeviceBuffer::create(open(), 24);
  ASSERT_TRUE(buffer);
  int64_t word = 0;
  EXPECT_EQ(buffer->upload(&word, 8, 17).error().message,
            "an upload expects bytes inside of the buffer's 24, but got 8 at offset 17");
  EXPECT_EQ(buffer->download(&word, -1).error().message,
            "a download expects bytes inside of the buffer's 24, but got -1 at offset 0");
  EXPECT_EQ(buffer->download(&word, 8, INT64_MAX).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(buffer->download(&word, INT64_MAX, 8).error().code, ErrorCode::InvalidArgument);
  EXPECT_TRUE(buffer->download(&word, 0, 24));
}

TEST_P(ApiDevice, EmptyAndNegativeSizes) {
  auto empty = DeviceBuffer::create(open(), 0);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->data(), nullptr);
  EXPECT_TRUE(empty->upload(nullptr, 0));
  auto negative = DeviceBuffer::create(open(), -4);
  EXPECT_EQ(negative.error().message, "a buffer expects at least 0 bytes, but got -4");
}

TEST_P(ApiDevice, ViewsOfBuffers) {
  auto buffer = DeviceBuffer::create(open(), 27);
  ASSERT_TRUE(buffer);
  MutableTensorView dense = buffer->view<float>({2, 3}), strided = buffer->view<BFloat16>({2, 3}, {4, 1});
  EXPECT_EQ(dense.data, buffer->data());
  EXPECT_EQ(dense.dtype, DType::F32);
  EXPECT_THAT(dense.strides, testing::ElementsAre(3, 1));
  EXPECT_EQ(dense.capacity, 6);
  EXPECT_EQ(strided.dtype, DType::BF16);
  EXPECT_THAT(strided.strides, testing::ElementsAre(4, 1));
  EXPECT_EQ(strided.capacity, 13);
}

TEST_P(ApiDevice, TimesWork) {
  Device device = open();
  auto seconds = device.time([] { return Status(); });
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_GE(*seconds, 0);
  auto failed = device.time([] { return Error{ErrorCode::Io, "no work", {}}; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no work");
  EXPECT_TRUE(device.time([] { return Status(); }));
}

TEST_P(ApiDevice, TilesAreCountedOnTheHostAlone) {
  auto module = Module::parse(kAttention);
  ASSERT_TRUE(module) << module.error().message;
  auto kernel = module->compile("attend", Target::named(GetParam()), CompileOptions().countKvTiles(true));
  if (std::string(GetParam()) == "host") {
    EXPECT_TRUE(kernel) << kernel.error().message;
    return;
  }
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(kernel.error().message, std::string("countKvTiles expects a CPU, but the target is ") + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, ApiDevice, testing::Values("host", "cuda", "cuda:0", "emulator", "emulator:sm_90a"));

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

TEST(ApiCuda, OpensTargets) {
  fake().reset();
  EXPECT_EQ(Device::open(Target::cuda(0))->describe(), "GPU Fake GPU 0, compute capability 9.0, 132 multiprocessors");
  EXPECT_EQ(Device::open(Target::emulator("sm_90a"))->describe(), "GPU sm_90a, emulated");
  EXPECT_EQ(Device::open(Target::host())->describe(), "the host's memory");
  EXPECT_FALSE(Device::open(Target::cuda())->usesHostMemory());
  EXPECT_TRUE(Device::open(Target::emulator())->usesHostMemory());
  auto missing = Device::open(Target::cuda(3));
  EXPECT_EQ(missing.error().code, ErrorCode::TargetUnavailable);
  EXPECT_EQ(missing.error().message, "cuda:3: a GPU's ordinal expects 0 to 0, but got 3");
  auto chip = Device::open(Target::gpu("sm_80"));
  EXPECT_EQ(chip.error().message, "sm_80: this is a chip to compile for; use cuda or emulator:sm_80 to run kernels");
  EXPECT_EQ(Device::open(Target::gpu("sm_1")).error().code, ErrorCode::TargetUnavailable);
}

TEST(ApiCuda, CompilingForAMissingGpuIsUnavailable) {
  fake().reset();
  auto module = Module::parse(kAttention);
  ASSERT_TRUE(module) << module.error().str();
  auto kernel = module->compile("", Target::cuda(3));
  EXPECT_EQ(kernel.error().code, ErrorCode::TargetUnavailable);
  EXPECT_THAT(kernel.error().message, HasSubstr("a GPU's ordinal expects 0 to 0, but got 3"));
  auto text = module->emit("", Stage::Assembly, Target::cuda(3));
  EXPECT_EQ(text.error().code, ErrorCode::TargetUnavailable);
  auto chip = module->compile("", Target::gpu("sm_80"));
  EXPECT_EQ(chip.error().code, ErrorCode::TargetUnavailable);
}

TEST(ApiCuda, ReportsFailuresOfTheDevice) {
  fake().reset();
  auto device = Device::open(Target::cuda());
  ASSERT_TRUE(device);
  fake().fail("cuMemAllocFromPoolAsync", 2);
  auto buffer = DeviceBuffer::create(*device, 40);
  EXPECT_EQ(buffer.error().code, ErrorCode::OutOfMemory);
  EXPECT_EQ(buffer.error().message, "no memory for a buffer of 40 bytes on GPU Fake GPU 0, compute capability 9.0, 132 "
                                    "multiprocessors");
  // After a kernel failed nothing works, and the kernel is why.
  fake().fail("cuMemAllocFromPoolAsync", 700);
  fake().fail("cuStreamSynchronize", 700);
  buffer = DeviceBuffer::create(*device, 40);
  EXPECT_EQ(buffer.error().code, ErrorCode::DeviceFailed);
  EXPECT_THAT(buffer.error().message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  buffer = DeviceBuffer::create(*device, 40);
  ASSERT_TRUE(buffer);
  fake().fail("cuMemcpyDtoHAsync_v2", 700);
  char byte;
  EXPECT_EQ(buffer->download(&byte, 1).error().code, ErrorCode::DeviceFailed);
  fake().fail("cuMemcpyHtoDAsync_v2", 2);
  EXPECT_EQ(buffer->upload(&byte, 1).error().code, ErrorCode::OutOfMemory);
  fake().fail("cuEventCreate", 700);
  EXPECT_EQ(device->time([] { return Status(); }).error().code, ErrorCode::DeviceFailed);
}

TEST(ApiCuda, KernelsOfCpusRunOnTheHost) {
  auto module = Module::parse(kAttention);
  ASSERT_TRUE(module);
  auto kernel = module->compile();
  ASSERT_TRUE(kernel) << kernel.error().str();
  EXPECT_EQ(kernel->device().describe(), "the host's memory");
  auto run = [&](const RunOptions &options) {
    std::vector<DeviceBuffer> buffers;
    for (int n = 0; n < 4; ++n)
      buffers.push_back(*DeviceBuffer::create(kernel->device(), 2 * 80 * 16 * sizeof(float)));
    std::vector<float> ones(2 * 80 * 16, 1);
    for (int n = 0; n < 3; ++n)
      EXPECT_TRUE(buffers[n].upload(ones.data(), buffers[n].bytes()));
    auto view = [&](int n) { return buffers[n].view<float>({1, 2, 80, 16}); };
    auto report = kernel->run({view(0), view(1), view(2)}, {view(3)}, options);
    EXPECT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->launches, 0);
    std::vector<float> out(ones.size());
    EXPECT_TRUE(buffers[3].download(out.data(), buffers[3].bytes()));
    return out;
  };
  EXPECT_THAT(run(RunOptions()), testing::Each(testing::FloatNear(1, 1e-6f)));
  EXPECT_THAT(run(RunOptions().wait(false)), testing::Each(testing::FloatNear(1, 1e-6f)));
}

//===----------------------------------------------------------------------===//
// Kernels of GPUs
//===----------------------------------------------------------------------===//

/// The attention above on a device, with its arguments there.
class DeviceKernel : public testing::Test {
protected:
  static constexpr int64_t elements = 2 * 80 * 16;

  void compile(const Target &target) {
    fake().reset();
    auto module = Module::parse(kAttention);
    ASSERT_TRUE(module) << module.error().str();
    auto compiled = module->compile("", target);
    ASSERT_TRUE(compiled) << compiled.error().str();
    kernel.emplace(*compiled);
    for (int n = 0; n < 4; ++n) {
      buffers.push_back(*DeviceBuffer::create(kernel->device(), elements * sizeof(float)));
      std::vector<float> values(elements, static_cast<float>(n + 1));
      ASSERT_TRUE(buffers[n].upload(values.data(), buffers[n].bytes()));
    }
  }
  MutableTensorView view(int n) const { return buffers[n].view<float>({1, 2, 80, 16}); }
  Result<RunReport> run(const RunOptions &options = RunOptions()) const {
    return kernel->run({view(0), view(1), view(2)}, {view(3)}, options);
  }
  std::vector<float> results() const {
    std::vector<float> out(elements);
    EXPECT_TRUE(buffers[3].download(out.data(), buffers[3].bytes()));
    return out;
  }

  std::optional<Kernel> kernel;
  std::vector<DeviceBuffer> buffers;
};

/// All values are 3, and so is their mean.
TEST_F(DeviceKernel, RunsOnTheEmulator) {
  compile(Target::emulator("sm_80"));
  EXPECT_THAT(kernel->describe(), HasSubstr("GPU sm_80, emulated\n"));
  auto report = run();
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_EQ(report->launches, 1);
  EXPECT_THAT(results(), testing::Each(testing::FloatNear(3, 1e-2f)));
}

TEST_F(DeviceKernel, StartsKernelsOfCuda) {
  compile(Target::cuda());
  EXPECT_THAT(kernel->describe(), HasSubstr("GPU Fake GPU 0, compute capability 9.0, 132 multiprocessors\n"));
  fake().log();
  auto report = run();
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_EQ(report->launches, 1);
  EXPECT_THAT(fake().log(), HasSubstr("cuLaunchKernel "));
  // The fake's kernels compute nothing.
  EXPECT_THAT(results(), testing::Each(4));
}

TEST_F(DeviceKernel, RefusesTheHostsMemoryOnCuda) {
  compile(Target::cuda());
  std::vector<float> host(elements, 1);
  auto input = kernel->run({view(0), attn::view(host, {1, 2, 80, 16}), view(2)}, {view(3)});
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(
      input.error().message,
      "argument 1 expects memory of GPU Fake GPU 0, compute capability 9.0, 132 multiprocessors, but got memory of "
      "the host; upload it to an attn::DeviceBuffer");
  auto output = kernel->run({view(0), view(1), view(2)}, {attn::view(host, {1, 2, 80, 16})});
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().message, HasSubstr("output 0 expects memory of GPU"));
}

TEST_F(DeviceKernel, ReportsFailuresOfKernels) {
  compile(Target::cuda());
  fake().fail("cuLaunchKernel", 700);
  auto started = run();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::DeviceFailed);
  EXPECT_THAT(started.error().message, HasSubstr("@attend: cannot start kernel "));
  fake().fail("cuStreamSynchronize", 700);
  auto waited = run();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::DeviceFailed);
  EXPECT_THAT(waited.error().message, HasSubstr("@attend: cannot finish the kernels on the GPU: "));
  // Whoever does not wait finds out later.
  fake().fail("cuStreamSynchronize", 700);
  EXPECT_TRUE(run(RunOptions().wait(false)));
  EXPECT_EQ(kernel->device().wait().error().code, ErrorCode::DeviceFailed);
}

TEST_F(DeviceKernel, EmitsPtx) {
  fake().reset();
  auto module = Module::parse(kAttention);
  ASSERT_TRUE(module);
  auto ptx = module->emit("", Stage::Assembly, Target::gpu("sm_80"));
  ASSERT_TRUE(ptx) << ptx.error().str();
  EXPECT_THAT(*ptx, HasSubstr(".target sm_80"));
  ptx = module->emit("", Stage::Assembly, Target::cuda());
  ASSERT_TRUE(ptx) << ptx.error().str();
  EXPECT_THAT(*ptx, HasSubstr(".target sm_90a"));
  auto ir = module->emit("", Stage::Llvm, Target::emulator("sm_90a"));
  ASSERT_TRUE(ir) << ir.error().str();
  EXPECT_THAT(*ir, HasSubstr("define ptx_kernel void"));
}

} // namespace
