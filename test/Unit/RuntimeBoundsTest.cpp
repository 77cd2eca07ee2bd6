// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What checked code calls, driven by functions in its shape.

#include "attn/Runtime.h"

#include "gtest/gtest.h"

#include <string>

namespace {

/// 3 rows of 4 floats, 6 apart, from the second on.
struct Matrix {
  float memory[24] = {};
  int64_t words[7] = {0, 0, 1, 3, 4, 6, 1};

  /// Its descriptor, of rank 2.
  const int64_t *descriptor() {
    words[0] = words[1] = reinterpret_cast<int64_t>(memory);
    return words;
  }
};

/// What a function is to check: bytes from an offset to the first element on, or lanes of 4 bytes.
struct Request {
  Matrix matrix;
  int64_t offset = 0, bytes = 4;
  uint64_t lanes = 0;
  const char *place = "";
  const void *plain = nullptr;
};

void checkRequest(void **arguments) {
  auto &request = *static_cast<Request *>(arguments[0]);
  auto *marked = static_cast<char *>(attn_rt_guard_tensor("input 0", 2, 4, request.matrix.descriptor()));
  char *address = marked + 4 + request.offset;
  request.plain = request.lanes ? attn_rt_check_lanes(address, 4, request.lanes, nullptr, 0, 0, request.place)
                                : attn_rt_check_access(address, request.bytes, nullptr, 0, 1, request.place);
}

std::string check(Request &&request) {
  attn_rt_call_result result;
  void *arguments[] = {&request};
  attn_rt_call(nullptr, checkRequest, arguments, &result);
  EXPECT_EQ(result.code, *result.message ? ATTN_RT_OUT_OF_BOUNDS : ATTN_RT_OK);
  if (result.code == ATTN_RT_OK) {
    EXPECT_EQ(request.plain, reinterpret_cast<char *>(request.matrix.memory) + 4 + request.offset);
  }
  return result.message;
}

Request at(int64_t offset, int64_t bytes, uint64_t lanes = 0, const char *place = "") {
  Request request;
  request.offset = offset;
  request.bytes = bytes;
  request.lanes = lanes;
  request.place = place;
  return request;
}

TEST(RuntimeBounds, ElementsAreInside) {
  for (int64_t offset : {0, 4, 12, 24, 48, 60})
    EXPECT_EQ(check(at(offset, 4)), "");
  EXPECT_EQ(check(at(0, 16)), "");
  EXPECT_EQ(check(at(1, 15)), "");
  EXPECT_EQ(check(at(100, 0)), "") << "nothing is touched";
}

TEST(RuntimeBounds, TheRestIsOutside) {
  const std::string which = " of input 0, which has 64 bytes";
  EXPECT_EQ(check(at(64, 4)), "compiled code writes 4 bytes at byte 64 (element 16)" + which);
  EXPECT_EQ(check(at(62, 4)), "compiled code writes 4 bytes at byte 62" + which);
  EXPECT_EQ(check(at(-4, 4)), "compiled code writes 4 bytes at byte -4 (element -1)" + which);
  EXPECT_EQ(check(at(0, -1)), "compiled code writes -1 bytes at byte 0 (element 0)" + which);
  EXPECT_EQ(check(at(int64_t(1) << 40, 1, 0, "a.mlir:2:3")),
            "compiled code writes 1 byte at byte 1099511627776 (element 274877906944)" + which +
                "; the code comes from a.mlir:2:3");
  EXPECT_EQ(check(at(16, 4)), "compiled code writes 4 bytes at byte 16 (element 4) of input 0, between its rows");
  EXPECT_EQ(check(at(8, 12)), "compiled code writes 12 bytes at byte 8 (element 2) of input 0, between its rows");
}

TEST(RuntimeBounds, LanesThatAreOffTouchNothing) {
  EXPECT_EQ(check(at(56, 0, 0b0011)), "");
  EXPECT_EQ(check(at(0, 0, 0b1001111)), "") << "4 and 5 are the gap";
  EXPECT_EQ(check(at(0, 0, 0b0010000)),
            "compiled code reads 4 bytes at byte 16 (element 4) of input 0, between its rows");
  EXPECT_EQ(check(at(56, 0, 0b0111)),
            "compiled code reads 4 bytes at byte 64 (element 16) of input 0, which has 64 bytes");
}

TEST(RuntimeBounds, AddressesOfOthersMustNotLeadToTensors) {
  auto function = [](void **arguments) {
    auto &matrix = *static_cast<Matrix *>(arguments[0]);
    attn_rt_guard_tensor("input 0", 2, 4, matrix.descriptor());
    int variable = 0;
    attn_rt_check_access(&variable, 4, nullptr, 0, 0, "");
    attn_rt_check_access(&variable, 4, &variable, sizeof(variable), 0, "");
    attn_rt_check_access(matrix.memory + 3, 4, nullptr, 0, 0, "");
  };
  Matrix matrix;
  void *arguments[] = {&matrix};
  attn_rt_call_result result;
  attn_rt_call(nullptr, function, arguments, &result);
  EXPECT_STREQ(result.message, "compiled code reads 4 bytes at byte 8 (element 2) of input 0, through an address that "
                               "does not come from it");
}

TEST(RuntimeBounds, BuffersAreReleasedAndCounted) {
  auto function = [](void **arguments) {
    attn_rt_guard_tensor("input 0", 2, 4, static_cast<Matrix *>(arguments[0])->descriptor());
    for (int round = 0; round < 40000; ++round) {
      void *buffer = _mlir_memref_to_llvm_alloc(24);
      *static_cast<char *>(attn_rt_check_access(static_cast<char *>(buffer) + 23, 1, nullptr, 0, 1, "")) = 1;
      _mlir_memref_to_llvm_free(buffer);
    }
    _mlir_memref_to_llvm_free(nullptr);
    void *left = _mlir_memref_to_llvm_alloc(24);
    attn_rt_check_access(left, 25, nullptr, 0, 0, "");
  };
  Matrix matrix;
  void *arguments[] = {&matrix};
  attn_rt_call_result result;
  attn_rt_call(nullptr, function, arguments, &result);
  EXPECT_STREQ(result.message, "compiled code reads 25 bytes at byte 0 of a temporary buffer, which has 24 bytes");
  EXPECT_EQ(result.allocations, 40001);
  EXPECT_EQ(result.allocated_bytes, 24);
}

TEST(RuntimeBounds, ScratchIsTheWorkersOwn) {
  struct Loop {
    Matrix matrix;
    int64_t bytes;
  };
  auto function = [](void **arguments) {
    auto &loop = *static_cast<Loop *>(arguments[0]);
    attn_rt_guard_tensor("input 0", 2, 4, loop.matrix.descriptor());
    auto body = [](void *context, int64_t, int64_t, void *scratch) {
      attn_rt_check_access(scratch, static_cast<Loop *>(context)->bytes, context, sizeof(Loop), 1, "");
    };
    attn_rt_parallel_for(8, -1, 24, body, &loop);
  };
  for (int64_t bytes : {24, 25}) {
    Loop loop = {{}, bytes};
    attn_rt_pool *pool = attn_rt_pool_create(4);
    attn_rt_call_options options = {pool, 0, nullptr, 1, nullptr};
    void *arguments[] = {&loop};
    attn_rt_call_result result;
    attn_rt_call(&options, function, arguments, &result);
    EXPECT_STREQ(result.message,
                 bytes == 24 ? "" : "compiled code writes 25 bytes at byte 0 of scratch, which has 24 bytes");
    attn_rt_pool_destroy(pool);
  }
}

TEST(RuntimeBounds, OutsideOfCallsNothingIsChecked) {
  Matrix matrix;
  EXPECT_EQ(attn_rt_guard_tensor("input 0", 2, 4, matrix.descriptor()), matrix.memory);
  EXPECT_EQ(attn_rt_check_access(matrix.memory, 1000, nullptr, 0, 0, ""), matrix.memory);
}

} // namespace
