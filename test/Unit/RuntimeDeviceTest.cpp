// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What generated code asks of a device, with a device whose memory is the host's and whose kernels add.

#include "attn/Device.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace {

/// Its one kernel, "add", takes an address and a number, and adds the number to each of grid[0] * block[0] integers.
class AddingDevice {
public:
  AddingDevice() : device{this, launch, allocate, release, read, write, wait} {}

  attn_rt_device device;
  std::set<void *> memory;
  int64_t budget = 1 << 20;
  std::vector<std::string> events;

private:
  static AddingDevice &self(void *user) { return *static_cast<AddingDevice *>(user); }

  static int32_t launch(void *user, const attn_rt_launch_info *info, char message[ATTN_RT_MESSAGE_BYTES]) {
    self(user).events.push_back("launch " + std::string(info->kernel));
    if (std::strcmp(info->kernel, "add") != 0) {
      std::snprintf(message, ATTN_RT_MESSAGE_BYTES, "no kernel {0} of the name %s", info->kernel);
      return ATTN_RT_DEVICE_FAILED;
    }
    int64_t *numbers, summand;
    std::memcpy(&numbers, info->parameters[0].data, sizeof(numbers));
    std::memcpy(&summand, info->parameters[1].data, sizeof(summand));
    for (int64_t n = 0; n < info->grid[0] * info->block[0]; ++n)
      numbers[n] += summand;
    return 0;
  }
  static void *allocate(void *user, int64_t bytes) {
    if (bytes > self(user).budget)
      return nullptr;
    void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    self(user).memory.insert(memory);
    return memory;
  }
  static void release(void *user, void *memory) {
    EXPECT_EQ(self(user).memory.erase(memory), 1u);
    std::free(memory);
  }
  static int32_t read(void *user, void *host, const void *device, int64_t bytes, char *) {
    self(user).events.push_back("read " + std::to_string(bytes));
    std::memcpy(host, device, bytes);
    return 0;
  }
  static int32_t write(void *user, void *device, const void *host, int64_t bytes, char *) {
    self(user).events.push_back("write " + std::to_string(bytes));
    std::memcpy(device, host, bytes);
    return 0;
  }
  static int32_t wait(void *, char *) { return 0; }
};

attn_rt_call_result callOn(const attn_rt_device *device, void (*function)(void **), void **arguments = nullptr) {
  attn_rt_call_options options = {nullptr, 0, nullptr, 0, device};
  attn_rt_call_result result;
  EXPECT_EQ(attn_rt_call(&options, function, arguments, &result), result.code);
  return result;
}

void launchAdd(void *numbers, int64_t summand, int64_t blocks, int64_t rows = 1) {
  attn_rt_parameter parameters[] = {{ATTN_RT_PARAMETER_BYTES, sizeof(numbers), &numbers},
                                    {ATTN_RT_PARAMETER_BYTES, sizeof(summand), &summand}};
  attn_rt_launch_info info = {"add", {blocks, rows, 1}, {4, 1, 1}, 0, 2, parameters};
  attn_rt_launch(&info);
}

TEST(RuntimeDevice, BuffersLaunchesAndCopies) {
  AddingDevice device;
  int64_t numbers[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  void *arguments[] = {numbers};
  attn_rt_call_result result = callOn(
      &device.device,
      [](void **arguments) {
        void *buffer = _mlir_memref_to_llvm_alloc(64);
        attn_rt_device_write(buffer, arguments[0], 64);
        launchAdd(buffer, 100, 2);
        launchAdd(buffer, 1000, 1);
        attn_rt_device_read(arguments[0], buffer, 64);
        _mlir_memref_to_llvm_free(buffer);
        _mlir_memref_to_llvm_free(nullptr);
      },
      arguments);
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  for (int64_t n = 0; n < 8; ++n)
    EXPECT_EQ(numbers[n], 10 + n + 100 + (n < 4 ? 1000 : 0)) << n;
  EXPECT_EQ(device.events, (std::vector<std::string>{"write 64", "launch add", "launch add", "read 64"}));
  EXPECT_EQ(result.launches, 2);
  EXPECT_EQ(result.allocations, 1);
  EXPECT_EQ(result.allocated_bytes, 64);
  EXPECT_TRUE(device.memory.empty());
}

TEST(RuntimeDevice, CountsBuffersAndFreesThoseLeftBehind) {
  AddingDevice device;
  attn_rt_call_result result = callOn(&device.device, [](void **) {
    void *first = _mlir_memref_to_llvm_alloc(100);
    void *second = _mlir_memref_to_llvm_aligned_alloc(4096, 50);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 4096, 0u);
    _mlir_memref_to_llvm_free(first);
    _mlir_memref_to_llvm_alloc(0);
    attn_rt_fail("stopped", 0, 0);
  });
  EXPECT_STREQ(result.message, "stopped");
  EXPECT_EQ(result.allocations, 3);
  EXPECT_EQ(result.allocated_bytes, 150);
  EXPECT_TRUE(device.memory.empty());
}

TEST(RuntimeDevice, EmptyGridStartsNothing) {
  AddingDevice device;
  attn_rt_call_result result = callOn(&device.device, [](void **) {
    launchAdd(nullptr, 1, 0);
    launchAdd(nullptr, 1, 3, /*rows=*/0);
    attn_rt_device_read(nullptr, nullptr, 0);
    attn_rt_device_write(nullptr, nullptr, 0);
  });
  EXPECT_EQ(result.code, ATTN_RT_OK) << result.message;
  EXPECT_EQ(result.launches, 0);
  EXPECT_TRUE(device.events.empty());
}

TEST(RuntimeDevice, ErrorsEndTheCall) {
  AddingDevice device;
  attn_rt_call_result result = callOn(&device.device, [](void **) {
    attn_rt_launch_info info = {"subtract", {1, 1, 1}, {1, 1, 1}, 0, 0, nullptr};
    attn_rt_launch(&info);
    ADD_FAILURE() << "the call goes on";
  });
  EXPECT_EQ(result.code, ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(result.message, "no kernel {0} of the name subtract");
  EXPECT_EQ(result.launches, 0);

  result = callOn(&device.device, [](void **) { launchAdd(nullptr, 1, -2); });
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "a grid's sizes must be at least 0, but one is -2");

  result = callOn(&device.device, [](void **) { attn_rt_device_read(nullptr, nullptr, -1); });
  EXPECT_EQ(result.code, ATTN_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(result.message, "a copy must have 0 to 140737488355328 bytes, but has -1");

  device.budget = 100;
  result = callOn(&device.device, [](void **) { _mlir_memref_to_llvm_alloc(101); });
  EXPECT_EQ(result.code, ATTN_RT_OUT_OF_MEMORY);
  EXPECT_STREQ(result.message, "no device memory for a buffer of 101 bytes aligned to 64");
  EXPECT_EQ(result.allocations, 0);
}

TEST(RuntimeDevice, CallsWithoutDevice) {
  attn_rt_call_result result = callOn(nullptr, [](void **) { launchAdd(nullptr, 1, 1); });
  EXPECT_EQ(result.code, ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(result.message,
               "the code starts kernels of a GPU, but the call has no device (attn_rt_call_options::device)");
  result = callOn(nullptr, [](void **) { attn_rt_device_read(nullptr, nullptr, 12); });
  EXPECT_EQ(result.code, ATTN_RT_DEVICE_FAILED);
  EXPECT_STREQ(result.message, "the code reads 12 bytes of a device, but the call has none");
  result = callOn(nullptr, [](void **) { attn_rt_device_write(nullptr, nullptr, 12); });
  EXPECT_STREQ(result.message, "the code writes 12 bytes of a device, but the call has none");
}

} // namespace
