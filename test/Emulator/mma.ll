; A 16 x 16 times B 16 x 8 by ldmatrix and mma.sync. Both hold 0, 1, ...: C[m][n] is the sum over k of
; (16 m + k) (8 k + n) = 15360 m + 256 m n + 9920 + 120 n. B lies as [k][n], so it is loaded transposed.
;
; DEFINE: %{arguments} = --block=32 in:f16:256=iota in:f16:128=iota out:f32:128
; RUN: attn-test-emulate %s %{arguments} --counters | FileCheck %s
; CHECK: out 0: 9920 10040 10160 10280 10400 10520 10640 10760 25280 25656 {{.*}} 268040
; Rows of A are 32 bytes apart: of 8 rows, pairs fall in the same banks, once for each of its 4 matrices.
; CHECK: shared loads: 0
; CHECK: shared stores: 64
; CHECK: bank conflicts: 4
; CHECK: ldmatrix: 2
; CHECK: mma: 1
;
; B not transposed.
; RUN: sed 's/x2.trans.b16/x2.b16/' %s > %t.ll
; RUN: attn-test-emulate %t.ll %{arguments} | FileCheck %s --check-prefix=WRONG
; WRONG: out 0:
; WRONG-NOT: 9920 10040

@a = internal addrspace(3) global [512 x i8] undef, align 16
@b = internal addrspace(3) global [256 x i8] undef, align 16

define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %aPart = getelementptr <4 x i32>, ptr addrspace(1) %a, i32 %lane
  %aValue = load <4 x i32>, ptr addrspace(1) %aPart
  %aTo = getelementptr <4 x i32>, ptr addrspace(3) @a, i32 %lane
  store <4 x i32> %aValue, ptr addrspace(3) %aTo
  %bPart = getelementptr <2 x i32>, ptr addrspace(1) %b, i32 %lane
  %bValue = load <2 x i32>, ptr addrspace(1) %bPart
  %bTo = getelementptr <2 x i32>, ptr addrspace(3) @b, i32 %lane
  store <2 x i32> %bValue, ptr addrspace(3) %bTo
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %row = and i32 %lane, 15
  %half = lshr i32 %lane, 4
  %aRow = mul i32 %row, 32
  %aColumn = mul i32 %half, 16
  %aOffset = add i32 %aRow, %aColumn
  %aFrom = getelementptr i8, ptr addrspace(3) @a, i32 %aOffset
  %as = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %aFrom)
  %bOffset = mul i32 %row, 16
  %bFrom = getelementptr i8, ptr addrspace(3) @b, i32 %bOffset
  %bs = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %bFrom)
  %a0i = extractvalue { i32, i32, i32, i32 } %as, 0
  %a1i = extractvalue { i32, i32, i32, i32 } %as, 1
  %a2i = extractvalue { i32, i32, i32, i32 } %as, 2
  %a3i = extractvalue { i32, i32, i32, i32 } %as, 3
  %b0i = extractvalue { i32, i32 } %bs, 0
  %b1i = extractvalue { i32, i32 } %bs, 1
  %a0 = bitcast i32 %a0i to <2 x half>
  %a1 = bitcast i32 %a1i to <2 x half>
  %a2 = bitcast i32 %a2i to <2 x half>
  %a3 = bitcast i32 %a3i to <2 x half>
  %b0 = bitcast i32 %b0i to <2 x half>
  %b1 = bitcast i32 %b1i to <2 x half>
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a0, <2 x half> %a1, <2 x half> %a2, <2 x half> %a3, <2 x half> %b0, <2 x half> %b1, float 0.0, float 0.0, float 0.0, float 0.0)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %g = lshr i32 %lane, 2
  %t = and i32 %lane, 3
  %rowStart = mul i32 %g, 8
  %column = mul i32 %t, 2
  %place = add i32 %rowStart, %column
  %c0 = getelementptr float, ptr addrspace(1) %c, i32 %place
  %c1 = getelementptr float, ptr addrspace(1) %c0, i32 1
  %c2 = getelementptr float, ptr addrspace(1) %c0, i32 64
  %c3 = getelementptr float, ptr addrspace(1) %c0, i32 65
  store float %d0, ptr addrspace(1) %c0
  store float %d1, ptr addrspace(1) %c1
  store float %d2, ptr addrspace(1) %c2
  store float %d3, ptr addrspace(1) %c3
  ret void
}
