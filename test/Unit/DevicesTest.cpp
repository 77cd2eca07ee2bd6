//===- DevicesTest.cpp - the same kernels on every device ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeCudaControl.h"
#include "attn/CodeGen/CodeGen.h"
#include "attn/CodeGen/DeviceCode.h"
#include "attn/CodeGen/DeviceImage.h"
#include "attn/Cuda.h"
#include "attn/Devices/ComputeDevice.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace attn;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

FakeCuda &fake() {
  static FakeCuda instance(ATTN_FAKE_CUDA);
  return instance;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

DeviceName parse(llvm::StringRef text) {
  auto name = parseDeviceName(text);
  if (!name) {
    ADD_FAILURE() << llvm::toString(name.takeError());
    return {};
  }
  EXPECT_TRUE(name->has_value()) << text.str();
  return name->value_or(DeviceName());
}

std::string parseError(llvm::StringRef text) {
  auto name = parseDeviceName(text);
  return name ? "" : llvm::toString(name.takeError());
}

TEST(DeviceNames, Parse) {
  EXPECT_EQ(parse("cuda").kind, DeviceName::Kind::Cuda);
  EXPECT_EQ(parse("cuda").ordinal, 0);
  EXPECT_EQ(parse("cuda:3").ordinal, 3);
  EXPECT_EQ(parse("emulator").kind, DeviceName::Kind::Emulator);
  EXPECT_EQ(parse("emulator").chip, "sm_80");
  EXPECT_TRUE(parse("emulator").emulation.lazyCopies);
  EXPECT_EQ(parse("sm_90a").kind, DeviceName::Kind::Chip);
  EXPECT_EQ(parse("sm_90a").chip, "sm_90a");
  DeviceName name = parse("emulator:sm_90a:eager:random=7:unchecked");
  EXPECT_EQ(name.chip, "sm_90a");
  EXPECT_FALSE(name.emulation.lazyCopies);
  EXPECT_EQ(name.emulation.order, emulator::Order::Random);
  EXPECT_EQ(name.emulation.seed, 7u);
  EXPECT_FALSE(name.emulation.checkRaces);
  EXPECT_EQ(parse("emulator:sm_80:lifo").emulation.order, emulator::Order::Lifo);
  for (const char *cpu : {"host", "znver4", "x86-64-v3", ""}) {
    auto other = parseDeviceName(cpu);
    ASSERT_TRUE(bool(other));
    EXPECT_FALSE(other->has_value()) << cpu;
  }
}

TEST(DeviceNames, Errors) {
  EXPECT_EQ(parseError("cuda:x"), "a CUDA target expects cuda or cuda:ORDINAL, as in cuda:1, but got 'cuda:x'");
  EXPECT_THAT(parseError("cuda:-1"), HasSubstr("but got 'cuda:-1'"));
  EXPECT_THAT(parseError("cuda:1:2"), HasSubstr("but got 'cuda:1:2'"));
  EXPECT_THAT(parseError("sm_1"), HasSubstr("but got 'sm_1'"));
  EXPECT_THAT(parseError("emulator:znver4"), HasSubstr("but got 'znver4'"));
  EXPECT_EQ(parseError("emulator:sm_80:late"),
            "the emulator's options are eager, fifo, lifo, random=SEED and unchecked, but got 'late'");
  EXPECT_THAT(parseError("emulator:sm_80:random=x"), HasSubstr("but got"));
  auto device = openDevice(parse("sm_80"));
  EXPECT_EQ(llvm::toString(device.takeError()),
            "this is a chip to compile for; use cuda or emulator:sm_80 to run kernels");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Each thread adds a number to an integer of its own, and the block's threads pass on what lies in front.
constexpr const char *kKernels = R"(
  gpu.module @kernels {
    llvm.func @add(%numbers: !llvm.ptr<1>, %summand: i32) attributes {nvvm.kernel} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %block = nvvm.read.ptx.sreg.ctaid.x : i32
      %threads = nvvm.read.ptx.sreg.ntid.x : i32
      %first = llvm.mul %block, %threads : i32
      %index = llvm.add %first, %thread : i32
      %address = llvm.getelementptr %numbers[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %old = llvm.load %address : !llvm.ptr<1> -> i32
      %new = llvm.add %old, %summand : i32
      llvm.store %new, %address : i32, !llvm.ptr<1>
      llvm.return
    }
  })";

struct Kernels {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

Kernels makeKernels() {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kKernels, &context);
  Kernels kernels;
  auto taken = takeKernels(*module, *kernels.context);
  EXPECT_TRUE(bool(taken));
  if (taken)
    kernels.module = std::move(*taken);
  EXPECT_TRUE(module->getBody()->empty());
  return kernels;
}

class Devices : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    fake().reset();
    fake().setKernel("add", [](void **parameters, int64_t threads) {
      int32_t *numbers;
      std::memcpy(&numbers, parameters[0], sizeof(numbers));
      for (int64_t n = 0; n < threads; ++n)
        numbers[n] += *static_cast<int32_t *>(parameters[1]);
    });
    auto opened = openDevice(parse(GetParam()));
    ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
    device = *opened;
    Kernels kernels = makeKernels();
    auto loaded = device->load(std::move(kernels.context), std::move(kernels.module));
    ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    program = std::move(*loaded);
  }

  int32_t launch(const char *kernel, void *numbers, int32_t summand, int64_t blocks, int64_t threads) {
    attn_rt_parameter parameters[] = {{ATTN_RT_PARAMETER_BYTES, 8, &numbers}, {ATTN_RT_PARAMETER_BYTES, 4, &summand}};
    attn_rt_launch_info info = {kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, 2, parameters};
    return program->device()->launch(program->device()->user, &info, message);
  }

  std::shared_ptr<ComputeDevice> device;
  std::unique_ptr<DeviceProgram> program;
  char message[ATTN_RT_MESSAGE_BYTES] = "";
};

TEST_P(Devices, RunsAKernel) {
  const attn_rt_device &rt = *program->device();
  std::vector<int32_t> numbers(96);
  std::iota(numbers.begin(), numbers.end(), 10);
  int64_t bytes = numbers.size() * sizeof(int32_t);
  void *memory = rt.allocate(rt.user, bytes);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(device->canUse(memory));
  ASSERT_EQ(rt.write(rt.user, memory, numbers.data(), bytes, message), 0) << message;
  ASSERT_FALSE(device->startTimer());
  ASSERT_EQ(launch("add", memory, 500, 3, 32), 0) << message;
  ASSERT_EQ(launch("add", memory, 7, 1, 5), 0) << message;
  auto seconds = device->stopTimer();
  ASSERT_TRUE(bool(seconds)) << llvm::toString(seconds.takeError());
  EXPECT_GT(*seconds, 0);
  ASSERT_EQ(rt.wait(rt.user, message), 0) << message;
  ASSERT_EQ(rt.read(rt.user, numbers.data(), memory, bytes, message), 0) << message;
  rt.release(rt.user, memory);
  for (int32_t n = 0; n < 96; ++n)
    EXPECT_EQ(numbers[n], 10 + n + 500 + (n < 5 ? 7 : 0)) << n;
}

TEST_P(Devices, ReportsUnknownKernels) {
  EXPECT_EQ(launch("subtract", nullptr, 1, 1, 1), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, HasSubstr("subtract"));
}

INSTANTIATE_TEST_SUITE_P(Devices, Devices,
                         testing::Values("cuda", "emulator", "emulator:sm_90a:eager:lifo", "emulator:sm_80:random=3"));

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

TEST(CudaDevices, AreOpenedOnce) {
  fake().reset();
  int objects = fake().liveObjects();
  {
    auto first = cantFail(openDevice(parse("cuda"))), second = cantFail(openDevice(parse("cuda:0")));
    EXPECT_EQ(first, second);
    EXPECT_EQ(first->chip(), "sm_90a");
    EXPECT_EQ(first->describe(), "GPU Fake GPU 0, compute capability 9.0, 132 multiprocessors");
    int word = 0;
    EXPECT_FALSE(first->canUse(&word));
  }
  EXPECT_EQ(fake().liveObjects(), objects);
  fake().setDevices(1, 12, 0);
  EXPECT_EQ(cantFail(openDevice(parse("cuda")))->chip(), "sm_80");
  fake().setDevices(1, 7, 5);
  EXPECT_EQ(llvm::toString(openDevice(parse("cuda")).takeError()),
            "kernels need a GPU of compute capability 8.0 or higher, but this is GPU Fake GPU 0, compute capability "
            "7.5, 132 multiprocessors");
  EXPECT_EQ(llvm::toString(openDevice(parse("cuda:1")).takeError()), "a GPU's ordinal expects 0 to 0, but got 1");
  EXPECT_EQ(fake().liveObjects(), objects);
}

TEST(CudaDevices, ReportWhatDoesNotLoad) {
  fake().reset();
  auto device = cantFail(openDevice(parse("cuda")));
  fake().fail("cuModuleLoadDataEx", 218);
  Kernels kernels = makeKernels();
  auto program = device->load(std::move(kernels.context), std::move(kernels.module));
  EXPECT_THAT(llvm::toString(program.takeError()),
              StartsWith("cannot load the program on the GPU: CUDA_ERROR_INVALID_PTX (218)"));
  fake().fail("cuEventRecord", 700);
  EXPECT_THAT(llvm::toString(device->startTimer()), StartsWith("cannot record an event on the GPU: "));
  EXPECT_THAT(llvm::toString(device->stopTimer().takeError()), HasSubstr("the timer expects to be started"));
}

/// What attn-compile writes, loaded by the runtime.
TEST(CudaDevices, LoadImages) {
  fake().reset();
  std::string image = buildDeviceImage({{ATTN_RT_CODE_PTX, "sm_80", ".target sm_80 a"},
                                        {ATTN_RT_CODE_CUBIN, "sm_86",
                                         "\x7f"
                                         "ELF"},
                                        {ATTN_RT_CODE_PTX, "sm_90a", ".target sm_90a, longer than sixteen bytes"}});
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  for (auto [major, minor, taken] : {std::tuple(8, 0, "sm_80 "), std::tuple(8, 9, "cubin"), std::tuple(9, 0, "sm_90a"),
                                     std::tuple(10, 0, "sm_80 ")}) {
    fake().setDevices(1, major, minor);
    attn_rt_cuda *cuda = nullptr;
    attn_rt_cuda_program *program = nullptr;
    ASSERT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), 0) << message;
    fake().log();
    EXPECT_EQ(attn_rt_cuda_load(cuda, image.data(), image.size(), &program, message), 0) << message;
    EXPECT_EQ(fake().log(), "cuModuleLoadDataEx " + std::string(taken) + "\n");
    attn_rt_cuda_unload(program);
    attn_rt_cuda_close(cuda);
  }
}

TEST(HostDevice, HasMemoryAlone) {
  auto host = openHost();
  const attn_rt_device &rt = *host->memory();
  attn_rt_launch_info info = {"add", {1, 1, 1}, {1, 1, 1}, 0, 0, nullptr};
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  EXPECT_EQ(rt.launch(rt.user, &info, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the host runs no kernels of a GPU, but was asked for add");
  EXPECT_EQ(rt.allocate(rt.user, INT64_MAX), nullptr);
}

} // namespace
