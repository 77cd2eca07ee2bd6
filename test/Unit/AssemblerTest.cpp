//===- AssemblerTest.cpp - PTX to cubin ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/Assembler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attn;
using testing::HasSubstr;

namespace {

constexpr const char *kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor) {
  .reg .b64 %p<2>;
  .reg .f32 %f<3>;
  .shared .align 4 .b8 tile[96];
  ld.param.u64 %p0, [data];
  ld.param.f32 %f0, [factor];
  ld.global.f32 %f1, [%p0];
  mul.f32 %f1, %f1, %f0;
  st.shared.f32 [tile+64], %f1;
  bar.sync 0;
  ld.shared.f32 %f2, [tile+32];
  st.global.f32 [%p0], %f2;
  ret;
}
)";

TEST(Assembler, ReadsTheLog) {
  Assembly assembly;
  assembly.log = "ptxas info    : 0 bytes gmem\n"
                 "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
                 "ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
                 "ptxas info    : Function properties for first\n"
                 "    40 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n"
                 "ptxas info    : Used 168 registers, used 16 barriers, 1024 bytes smem, 392 bytes cmem[0]\n"
                 "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
                 "ptxas info    : Used 12 registers\n"
                 "ptxas warning : something else\n"
                 "info    : used 7 registers, used 1 barriers\n";
  parseAssemblerLog(assembly);
  ASSERT_EQ(assembly.kernels.size(), 2u);
  const KernelResources &first = assembly.kernels[0], &second = assembly.kernels[1];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.registers, 168);
  EXPECT_EQ(first.stackBytes, 40);
  EXPECT_EQ(first.spillStores, 24);
  EXPECT_EQ(first.spillLoads, 28);
  EXPECT_EQ(first.sharedBytes, 1024);
  EXPECT_EQ(first.barriers, 16);
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.registers, 12);
  EXPECT_EQ(second.sharedBytes, 0);
  ASSERT_EQ(assembly.warnings.size(), 2u);
  EXPECT_THAT(assembly.warnings[0], HasSubstr("(C7514)"));
  EXPECT_EQ(assembly.warnings[1], "ptxas warning : something else");
}

TEST(Assembler, SaysWhereItLooked) {
  auto fail = [](AssemblerKind kind, llvm::StringRef chip = "sm_80") {
    AssemblerOptions options;
    options.kind = kind;
    options.toolkit = "/no/toolkit";
    return llvm::toString(assemblePtx(kPtx, chip, options).takeError());
  };
  EXPECT_EQ(fail(AssemblerKind::Any),
            "a cubin needs ptxas (bin/ptxas) or nvJitLink (lib64/libnvJitLink.so) of a CUDA Toolkit, but there is none "
            "in /no/toolkit; PTX needs none");
  EXPECT_THAT(fail(AssemblerKind::Any, "sm_90a"), HasSubstr("a cubin needs ptxas (bin/ptxas) of a CUDA Toolkit"));
  EXPECT_THAT(fail(AssemblerKind::Ptxas), HasSubstr("a cubin needs ptxas (bin/ptxas) of a CUDA Toolkit"));
  EXPECT_THAT(fail(AssemblerKind::NvJitLink), HasSubstr("a cubin needs nvJitLink (lib64/libnvJitLink.so) of"));
}

/// Each assembler where it is installed.
class AssemblerKinds : public testing::TestWithParam<AssemblerKind> {
protected:
  void SetUp() override {
    options.kind = GetParam();
    auto assembly = assemblePtx(kPtx, "sm_80", options);
    llvm::Error error = assembly ? llvm::Error::success() : assembly.takeError();
    llvm::handleAllErrors(
        std::move(error), [](const AssemblerMissing &missing) { GTEST_SKIP() << missing.message(); },
        [](const llvm::ErrorInfoBase &) {});
  }

  AssemblerOptions options;
};

TEST_P(AssemblerKinds, Assembles) {
  auto assembly = assemblePtx(kPtx, "sm_80", options);
  ASSERT_TRUE(bool(assembly)) << llvm::toString(assembly.takeError());
  EXPECT_EQ(assembly->cubin.substr(0, 4), "\x7F"
                                          "ELF");
  ASSERT_EQ(assembly->kernels.size(), 1u) << assembly->log;
  EXPECT_EQ(assembly->kernels[0].name, "scale");
  EXPECT_GT(assembly->kernels[0].registers, 0);
  EXPECT_EQ(assembly->kernels[0].spillStores, 0);
  EXPECT_EQ(assembly->kernels[0].sharedBytes, 96);
  EXPECT_EQ(assembly->kernels[0].barriers, 1);
  EXPECT_TRUE(assembly->warnings.empty());
}

TEST_P(AssemblerKinds, ReportsErrors) {
  std::string wrong = kPtx;
  wrong.replace(wrong.find("mul.f32"), 7, "mul.f77");
  auto assembly = assemblePtx(wrong, "sm_80", options);
  ASSERT_FALSE(bool(assembly));
  std::string error = llvm::toString(assembly.takeError());
  EXPECT_THAT(error, HasSubstr("failed for sm_80: "));
  EXPECT_THAT(error, HasSubstr(".f77"));
}

TEST_P(AssemblerKinds, RefusesAnUnknownChip) {
  auto assembly = assemblePtx(kPtx, "sm_11", options);
  ASSERT_FALSE(bool(assembly));
  EXPECT_THAT(llvm::toString(assembly.takeError()), HasSubstr("sm_11"));
}

INSTANTIATE_TEST_SUITE_P(Assembler, AssemblerKinds, testing::Values(AssemblerKind::NvJitLink, AssemblerKind::Ptxas),
                         [](const auto &info) { return info.param == AssemblerKind::Ptxas ? "Ptxas" : "NvJitLink"; });

} // namespace
