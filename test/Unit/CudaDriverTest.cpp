// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drivers that are missing, broken or old. A process loads one driver for good, so this is one test.

#include "FakeCudaControl.h"
#include "attn/Cuda.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using testing::HasSubstr;
using testing::StartsWith;

TEST(CudaDriver, MissingThenBrokenThenOld) {
  char message[ATTN_RT_MESSAGE_BYTES] = "";
  attn_rt_cuda *cuda = nullptr;
  setenv("ATTN_CUDA_DRIVER", "/no/such/library.so", 1);
  EXPECT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("there is no CUDA driver: /no/such/library.so: cannot open"));
  EXPECT_THAT(message, HasSubstr("install NVIDIA's driver, or compile for the CPU"));

  setenv("ATTN_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the CUDA driver in libm.so.6 has no cuInit; it is too old");

  FakeCuda fake(ATTN_OLD_FAKE_CUDA);
  fake.fail("cuInit", 100);
  int32_t count = 0;
  EXPECT_EQ(attn_rt_cuda_count(&count, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_THAT(message, StartsWith("cannot start the CUDA driver: CUDA_ERROR_NO_DEVICE (100)"));

  // Without pools and tensor maps.
  ASSERT_EQ(attn_rt_cuda_open(0, nullptr, &cuda, message), 0) << message;
  const attn_rt_device *device = attn_rt_cuda_memory(cuda);
  void *memory = device->allocate(device->user, 40);
  device->release(device->user, memory);
  EXPECT_THAT(fake.log(), HasSubstr("cuMemAlloc_v2 40\n"));
  attn_rt_cuda_program *program = nullptr;
  std::string ptx = ".target sm_80 copy";
  ASSERT_EQ(attn_rt_cuda_load(cuda, ptx.data(), ptx.size(), &program, message), 0) << message;
  attn_rt_tensor_map map = {};
  map.base = &map;
  attn_rt_parameter parameter = {ATTN_RT_PARAMETER_TENSOR_MAP, 0, &map};
  attn_rt_launch_info info = {"copy", {1, 1, 1}, {1, 1, 1}, 0, 1, &parameter};
  device = attn_rt_cuda_device(program);
  EXPECT_EQ(device->launch(device->user, &info, message), ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(message, "the CUDA driver has no cuTensorMapEncodeTiled; copies by boxes need one for CUDA 12 or newer");
  attn_rt_cuda_unload(program);
  attn_rt_cuda_close(cuda);
  EXPECT_EQ(fake.liveObjects(), 0);
  EXPECT_EQ(fake.callsWithoutContext(), 0);
}
