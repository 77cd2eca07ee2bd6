// A kernel with operations of sm_90a alone: a wait for an mbarrier and wgmma of both forms.
gpu.module @kernels {
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : i64
  llvm.func @attn_dev_mbarrier_wait(!llvm.ptr<3>, i32) attributes {passthrough = ["convergent"]}
  llvm.func @attn_dev_wgmma_m64n8k16_f32_bf16_ss(f32, f32, f32, f32, i64, i64, i32) -> !llvm.struct<(f32, f32, f32, f32)> attributes {passthrough = ["convergent"]}
  llvm.func @attn_dev_wgmma_m64n8k16_f32_bf16_rs(f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)> attributes {passthrough = ["convergent"]}
  llvm.func @products(%out: !llvm.ptr<1>, %a: i64, %b: i64, %word: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %none = llvm.mlir.constant(0 : i32) : i32
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    llvm.call @attn_dev_mbarrier_wait(%barrier, %word) : (!llvm.ptr<3>, i32) -> ()
    nvvm.wgmma.fence.aligned
    %s = llvm.call @attn_dev_wgmma_m64n8k16_f32_bf16_ss(%zero, %zero, %zero, %zero, %a, %b, %none) : (f32, f32, f32, f32, i64, i64, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    %s0 = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
    %s1 = llvm.extractvalue %s[1] : !llvm.struct<(f32, f32, f32, f32)>
    %s2 = llvm.extractvalue %s[2] : !llvm.struct<(f32, f32, f32, f32)>
    %s3 = llvm.extractvalue %s[3] : !llvm.struct<(f32, f32, f32, f32)>
    %o = llvm.call @attn_dev_wgmma_m64n8k16_f32_bf16_rs(%s0, %s1, %s2, %s3, %word, %word, %word, %word, %b) : (f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %o0 = llvm.extractvalue %o[0] : !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %o0, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
