; What a kernel can do wrong. Each kernel does one thing.
;
; RUN: not attn-test-emulate %s --kernel=beyond --block=32 --shared=64 2>&1 | FileCheck %s --check-prefix=BEYOND
; BEYOND: error: kernel 'beyond', block (0, 0, 0), thread (16, 0, 0), at store #0: accesses 4 bytes at offset 80 of shared memory, which has 80 bytes
;
; RUN: not attn-test-emulate %s --kernel=misaligned --block=32 --shared=64 2>&1 | FileCheck %s --check-prefix=MISALIGNED
; MISALIGNED: thread (1, 0, 0), at store #1: accesses offset 20 of shared memory, which is not a multiple of 8
;
; RUN: not attn-test-emulate %s --kernel=uninitialized --block=2 --shared=64 out:f32:2 2>&1 | FileCheck %s --check-prefix=UNINITIALIZED
; RUN: attn-test-emulate %s --kernel=uninitialized --block=2 --shared=64 --checks=false out:f32:2 | FileCheck %s --check-prefix=UNCHECKED
; UNINITIALIZED: thread (1, 0, 0), at load #0: reads offset 20 of shared memory, which this block has not written
; UNCHECKED: out 0: 1 nan
;
; RUN: not attn-test-emulate %s --kernel=race --grid=1,2 --block=64 --shared=64 2>&1 | FileCheck %s --check-prefix=RACE
; RACE: block (0, 0, 0), thread (1, 0, 0), at store #3: writes offset 16 of shared memory, a race: thread (0, 0, 0) wrote it at store #3, and no barrier orders them
;
; RUN: not attn-test-emulate %s --kernel=divergent --block=64 out:i32:64 2>&1 | FileCheck %s --check-prefix=DIVERGENT
; DIVERGENT: thread (1, 0, 0), at llvm.nvvm.shfl.sync.bfly.i32 #1: the lanes of warp 0 diverge: lanes 0 are at llvm.nvvm.shfl.sync.bfly.i32 #0 with mask 0xffffffff, this one comes with mask 0xffffffff
;
; RUN: not attn-test-emulate %s --kernel=exits --block=64 out:i32:64 2>&1 | FileCheck %s --check-prefix=EXITS
; EXITS: error: kernel 'exits', block (0, 0, 0): deadlock:
; EXITS-NEXT: warp 0, lanes 0-4, 6-31: at llvm.nvvm.vote.any.sync #0, for the other lanes of the warp
; EXITS-NEXT: warp 0, lanes 5: exited
; EXITS-NEXT: warp 1, lanes 0-31: exited
;
; RUN: not attn-test-emulate %s --kernel=barriers --block=96 2>&1 | FileCheck %s --check-prefix=BARRIERS
; BARRIERS: deadlock:
; BARRIERS-NEXT: warp 0, lanes 0-31: at llvm.nvvm.barrier.cta.sync.aligned.count #0, barrier 1: 32 of 64 threads have arrived
; BARRIERS-NEXT: warps 1-2, lanes 0-31: at llvm.nvvm.barrier.cta.sync.aligned.count #1, barrier 2: 64 of 96 threads have arrived

@head = internal addrspace(3) global [4 x i32] undef, align 16
@rest = external addrspace(3) global [0 x i8], align 16

define ptx_kernel void @beyond() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, ptr addrspace(3) @rest, i32 %t
  store i32 0, ptr addrspace(3) %place
  ret void
}

define ptx_kernel void @misaligned() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, ptr addrspace(3) @rest, i32 %t
  store <2 x i32> zeroinitializer, ptr addrspace(3) %place, align 8
  ret void
}

define ptx_kernel void @uninitialized(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %first, label %all
first:
  store float 1.0, ptr addrspace(3) @rest
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %place = getelementptr float, ptr addrspace(3) @rest, i32 %t
  %value = load float, ptr addrspace(3) %place
  %result = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %value, ptr addrspace(1) %result
  ret void
}

define ptx_kernel void @race() {
  store i32 1, ptr addrspace(3) @rest
  ret void
}

define ptx_kernel void @divergent(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %t to i1
  br i1 %odd, label %left, label %right
right:
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  br label %end
left:
  %b = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 2, i32 31)
  br label %end
end:
  %c = phi i32 [%a, %right], [%b, %left]
  %result = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %c, ptr addrspace(1) %result
  ret void
}

define ptx_kernel void @exits(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFifth = icmp eq i32 %t, 5
  br i1 %isFifth, label %end, label %vote
vote:
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 true)
  br label %end
end:
  ret void
}

define ptx_kernel void @barriers() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFirst = icmp ult i32 %t, 32
  br i1 %isFirst, label %one, label %two
one:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  ret void
two:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 2, i32 96)
  ret void
}
