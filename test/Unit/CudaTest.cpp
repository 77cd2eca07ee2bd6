// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA device of the runtime, on a fake driver.

#include "attn/Cuda.h"
#include "FakeCudaControl.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <memory>
#include <vector>

using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr const char *kPtx = ".version 8.0\n.target sm_80\n.visible .entry add() {}\n";

FakeCuda &fake() {
  static FakeCuda instance(ATTN_FAKE_CUDA);
  return instance;
}

/// Opens the GPU, and looks for leaks and for calls without a context at the end.
class Cuda : public testing::Test {
protected:
  void SetUp() override {
    fake().reset();
    objects = fake().liveObjects();
  }
  void TearDown() override {
    attn_rt_cuda_unload(program);
    attn_rt_cuda_close(cuda);
    EXPECT_EQ(fake().liveObjects(), objects);
    EXPECT_EQ(fake().callsWithoutContext(), 0);
  }

  void open() { ASSERT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), 0) << message; }
  int32_t load(const std::string &code) { return attn_rt_cuda_load(cuda, code.data(), code.size(), &program, message); }

  int32_t launch(const char *kernel, std::vector<attn_rt_parameter> parameters = {}, int64_t blocks = 1,
                 int64_t sharedBytes = 0, int64_t threads = 32) {
    attn_rt_launch_info info = {
        kernel, {blocks, 1, 1}, {threads, 1, 1}, sharedBytes, int64_t(parameters.size()), parameters.data()};
    const attn_rt_device *device = attn_rt_cuda_device(program);
    return device->launch(device->user, &info, message);
  }

  attn_rt_cuda *cuda = nullptr;
  attn_rt_cuda_program *program = nullptr;
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  int objects = 0;
};

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

TEST_F(Cuda, DescribesTheGpu) {
  fake().setDevices(2, 8, 6);
  int32_t count = 0;
  EXPECT_EQ(attn_rt_cuda_count(&count, message), 0);
  EXPECT_EQ(count, 2);
  ASSERT_EQ(attn_rt_cuda_open(1, nullptr, &cuda, message), 0) << message;
  attn_rt_cuda_info info;
  attn_rt_cuda_describe(cuda, &info);
  EXPECT_STREQ(info.name, "Fake GPU 1");
  EXPECT_EQ(info.major, 8);
  EXPECT_EQ(info.minor, 6);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.driver_version, 13000);
  EXPECT_EQ(info.memory_bytes, int64_t(80) << 30);
  EXPECT_EQ(info.shared_bytes, 227 << 10);
}

TEST_F(Cuda, RefusesOrdinals) {
  EXPECT_EQ(attn_rt_cuda_open(1, nullptr, &cuda, message), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "a GPU's ordinal expects 0 to 0, but got 1");
  EXPECT_EQ(attn_rt_cuda_open(-1, nullptr, &cuda, message), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_EQ(cuda, nullptr);
  fake().setDevices(0, 9, 0);
  EXPECT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the CUDA driver finds no GPU");
  fake().fail("cuDeviceGetCount", 100);
  EXPECT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "cannot count the GPUs: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
}

TEST_F(Cuda, FailuresOfOpeningLeaveNothing) {
  for (const char *function : {"cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
                               "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuStreamCreate"}) {
    fake().fail(function, 2);
    EXPECT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), ATTN_RT_DEVICE_FAILED) << function;
    EXPECT_THAT(message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")) << function;
    EXPECT_EQ(fake().liveObjects(), objects) << function;
  }
}

TEST_F(Cuda, UsesTheCallersStream) {
  open();
  int own = fake().liveObjects();
  int word;
  attn_rt_cuda *other = nullptr;
  ASSERT_EQ(attn_rt_cuda_open(0, &word, &other, message), 0) << message;
  EXPECT_EQ(fake().liveObjects() - own, own - objects - 1); // all but the stream
  EXPECT_EQ(attn_rt_cuda_stream(other), &word);
  EXPECT_NE(attn_rt_cuda_stream(cuda), nullptr);
  attn_rt_cuda_close(other);
}

//===----------------------------------------------------------------------===//
// Memory and time
//===----------------------------------------------------------------------===//

TEST_F(Cuda, CopiesMemory) {
  open();
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  int64_t numbers[5] = {1, 2, 3, 4, 5}, copy[5] = {};
  void *memory = device->allocate(device->user, sizeof(numbers));
  ASSERT_TRUE(memory);
  EXPECT_EQ(device->write(device->user, memory, numbers, sizeof(numbers), message), 0);
  EXPECT_EQ(device->read(device->user, copy, memory, sizeof(numbers), message), 0);
  EXPECT_EQ(std::memcmp(numbers, copy, sizeof(numbers)), 0);
  EXPECT_TRUE(attn_rt_cuda_knows(cuda, static_cast<char *>(memory) + 39));
  EXPECT_FALSE(attn_rt_cuda_knows(cuda, static_cast<char *>(memory) + 40));
  EXPECT_FALSE(attn_rt_cuda_knows(cuda, numbers));
  device->release(device->user, memory);
  EXPECT_THAT(fake().log(), HasSubstr("cuMemPoolSetAttribute 4 18446744073709551615\ncuMemAllocFromPoolAsync 40\n"));
}

TEST_F(Cuda, ReportsFailuresOfMemory) {
  open();
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  fake().fail("cuMemAllocFromPoolAsync", 2);
  EXPECT_EQ(device->allocate(device->user, 40), nullptr);
  int word = 0;
  fake().fail("cuMemcpyHtoDAsync_v2", 700);
  EXPECT_EQ(device->write(device->user, &word, &word, 4, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "cannot copy to the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was "
                        "encountered");
  fake().fail("cuStreamSynchronize", 700);
  EXPECT_EQ(device->read(device->user, &word, &word, 4, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("cannot copy from the GPU: CUDA_ERROR_ILLEGAL_ADDRESS"));
  fake().fail("cuStreamSynchronize", 700);
  EXPECT_EQ(device->wait(device->user, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("cannot finish the kernels on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS"));
  fake().fail("cuCtxPushCurrent_v2", 999);
  EXPECT_EQ(device->wait(device->user, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "cannot use the GPU's context: an unknown error (999): the driver has no text for it");
}

/// The fake's kernels take half a millisecond each.
TEST_F(Cuda, MeasuresTime) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  double seconds = 0;
  EXPECT_EQ(attn_rt_cuda_stop_timer(cuda, &seconds, message), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "the timer expects to be started before it is stopped");
  for (int launches : {3, 1}) {
    ASSERT_EQ(attn_rt_cuda_start_timer(cuda, message), 0) << message;
    for (int n = 0; n < launches; ++n)
      ASSERT_EQ(launch("add"), 0) << message;
    ASSERT_EQ(attn_rt_cuda_stop_timer(cuda, &seconds, message), 0) << message;
    EXPECT_DOUBLE_EQ(seconds, launches * 0.5e-3);
  }
  fake().fail("cuEventRecord", 700);
  EXPECT_EQ(attn_rt_cuda_start_timer(cuda, message), ATTN_RT_DEVICE_FAILED);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

TEST_F(Cuda, LaunchesKernels) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  fake().setKernel("add", [](void **parameters, int64_t threads) {
    int64_t *numbers;
    std::memcpy(&numbers, parameters[0], sizeof(numbers));
    for (int64_t n = 0; n < threads; ++n)
      numbers[n] += *static_cast<int32_t *>(parameters[1]);
  });
  const attn_rt_device *device = attn_rt_cuda_device(program);
  int64_t numbers[6] = {1, 2, 3, 4, 5, 6};
  void *memory = device->allocate(device->user, sizeof(numbers));
  ASSERT_EQ(device->write(device->user, memory, numbers, sizeof(numbers), message), 0);
  int32_t summand = 70;
  std::vector<attn_rt_parameter> parameters = {{ATTN_RT_PARAMETER_BYTES, 8, &memory},
                                               {ATTN_RT_PARAMETER_BYTES, 4, &summand}};
  fake().log();
  EXPECT_EQ(launch("add", parameters, /*blocks=*/2, /*sharedBytes=*/1024, /*threads=*/3), 0) << message;
  EXPECT_EQ(launch("add", parameters, /*blocks=*/1, 0, /*threads=*/1), 0) << message;
  EXPECT_EQ(device->wait(device->user, message), 0);
  ASSERT_EQ(device->read(device->user, numbers, memory, sizeof(numbers), message), 0);
  device->release(device->user, memory);
  for (int64_t n = 0; n < 6; ++n)
    EXPECT_EQ(numbers[n], n + 1 + 70 * (n == 0 ? 2 : 1));
  // Looked up once.
  EXPECT_STREQ(fake().log(), "cuModuleGetFunction add\n"
                             "cuLaunchKernel add grid 2 1 1 block 3 1 1 shared 1024\n"
                             "cuLaunchKernel add grid 1 1 1 block 1 1 1 shared 0\n");
}

TEST_F(Cuda, AsksForMuchSharedMemoryOnce) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  fake().log();
  EXPECT_EQ(launch("add", {}, 1, 48 << 10), 0) << message;
  EXPECT_EQ(launch("add", {}, 1, 100000), 0) << message;
  EXPECT_EQ(launch("add", {}, 1, 60000), 0) << message;
  EXPECT_STREQ(fake().log(), "cuModuleGetFunction add\n"
                             "cuLaunchKernel add grid 1 1 1 block 32 1 1 shared 49152\n"
                             "cuFuncSetAttribute add 8 100000\n"
                             "cuLaunchKernel add grid 1 1 1 block 32 1 1 shared 100000\n"
                             "cuLaunchKernel add grid 1 1 1 block 32 1 1 shared 60000\n");
  fake().fail("cuFuncSetAttribute", 1);
  EXPECT_EQ(launch("add", {}, 1, 200000), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "cannot give a kernel more shared memory: CUDA_ERROR_INVALID_VALUE (1): invalid argument");
}

TEST_F(Cuda, RefusesLaunches) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  EXPECT_EQ(launch("subtract"), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the program on the GPU has no kernel subtract");
  EXPECT_EQ(launch("add", {}, int64_t(1) << 31), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "kernel add: a grid expects 1 to 2147483647 in dimension 0, but got 2147483648");
  EXPECT_EQ(launch("add", {}, 1, 0, 1025), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "kernel add: a block expects 1 to 1024 in dimension 0, but got 1025");
  EXPECT_EQ(launch("add", {}, 1, 0, 0), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_EQ(launch("add", {}, 1, 232449), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "kernel add needs 232449 bytes of shared memory, but a block on Fake GPU 0 can have 232448");
  EXPECT_EQ(launch("add", std::vector<attn_rt_parameter>(257)), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "kernel add: a launch expects up to 256 parameters, but got 257");
  fake().fail("cuLaunchKernel", 700);
  EXPECT_EQ(launch("add"), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("cannot start kernel add: CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  fake().fail("cuLaunchKernel", 2);
  EXPECT_EQ(launch("add"), ATTN_RT_OUT_OF_MEMORY);
  fake().fail("cuModuleGetFunction", 218);
  EXPECT_EQ(launch("other"), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("cannot find a kernel: CUDA_ERROR_INVALID_PTX"));
}

TEST_F(Cuda, WithoutAProgramNothingIsLaunched) {
  open();
  attn_rt_launch_info info = {"add", {1, 1, 1}, {1, 1, 1}, 0, 0, nullptr};
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  EXPECT_EQ(device->launch(device->user, &info, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "no program is loaded that has the kernel add");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

alignas(16) char tensor[64];

/// bf16 [batch 1, 70 rows, 64 columns] in boxes of 32 rows.
attn_rt_tensor_map exampleMap() { return {tensor, 3, 2, {64, 70, 1}, {2, 160, 7}, {64, 32, 1}, 128}; }

TEST_F(Cuda, EncodesTensorMaps) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  static void *seen[3];
  fake().setKernel("add", [](void **parameters, int64_t) {
    for (int n = 0; n < 3; ++n)
      std::memcpy(&seen[n], parameters[n], sizeof(void *));
  });
  attn_rt_tensor_map map = exampleMap();
  attn_rt_tensor_map empty = map;
  empty.sizes[1] = 0;
  attn_rt_tensor_map unused = {};
  fake().log();
  ASSERT_EQ(launch("add", {{ATTN_RT_PARAMETER_TENSOR_MAP, 0, &map},
                           {ATTN_RT_PARAMETER_TENSOR_MAP, 0, &empty},
                           {ATTN_RT_PARAMETER_TENSOR_MAP, 0, &unused}}),
            0)
      << message;
  EXPECT_EQ(seen[0], tensor);
  EXPECT_EQ(seen[1], nullptr);
  EXPECT_EQ(seen[2], nullptr);
  // Size, stride, box and step of each dimension; the stride of one batch entry is one that the driver takes.
  EXPECT_THAT(fake().log(), StartsWith("cuTensorMapEncodeTiled type 1 swizzle 3 interleave 0 promotion 3 fill 0 "
                                       "64:0:64:1 70:160:32:1 1:16:1:1\n"));
}

TEST_F(Cuda, RefusesTensorMaps) {
  open();
  ASSERT_EQ(load(kPtx), 0) << message;
  auto refuse = [&](void (*change)(attn_rt_tensor_map &)) {
    attn_rt_tensor_map map = exampleMap();
    change(map);
    EXPECT_EQ(launch("add", {{ATTN_RT_PARAMETER_TENSOR_MAP, 0, &map}}), ATTN_RT_DEVICE_FAILED);
    return std::string(message);
  };
  using Map = attn_rt_tensor_map;
  const std::string expects = "a view for copies by boxes expects ";
  EXPECT_EQ(refuse([](Map &map) { map.rank = 6; }), expects + "a rank of 1 to 5, but got 6");
  EXPECT_EQ(refuse([](Map &map) { map.element_bytes = 3; }), expects + "elements of 1, 2, 4 or 8 bytes, but got 3");
  EXPECT_EQ(refuse([](Map &map) { map.swizzle_bytes = 16; }),
            expects + "a swizzle of 0, 32, 64 or 128 bytes, but got 16");
  EXPECT_EQ(refuse([](Map &map) { map.strides[0] = 4; }),
            expects + "the first stride to be the element's size, but got 4");
  EXPECT_THAT(refuse([](Map &map) { map.base = tensor + 8; }),
              StartsWith(expects + "its address to be a multiple of 16 bytes, but got "));
  EXPECT_EQ(refuse([](Map &map) { map.strides[1] = 168; }),
            expects + "strides that are multiples of 16 bytes below 2^40, but got 168");
  EXPECT_EQ(refuse([](Map &map) { map.sizes[1] = -1; }), expects + "sizes of 0 to 2^32, but got -1");
  EXPECT_EQ(refuse([](Map &map) { map.box[1] = 257; }),
            expects + "boxes of 1 to 256 elements a dimension, but got 257");
  EXPECT_EQ(refuse([](Map &map) { map.box[0] = 12; }),
            expects + "rows of boxes that are a multiple of 16 bytes, but got 24");
  EXPECT_EQ(refuse([](Map &map) { map.box[0] = 72; }),
            expects + "rows of boxes that are at most as long as the swizzle, but got 144");
  fake().fail("cuTensorMapEncodeTiled", 1);
  EXPECT_EQ(refuse([](Map &) {}), "cannot make a tensor map: CUDA_ERROR_INVALID_VALUE (1): invalid argument");
  attn_rt_tensor_map map = exampleMap();
  EXPECT_EQ(launch("add", std::vector<attn_rt_parameter>(17, {ATTN_RT_PARAMETER_TENSOR_MAP, 0, &map})),
            ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "kernel add: a launch expects up to 16 tensor maps");
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

struct Part {
  uint32_t kind, chip;
  char suffix;
};

/// An image whose codes are ".target sm_<chip><suffix> add" and cubins of the bytes "\x7fELF add".
std::string makeImage(const std::vector<Part> &parts) {
  std::string entries, codes;
  size_t start = sizeof(attn_rt_image_header) + parts.size() * sizeof(attn_rt_image_entry);
  for (const Part &part : parts) {
    std::string code = part.kind == ATTN_RT_CODE_CUBIN ? std::string("\x7f"
                                                                     "ELF add")
                                                       : ".target sm_" + std::to_string(part.chip) +
                                                             (part.suffix ? std::string(1, part.suffix) : " ") + " add";
    attn_rt_image_entry entry = {part.kind, part.chip, uint32_t(part.suffix), 0, start + codes.size(), code.size()};
    entries.append(reinterpret_cast<const char *>(&entry), sizeof(entry));
    codes += code;
    codes.resize((codes.size() + 16) / 16 * 16);
  }
  attn_rt_image_header header = {ATTN_RT_IMAGE_MAGIC, ATTN_RT_IMAGE_VERSION, uint32_t(parts.size())};
  return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + entries + codes;
}

TEST_F(Cuda, TakesTheBestCode) {
  constexpr uint32_t ptx = ATTN_RT_CODE_PTX, cubin = ATTN_RT_CODE_CUBIN;
  std::string image = makeImage({{ptx, 80, 0}, {cubin, 80, 0}, {ptx, 90, 'a'}, {cubin, 120, 'f'}, {ptx, 120, 'f'}});
  struct {
    int major, minor;
    const char *taken;
  } cases[] = {{8, 0, "cubin"},   {8, 6, "cubin"},  {8, 9, "cubin"},  {9, 0, "sm_90a"},
               {10, 0, "sm_80 "}, {12, 0, "cubin"}, {12, 1, "cubin"}, {13, 0, "sm_80 "}};
  for (auto [major, minor, taken] : cases) {
    fake().setDevices(1, major, minor);
    open();
    fake().log();
    EXPECT_EQ(load(image), 0) << message;
    EXPECT_EQ(fake().log(), "cuModuleLoadDataEx " + std::string(taken) + "\n") << major << "." << minor;
    attn_rt_cuda_unload(program);
    attn_rt_cuda_close(cuda);
    program = nullptr;
    cuda = nullptr;
  }
}

TEST_F(Cuda, FallsBackWhereTheBestCodeDoesNotLoad) {
  std::string image = makeImage({{ATTN_RT_CODE_PTX, 80, 0}, {ATTN_RT_CODE_PTX, 90, 'a'}});
  open();
  fake().log();
  fake().fail("cuModuleLoadDataEx", 218);
  EXPECT_EQ(load(image), 0) << message;
  EXPECT_STREQ(fake().log(), "cuModuleLoadDataEx sm_90a\ncuModuleLoadDataEx fails\ncuModuleLoadDataEx sm_80 \n");
}

TEST_F(Cuda, RefusesCodeForOtherGpus) {
  fake().setDevices(1, 7, 5);
  open();
  EXPECT_EQ(load(makeImage({{ATTN_RT_CODE_PTX, 80, 0}, {ATTN_RT_CODE_CUBIN, 90, 'a'}})), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the code is for sm_80 PTX, sm_90a cubin, but Fake GPU 0 is sm_75");
  EXPECT_EQ(load(kPtx), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the code is for sm_80 PTX, but Fake GPU 0 is sm_75");
  EXPECT_EQ(program, nullptr);
}

TEST_F(Cuda, ReportsTheDriversLog) {
  open();
  fake().fail("cuModuleLoadDataEx", 218);
  EXPECT_EQ(load(kPtx), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "cannot load the program on the GPU: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation "
                        "failed; the fake's log");
}

TEST_F(Cuda, RefusesDamagedImages) {
  open();
  EXPECT_EQ(load("int main() {}"), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "code for a GPU expects PTX, a cubin or an image of them, but got 13 bytes of something else");
  EXPECT_EQ(load(""), ATTN_RT_INVALID_ARGUMENT);
  std::string image = makeImage({{ATTN_RT_CODE_PTX, 80, 0}, {ATTN_RT_CODE_CUBIN, 80, 0}});
  ASSERT_EQ(load(image), 0) << message;
  attn_rt_cuda_unload(program);
  // Cut anywhere, the image is refused: what is not an image's start is not PTX either.
  size_t end = image.rfind("add") + 3;
  for (size_t bytes = 0; bytes < end; ++bytes)
    EXPECT_EQ(load(image.substr(0, bytes)), ATTN_RT_INVALID_ARGUMENT) << bytes;
  EXPECT_STREQ(message, "the image of GPU code is damaged or cut off");
  image[8] = 7;
  EXPECT_EQ(load(image), ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "the image of GPU code has version 7, but this runtime reads version 1");
  EXPECT_EQ(program, nullptr);
}

} // namespace
