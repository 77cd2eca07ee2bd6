//===- ApiArgumentsTest.cpp - the rules of Kernel::run -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/attn.h"
#include "lib/API/Arguments.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace attn;

namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

/// @f(tensor<2x?xf32>, f32, i32) -> tensor<2x?xf32>, with arguments that are right.
struct ArgumentsTest : testing::Test {
  FunctionSignature signature{"f",
                              {{DType::F32, true, {2, dynamicSize}, "tensor<2x?xf32>"},
                               {DType::F32, false, {}, "f32"},
                               {DType::I32, false, {}, "i32"}},
                              {{DType::F32, true, {2, dynamicSize}, "tensor<2x?xf32>"}},
                              {}};
  std::vector<float> in = std::vector<float>(6), out = std::vector<float>(6);

  Status check(const Argument &input, const MutableTensorView &output) {
    return checkArguments(signature, {input, 0.5f, 3}, {output});
  }
  /// The message for a wrong input beside a right output.
  std::string input(const Argument &argument) { return message(check(argument, view(out, {2, 3}))); }
  std::string output(const MutableTensorView &argument) { return message(check(view(in, {2, 3}), argument)); }
  static std::string message(const Status &status) {
    if (status)
      return "";
    EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
    return status.error().message;
  }
};

} // namespace

TEST_F(ArgumentsTest, right_arguments_pass) {
  EXPECT_EQ(input(view(in, {2, 3})), "");
  const std::vector<float> &constant = in;
  EXPECT_EQ(input(view(constant, {2, 3})), "");
}

TEST_F(ArgumentsTest, counts) {
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3})}, {view(out, {2, 3})})),
            "@f(tensor<2x?xf32>, f32, i32) -> (tensor<2x?xf32>) expects 3 inputs, but got 1; pass one for each in the "
            "signature, in its order");
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3}), 1.0f, 2}, {})),
            "@f(tensor<2x?xf32>, f32, i32) -> (tensor<2x?xf32>) expects 1 outputs, but got 0; pass one for each in the "
            "signature, in its order");
}

TEST_F(ArgumentsTest, kinds_and_types) {
  std::vector<double> doubles(6);
  EXPECT_EQ(input(view(doubles, {2, 3})),
            "input 0 (tensor<2x?xf32>) expects elements of f32, but got f64; make the view "
            "of a buffer of that type");
  EXPECT_EQ(input(1.0f), "input 0 (tensor<2x?xf32>) expects a tensor, but got a floating-point number; pass "
                         "attn::view(...)");
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3}), 1, 3}, {view(out, {2, 3})})),
            "input 1 (f32) expects a floating-point number, but got an integer; convert it before the call");
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3}), view(in, {}), 3}, {view(out, {2, 3})})),
            "input 1 (f32) expects a floating-point number, but got a tensor; pass the scalar itself");
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3}), 1.0f, true}, {view(out, {2, 3})})),
            "input 2 (i32) expects an integer, but got a bool; convert it before the call");
}

TEST_F(ArgumentsTest, scalars_fit_their_types) {
  auto scalars = [&](const Argument &real, const Argument &integer) {
    return message(checkArguments(signature, {view(in, {2, 3}), real, integer}, {view(out, {2, 3})}));
  };
  EXPECT_EQ(scalars(1.0f, int64_t(1) << 31), "input 2 (i32) expects a number from -2147483648 to 2147483647, but got "
                                             "2147483648; pass one in that range");
  EXPECT_EQ(scalars(1.0f, std::numeric_limits<uint64_t>::max()),
            "input 2 (i32) expects a number from -2147483648 to 2147483647, but got 18446744073709551615; pass one in "
            "that range");
  EXPECT_EQ(scalars(1.0f, -(int64_t(1) << 31)), "");
  EXPECT_NE(scalars(1e39, 0).find("finite in f32"), std::string::npos);
  EXPECT_EQ(scalars(double(std::numeric_limits<float>::max()), 0), "");
  EXPECT_EQ(scalars(INFINITY, 0), "");
  EXPECT_EQ(scalars(NAN, 0), "");
}

TEST_F(ArgumentsTest, ranks_and_sizes) {
  EXPECT_EQ(input(view(in, {6})), "input 0 (tensor<2x?xf32>) expects rank 2, but got sizes [6]; give one size a "
                                  "dimension");
  EXPECT_EQ(input(view(in.data(), {2, 3}, {3})),
            "input 0 (tensor<2x?xf32>) expects one stride a dimension, but got "
            "sizes [2, 3] and strides [3]; give both, or leave the strides out for "
            "a dense row-major tensor");
  EXPECT_EQ(input(view(in, {3, 2})),
            "input 0 (tensor<2x?xf32>) expects size 2 in dimension 0, but got [3, 2]; pass that "
            "size, or write ? for it in the function's type");
  EXPECT_EQ(input(view(in, {2, -1})), "input 0 (tensor<2x?xf32>) expects sizes of at least 0, but got [2, -1]; correct "
                                      "dimension 1");
}

TEST_F(ArgumentsTest, strides) {
  EXPECT_EQ(input(view(in.data(), {2, 3}, {1, 2})),
            "input 0 (tensor<2x?xf32>) expects stride 1 in the last dimension, but got [1, 2]; copy the tensor, or "
            "declare its layout in the function so that the contiguous dimension is last");
  EXPECT_EQ(input(view(in.data() + 3, {2, 3}, {-3, 1})), "input 0 (tensor<2x?xf32>) expects strides of at least 0, but "
                                                         "got [-3, 1]; copy the tensor into ascending order");
  EXPECT_EQ(output(view(out.data(), {2, 3}, {0, 1})),
            "output 0 (tensor<2x?xf32>) expects strides above 0, as an output, "
            "but got [0, 1]; give each element memory of its own in "
            "dimension 0");
  EXPECT_EQ(output(view(out.data(), {2, 3}, {2, 1})),
            "output 0 (tensor<2x?xf32>) expects strides that give each element memory of its own, but got sizes [2, 3] "
            "and strides [2, 1]; use larger strides");
  // Inputs may broadcast and overlap themselves; a dimension of size 1, or a tensor without elements, has any stride.
  EXPECT_EQ(input(view(in.data(), {2, 3}, {0, 1})), "");
  EXPECT_EQ(input(view(in.data(), {2, 3}, {2, 1})), "");
  EXPECT_EQ(input(view(in.data(), {2, 1}, {3, 7})), "");
  EXPECT_EQ(output(view(out.data(), {2, 1}, {3, 0})), "");
  EXPECT_EQ(output(view(out.data(), {2, 0}, {0, 5})), "");
}

TEST_F(ArgumentsTest, memory) {
  float *nothing = nullptr;
  EXPECT_EQ(input(view(nothing, {2, 3})), "input 0 (tensor<2x?xf32>) expects data, having elements, but got a null "
                                          "pointer; point it at 6 elements");
  EXPECT_EQ(input(view(nothing, {2, 0})), "");
  auto *odd = reinterpret_cast<float *>(reinterpret_cast<char *>(in.data()) + 2);
  EXPECT_NE(input(view(odd, {2, 1})).find("expects data aligned to 4 bytes"), std::string::npos);
  EXPECT_EQ(input(view(in, {2, 4})), "input 0 (tensor<2x?xf32>) expects a container of at least 8 elements, but got 6; "
                                     "resize it, or correct the sizes [2, 4]");
  EXPECT_EQ(input(view(in, {2, 3}, {4, 1})),
            "input 0 (tensor<2x?xf32>) expects a container of at least 7 elements, but "
            "got 6; resize it, or correct the sizes [2, 3]");
}

TEST_F(ArgumentsTest, products_that_overflow) {
  EXPECT_NE(input(view(in.data(), {2, largest})).find("a number of elements that fits in 63 bits"), std::string::npos);
  // The elements can be counted, their bytes cannot.
  EXPECT_NE(input(view(in.data(), {2, largest / 4})).find("whose bytes fit in 63 bits"), std::string::npos);
  EXPECT_NE(input(view(in.data(), {2, 3}, {largest, 1})).find("whose bytes fit in 63 bits"), std::string::npos);
  EXPECT_NE(input(view(in.data(), {2, 3}, {largest / 4, 1})).find("whose bytes fit in 63 bits"), std::string::npos);
  // Without elements nothing is multiplied.
  signature.arguments[0].sizes = {dynamicSize, dynamicSize, dynamicSize};
  EXPECT_EQ(input(view(in.data(), {largest, 0, largest})), "");
}

TEST_F(ArgumentsTest, outputs_share_no_memory) {
  EXPECT_EQ(output(view(in, {2, 3})), "output 0 (tensor<2x?xf32>) expects memory of its own, but got memory that it "
                                      "shares with input 0; give the output a buffer that nothing else uses");
  std::vector<float> shared(12);
  auto checkPair = [&](int64_t inputStart, int64_t outputStart) {
    return message(check(view(shared.data() + inputStart, {2, 3}), view(shared.data() + outputStart, {2, 3})));
  };
  EXPECT_EQ(checkPair(0, 6), ""); // adjacent
  EXPECT_EQ(checkPair(6, 0), "");
  EXPECT_NE(checkPair(0, 5), ""); // one element
  EXPECT_NE(checkPair(5, 0), "");

  signature.results.push_back(signature.results[0]);
  auto checkTwo = [&](int64_t second) {
    return message(checkArguments(signature, {view(in, {2, 3}), 0.5f, 3},
                                  {view(shared.data(), {2, 3}), view(shared.data() + second, {2, 3})}));
  };
  EXPECT_EQ(checkTwo(6), "");
  EXPECT_EQ(checkTwo(5), "output 1 (tensor<2x?xf32>) expects memory of its own, but got memory that it shares with "
                         "output 0; give the output a buffer that nothing else uses");
  // An output without elements shares nothing.
  EXPECT_EQ(message(checkArguments(signature, {view(shared.data(), {2, 3}), 0.5f, 3},
                                   {view(out, {2, 3}), view(shared.data() + 1, {2, 0})})),
            "");
}

TEST_F(ArgumentsTest, inputs_may_share_memory) {
  signature.arguments.push_back(signature.arguments[0]);
  EXPECT_EQ(message(checkArguments(signature, {view(in, {2, 3}), 0.5f, 3, view(in, {2, 3})}, {view(out, {2, 3})})), "");
}

TEST_F(ArgumentsTest, packs_what_compiled_code_takes) {
  std::vector<Argument> inputs{view(in.data(), {2, 3}, {0, 1}), 0.25, -7};
  std::vector<MutableTensorView> outputs{view(out, {2, 3})};
  PackedArguments packed(signature, inputs, outputs);
  auto **pointers = reinterpret_cast<int64_t **>(packed.pointers());
  EXPECT_EQ(pointers[0][0], reinterpret_cast<int64_t>(in.data()));
  EXPECT_EQ(pointers[0][1], reinterpret_cast<int64_t>(in.data()));
  EXPECT_EQ((std::vector<int64_t>(pointers[0] + 2, pointers[0] + 7)), (std::vector<int64_t>{0, 2, 3, 0, 1}));
  EXPECT_EQ(*reinterpret_cast<float *>(pointers[1]), 0.25f);
  EXPECT_EQ(*reinterpret_cast<int32_t *>(pointers[2]), -7);
  EXPECT_EQ((std::vector<int64_t>(pointers[3] + 2, pointers[3] + 7)), (std::vector<int64_t>{0, 2, 3, 3, 1}));
}

TEST(Scalars, are_rounded_once) {
  // 1 + 2^-11 + 2^-40 lies just above the tie between two f16 numbers; by way of f32 it would be the tie itself.
  double aboveTie = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(encodeScalar(aboveTie, DType::F16), Float16(1 + 0x1p-10f).bits);
  EXPECT_EQ(encodeScalar(1 + 0x1p-11 - 0x1p-40, DType::F16), Float16(1).bits);
  EXPECT_EQ(encodeScalar(-aboveTie, DType::F16), Float16(-1 - 0x1p-10f).bits);
  EXPECT_EQ(encodeScalar(1 + 0x1p-8 + 0x1p-40, DType::BF16), BFloat16(1 + 0x1p-7f).bits);
  EXPECT_EQ(encodeScalar(true, DType::I1), 1u);
}

TEST(Views, describe_the_memory) {
  std::array<Float16, 6> data;
  MutableTensorView made = view(data, {2, 3});
  EXPECT_EQ(made.dtype, DType::F16);
  EXPECT_EQ(made.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(made.capacity, 6);
  EXPECT_EQ(view(data.data(), {2, 3}).capacity, -1);
  EXPECT_EQ(rowMajorStrides({2, 0, 3}), (std::vector<int64_t>{3, 3, 1}));
  EXPECT_EQ(rowMajorStrides({2, largest, largest}), (std::vector<int64_t>{largest, largest, 1}));
  EXPECT_EQ(dtypeOf<const long long>, DType::I64);
  EXPECT_EQ(dtypeOf<bool>, DType::I1);
}

TEST(HalfTypes, every_value_survives_the_way_through_float) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float half = static_cast<float>(Float16::fromBits(bits)), brain = static_cast<float>(BFloat16::fromBits(bits));
    if (std::isnan(half))
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(half))));
    else
      EXPECT_EQ(Float16(half).bits, bits);
    if (std::isnan(brain))
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(brain))));
    else
      EXPECT_EQ(BFloat16(brain).bits, bits);
  }
}

/// Every finite positive value x with the next one y: the middle rounds to the even one, its neighbours to x and y.
template <typename T> static void checkRounding(uint16_t infinity) {
  for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    float low = static_cast<float>(T::fromBits(bits)), high = static_cast<float>(T::fromBits(bits + 1));
    float middle = static_cast<float>((static_cast<double>(low) + high) / 2);
    ASSERT_EQ(T(middle).bits, bits + (bits & 1)) << low;
    ASSERT_EQ(T(std::nextafter(middle, 0.0f)).bits, bits) << low;
    ASSERT_EQ(T(std::nextafter(middle, INFINITY)).bits, bits + 1) << low;
    ASSERT_EQ(T(-middle).bits, 0x8000 | (bits + (bits & 1))) << low;
  }
}

TEST(HalfTypes, round_to_nearest_even) {
  checkRounding<Float16>(0x7c00);
  checkRounding<BFloat16>(0x7f80);
  EXPECT_EQ(Float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(INFINITY).bits, 0x7c00);
  EXPECT_EQ(static_cast<float>(Float16::fromBits(0x3555)), 0.333251953125f); // 1365 * 2^-12
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(Results, hold_a_value_or_an_error) {
  Result<int> good = 3, bad = Error{ErrorCode::NotFound, "gone", {"x.mlir", 4, 5}};
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().str(), "x.mlir:4:5: gone");
  EXPECT_EQ((Error{ErrorCode::Io, "gone", {"x.mlir", 0, 0}}).str(), "x.mlir: gone");
  EXPECT_STREQ(toString(ErrorCode::NotFound), "NotFound");
  EXPECT_TRUE(Status());
}

TEST(ThreadPools, refuse_wrong_numbers) {
  auto tooMany = ThreadPool::create(1025);
  ASSERT_FALSE(tooMany);
  EXPECT_EQ(tooMany.error().message, "a thread pool expects 0 to 1024 threads, but got 1025; use 0 for as many as the "
                                     "process may run on");
  EXPECT_FALSE(ThreadPool::create(-1));
  EXPECT_FALSE(ThreadPool::create(Executor{0, [](int64_t, const std::function<void(int64_t)> &) {}}));
  EXPECT_FALSE(ThreadPool::create(Executor{2, nullptr}));
  EXPECT_EQ(ThreadPool().threads(), 1);
  EXPECT_EQ(ThreadPool::create(3)->threads(), 3);
  EXPECT_FALSE(RunOptions().threads(-1).status());
}
