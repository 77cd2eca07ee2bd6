//===- DeviceCodeTest.cpp - kernels of a GPU as PTX ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/CodeGen/DeviceCode.h"
#include "attn/CodeGen/CodeGen.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/SourceMgr.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attn;
using testing::HasSubstr;

namespace {

/// LLVM IR with its own context, as most tests need it.
class DeviceModule {
public:
  explicit DeviceModule(const std::string &text) {
    llvm::SMDiagnostic diagnostic;
    module = llvm::parseAssemblyString(text, diagnostic, context);
    EXPECT_TRUE(module) << diagnostic.getMessage().str();
  }

  /// The PTX, or the error's text.
  std::string emit(llvm::StringRef chip) {
    auto ptx = emitPtx(*module, chip);
    return ptx ? *ptx : "error: " + llvm::toString(ptx.takeError());
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// A kernel with that body, in front of the declarations.
std::string kernel(const std::string &body, const std::string &declarations) {
  return "target triple = \"nvptx64-nvidia-cuda\"\n"
         "@tile = external addrspace(3) global [0 x i8], align 128\n"
         "define ptx_kernel void @kernel(ptr addrspace(1) %out, i64 %a, i64 %b, i32 %word) {\n" +
         body + "  ret void\n}\n" + declarations;
}

/// A call of the m64n8k16 wgmma of that name and those further operands, whose first sum is stored.
std::string wgmmaKernel(const std::string &name, const std::string &operands, const std::string &types) {
  std::string sums = "{ float, float, float, float }";
  return kernel("  %sums = call " + sums + " @" + name + "(float 0.0, float 1.0, float 2.0, float 3.0, " + operands +
                    ")\n  %first = extractvalue " + sums + " %sums, 0\n  store float %first, ptr addrspace(1) %out\n",
                "declare " + sums + " @" + name + "(float, float, float, float, " + types + ")\n");
}

TEST(DeviceCode, TranslatesAGpuModule) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    gpu.module @kernels {
      llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
      llvm.func @copy(%source: !llvm.ptr<1>, %word: i32) attributes {nvvm.kernel} {
        %thread = nvvm.read.ptx.sreg.tid.x : i32
        %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
        nvvm.cp.async.shared.global %tile, %source, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
        nvvm.barrier
        llvm.store %thread, %source : i32, !llvm.ptr<1>
        llvm.return
      }
    })",
                                                        &context);
  ASSERT_TRUE(module);
  llvm::LLVMContext llvmContext;
  auto translated = translateDeviceModule(*module->getOps<mlir::gpu::GPUModuleOp>().begin(), llvmContext);
  ASSERT_TRUE(bool(translated)) << llvm::toString(translated.takeError());
  EXPECT_EQ((*translated)->getTargetTriple().str(), "nvptx64-nvidia-cuda");
  EXPECT_EQ((*translated)->getFunction("copy")->getCallingConv(), llvm::CallingConv::PTX_Kernel);
  EXPECT_TRUE((*translated)->getFunction("llvm.nvvm.read.ptx.sreg.tid.x"));
  auto ptx = emitPtx(**translated, "sm_80");
  ASSERT_TRUE(bool(ptx)) << llvm::toString(ptx.takeError());
  EXPECT_THAT(*ptx, HasSubstr(".version 8.0"));
  EXPECT_THAT(*ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(*ptx, HasSubstr(".visible .entry copy("));
  EXPECT_THAT(*ptx, HasSubstr("cp.async.cg.shared.global"));
}

TEST(DeviceCode, MbarrierWait) {
  DeviceModule module(kernel("  call void @attn_dev_mbarrier_wait(ptr addrspace(3) @tile, i32 %word)\n",
                             "declare void @attn_dev_mbarrier_wait(ptr addrspace(3), i32)\n"));
  std::string ptx = module.emit("sm_90a");
  EXPECT_THAT(ptx, HasSubstr(".version 8.6"));
  EXPECT_THAT(ptx, HasSubstr("mbarrier.try_wait.parity.shared::cta.b64 done, ["));
  EXPECT_FALSE(module.module->getFunction("attn_dev_mbarrier_wait"));
}

TEST(DeviceCode, OpaqueValues) {
  // The difference of a value and what is hidden of it is not folded to 0.
  DeviceModule module(kernel("  %same = call i32 @attn_dev_opaque_i32(i32 %word)\n"
                             "  %none = sub i32 %word, %same\n"
                             "  store i32 %none, ptr addrspace(3) @tile\n",
                             "declare i32 @attn_dev_opaque_i32(i32)\n"));
  std::string ptx = module.emit("sm_80");
  EXPECT_THAT(ptx, testing::ContainsRegex("mov.b32 %r[0-9]+, %r[0-9]+;"));
  EXPECT_THAT(ptx, testing::ContainsRegex("sub.s32"));
}

TEST(DeviceCode, WgmmaOfSharedMemory) {
  DeviceModule module(wgmmaKernel("attn_dev_wgmma_m64n8k16_f32_bf16_ss", "i64 %a, i64 %b, i32 %word", "i64, i64, i32"));
  std::string ptx = module.emit("sm_90a");
  EXPECT_THAT(ptx, testing::ContainsRegex("setp.ne.b32 keep, %r[0-9]+, 0;"));
  EXPECT_THAT(ptx, testing::ContainsRegex("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                                          "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, %rd[0-9]+, %rd[0-9]+, keep, "
                                          "1, 1, 0, 0;"));
}

TEST(DeviceCode, WgmmaOfRegisters) {
  DeviceModule module(wgmmaKernel("attn_dev_wgmma_m64n8k16_f32_f16_rs",
                                  "i32 %word, i32 %word, i32 %word, i32 %word, i64 %b", "i32, i32, i32, i32, i64"));
  EXPECT_THAT(module.emit("sm_90a"),
              testing::ContainsRegex("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                                     "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, "
                                     "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, %rd[0-9]+, 1, 1, 1, 1;"));
}

/// The largest one has 128 sums: outputs 0 to 127, their inputs, then descriptors 256 and 257.
TEST(DeviceCode, LargestWgmmaNumbersItsOperands) {
  std::string sums = "{ ", types, zeros;
  for (int n = 0; n < 128; ++n) {
    sums += n ? ", float" : "float";
    types += "float, ";
    zeros += "float 0.0, ";
  }
  sums += " }";
  std::string name = "@attn_dev_wgmma_m64n256k16_f32_bf16_ss(";
  DeviceModule module(kernel("  call " + sums + " " + name + zeros + "i64 %a, i64 %b, i32 %word)\n",
                             "declare " + sums + " " + name + types + "i64, i64, i32)\n"));
  ASSERT_FALSE(replaceDeviceFunctions(*module.module));
  auto &call = llvm::cast<llvm::CallInst>(module.module->getFunction("kernel")->front().front());
  auto *assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  EXPECT_THAT(assembly->getAsmString().str(), HasSubstr("$127}, $256, $257, keep, 1, 1, 0, 0;"));
  EXPECT_THAT(assembly->getAsmString().str(), HasSubstr("setp.ne.b32 keep, $258, 0;"));
  EXPECT_TRUE(llvm::StringRef(assembly->getConstraintString()).ends_with(",126,127,l,l,r"));
}

TEST(DeviceCode, UnknownDeviceFunctionsAreListed) {
  DeviceModule module(kernel("  call void @attn_dev_sleep(i32 %word)\n"
                             "  call void @attn_dev_wgmma_m64n12k16_f32_bf16_ss(i32 %word)\n"
                             "  call void @attn_dev_mbarrier_wait(i32 %word)\n",
                             "declare void @attn_dev_sleep(i32)\n"
                             "declare void @attn_dev_wgmma_m64n12k16_f32_bf16_ss(i32)\n"
                             "declare void @attn_dev_mbarrier_wait(i32)\n"));
  EXPECT_EQ(module.emit("sm_90a"),
            "error: device functions that have no assembly: attn_dev_sleep is not known; "
            "attn_dev_wgmma_m64n12k16_f32_bf16_ss is not known; attn_dev_mbarrier_wait expects the type "
            "void (ptr addrspace(3), i32), but has void (i32)");
  EXPECT_TRUE(module.module->getFunction("attn_dev_sleep"));
}

TEST(DeviceCode, RefusesWhatTheChipHasNot) {
  std::string wait = kernel("  call void @attn_dev_mbarrier_wait(ptr addrspace(3) @tile, i32 %word)\n",
                            "declare void @attn_dev_mbarrier_wait(ptr addrspace(3), i32)\n");
  EXPECT_EQ(DeviceModule(wait).emit("sm_80"),
            "error: attn_dev_mbarrier_wait needs sm_90 or newer, but the target is sm_80");
  std::string wgmma = wgmmaKernel("attn_dev_wgmma_m64n8k16_f32_bf16_ss", "i64 %a, i64 %b, i32 %word", "i64, i64, i32");
  EXPECT_EQ(DeviceModule(wgmma).emit("sm_90"),
            "error: attn_dev_wgmma_m64n8k16_f32_bf16_ss needs sm_90a, but the target is sm_90");
  EXPECT_EQ(DeviceModule(wgmma).emit("sm_100a"),
            "error: attn_dev_wgmma_m64n8k16_f32_bf16_ss needs sm_90a, but the target is sm_100a");
  std::string copy =
      kernel("  call void @llvm.nvvm.cp.async.commit.group()\n", "declare void @llvm.nvvm.cp.async.commit.group()\n");
  EXPECT_EQ(DeviceModule(copy).emit("sm_75"),
            "error: llvm.nvvm.cp.async.commit.group needs sm_80 or newer, but the target is sm_75");
}

/// LLVM would end the process.
TEST(DeviceCode, RefusesMathWithoutCode) {
  auto emit = [](const std::string &call, const std::string &declaration) {
    return DeviceModule(kernel("  %x = load float, ptr addrspace(1) %out\n  %y = " + call +
                                   "(float %x)\n  store float %y, ptr addrspace(1) %out\n",
                               declaration))
        .emit("sm_80");
  };
  EXPECT_EQ(emit("call float @llvm.exp.f32", "declare float @llvm.exp.f32(float)\n"),
            "error: llvm.exp.f32 in kernel has no code on a GPU; it has to be expanded before");
  EXPECT_THAT(emit("call float @llvm.tanh.f32", "declare float @llvm.tanh.f32(float)\n"),
              HasSubstr("error: llvm.tanh"));
  EXPECT_THAT(emit("call afn float @llvm.tanh.f32", "declare float @llvm.tanh.f32(float)\n"), HasSubstr("tanh.approx"));
  EXPECT_THAT(emit("call float @llvm.exp2.f32", "declare float @llvm.exp2.f32(float)\n"), HasSubstr("ex2.approx"));
}

TEST(DeviceCode, RefusesUnknownChips) {
  EXPECT_EQ(DeviceModule(kernel("", "")).emit("sm_81"),
            "error: a GPU expects one of LLVM's NVIDIA chips, such as sm_80, sm_89, sm_90a or sm_100a, but got "
            "'sm_81'");
  EXPECT_THAT(DeviceModule(kernel("", "")).emit("znver4"), HasSubstr("but got 'znver4'"));
}

TEST(DeviceCode, BadAssemblyIsAnError) {
  DeviceModule module(kernel("  call void asm sideeffect \"bar.sync $0;\", \"Z\"(i64 %a)\n", ""));
  EXPECT_THAT(module.emit("sm_80"), HasSubstr("error: PTX could not be generated: "));
}

} // namespace
