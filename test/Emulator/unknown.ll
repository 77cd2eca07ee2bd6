; All that the emulator does not know is named at once.
;
; RUN: not attn-test-emulate %s --block=32 2>&1 | FileCheck %s
; CHECK: error: the emulator does not know: a_function (1 use), attn_dev_wgmma_m64n12k16_f32_bf16_ss (1 use), inline assembly "bar.sync $0;" (1 use), llvm.nvvm.activemask (2 uses)

declare void @a_function()
declare {float} @attn_dev_wgmma_m64n12k16_f32_bf16_ss(float)

define ptx_kernel void @kernel() {
  call void @a_function()
  %a = call i32 @llvm.nvvm.activemask()
  %b = call i32 @llvm.nvvm.activemask()
  call void asm sideeffect "bar.sync $0;", "r"(i32 0)
  %c = call {float} @attn_dev_wgmma_m64n12k16_f32_bf16_ss(float 0.0)
  ret void
}
