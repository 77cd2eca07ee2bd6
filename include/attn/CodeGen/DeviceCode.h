//===- DeviceCode.h - kernels of a GPU, from MLIR to PTX and cubin --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gpu.module in the nvvm and llvm dialects becomes LLVM IR, which the emulator runs and from which NVPTX makes PTX.
// Operations that LLVM has no intrinsic for are calls of external device functions in the shared IR:
//
// attn_dev_mbarrier_wait(ptr addrspace(3), i32 parity)
//   waits until the phase of that parity is complete.
// attn_dev_wgmma_m64n<N>k16_f32_<T>_ss(float x N/2, i64 a, i64 b, i32 keep) -> {float x N/2}
//   wgmma of operands in shared memory (descriptors), both K-major; keep = 0 starts from zeros.
// attn_dev_wgmma_m64n<N>k16_f32_<T>_rs(float x N/2, i32 a0, a1, a2, a3, i64 b) -> {float x N/2}
//   wgmma with A in registers and B MN-major.
//
// attn_dev_opaque_i32(i32) -> i32, attn_dev_opaque_i64(i64) -> i64
//   the operand, of which the compiler knows nothing: what follows from it is computed where it stands, not in front of
//   a loop, where it would take registers.
//
// N is a multiple of 8 from 8 to 256, T is bf16 or f16.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CODEGEN_DEVICECODE_H
#define ATTN_CODEGEN_DEVICECODE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace attn {

/// Success if LLVM generates code for the chip ("sm_80", "sm_90a", ...), else an error that says what is expected.
llvm::Error checkChip(llvm::StringRef chip);

/// The LLVM IR of a module of kernels, for nvptx64 and any chip. nvvm operations without an intrinsic, which become
/// inline assembly, are rewritten in `module`. The context needs registerTranslations.
llvm::Expected<std::unique_ptr<llvm::Module>> translateDeviceModule(mlir::gpu::GPUModuleOp module,
                                                                    llvm::LLVMContext &context);

/// translateDeviceModule of all gpu.modules of a module, in one; they are erased. What is left is the host's. An
/// empty module where there are none.
llvm::Expected<std::unique_ptr<llvm::Module>> takeKernels(mlir::ModuleOp module, llvm::LLVMContext &context);

/// Turns calls of device functions into inline assembly. Unknown functions, and calls of another type than the
/// list above has, are an error that lists them; the module is then unchanged.
llvm::Error replaceDeviceFunctions(llvm::Module &module);

/// PTX of a module from translateDeviceModule, which it changes (device functions, LLVM's passes). The PTX version is
/// the lowest that the chip's features need, so that old drivers take it. Errors: an unknown chip, IR that does not
/// verify, functions and intrinsics that the chip has not.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::StringRef chip);

} // namespace attn

#endif // ATTN_CODEGEN_DEVICECODE_H
