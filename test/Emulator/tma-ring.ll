; A ring of two stages: a thread of warp 0 fetches rows of 32 numbers by TMA, warp 1 adds them up.
; Row k of lane l is 32 k + l; with 6 rows the sums are 480 + 6 l.
;
; DEFINE: %{arguments} = --block=64 --shared=256 --all-modes map:f32:32x6:box=32x1:swizzle=0=iota out:f32:32 i32=6
; RUN: attn-test-emulate %s %{arguments} | FileCheck %s
; RUN: attn-test-emulate %s %{arguments} --checks=false | FileCheck %s
; CHECK-COUNT-6: {{(eager|lazy) (fifo|lifo|random): out 0: 480 486 492 .* 660 666$}}
;
; The consumer does not wait for the bytes. Without checks it runs ahead, and gives stages back that it has not had.
; RUN: sed '/; FULL-WAIT/d' %s > %t.full.ll
; RUN: not attn-test-emulate %t.full.ll %{arguments} | FileCheck %s --check-prefix=FULL
; FULL-COUNT-6: at load #0: reads offset {{[0-9]+}} of shared memory, {{which|a race}}
; RUN: not attn-test-emulate %t.full.ll %{arguments} --checks=false | FileCheck %s --check-prefix=FULL-VALUES
; FULL-VALUES-COUNT-3: lazy {{.*}} at llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta #0: arrives at the mbarrier at offset 0 1 time, but its phase expects 0 more
;
; The consumer does not give the stage back: the producer waits for ever, and the consumer for it.
; RUN: sed '/; EMPTY-ARRIVE/d' %s > %t.arrive.ll
; RUN: not attn-test-emulate %t.arrive.ll %{arguments} | FileCheck %s --check-prefix=ARRIVE
; ARRIVE: eager fifo: error: kernel 'kernel', block (0, 0, 0): deadlock:
; ARRIVE-NEXT:   warp 0, lanes 0: at attn_dev_mbarrier_wait #0, mbarrier at offset 16: phase 0 (parity 0) lacks 32 of 32 arrivals and 0 bytes
; ARRIVE-NEXT:   warp 0, lanes 1-31: exited
; ARRIVE-NEXT:   warp 1, lanes 0-31: at attn_dev_mbarrier_wait #1, mbarrier at offset 0: phase 1 (parity 1) lacks 1 of 1 arrivals and 0 bytes
; ARRIVE-COUNT-5: deadlock:
;
; The producer does not wait for the stage: bytes come while others are read.
; RUN: sed '/; EMPTY-WAIT/d' %s > %t.empty.ll
; RUN: not attn-test-emulate %t.empty.ll %{arguments} | FileCheck %s --check-prefix=EMPTY
; EMPTY-COUNT-6: error: kernel 'kernel', block (0, 0, 0), thread (
;
; More bytes are expected than come.
; RUN: sed 's/i32 128) ; EXPECT/i32 144)/' %s > %t.expect.ll
; RUN: not attn-test-emulate %t.expect.ll %{arguments} | FileCheck %s --check-prefix=EXPECT
; EXPECT-COUNT-6: warp 1, lanes 0-31: at attn_dev_mbarrier_wait #1, mbarrier at offset 0: phase 0 (parity 0) lacks 0 of 1 arrivals and 16 bytes
;
; No barrier after the initialisation.
; RUN: sed '/; INIT-BARRIER/d' %s > %t.init.ll
; RUN: not attn-test-emulate %t.init.ll %{arguments} | FileCheck %s --check-prefix=INIT
; INIT-COUNT-6: error: kernel 'kernel', block (0, 0, 0), thread (

@bars = internal addrspace(3) global [4 x i64] undef, align 8
@ring = external addrspace(3) global [0 x i8], align 128

declare void @attn_dev_mbarrier_wait(ptr addrspace(3), i32)

define ptx_kernel void @kernel(ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %map, ptr addrspace(1) %out, i32 %count) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %init, label %ready

init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bars, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @bars, i32 8), i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @bars, i32 16), i32 32)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @bars, i32 24), i32 32)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  br label %ready

ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; INIT-BARRIER
  br i1 %isFirst, label %produce, label %others

others:
  %lane = and i32 %t, 31
  %isConsumer = icmp uge i32 %t, 32
  br i1 %isConsumer, label %consume, label %exit

produce:
  %p = phi i32 [0, %ready], [%pNext, %produce]
  %pStage = and i32 %p, 1
  %pRound = lshr i32 %p, 1
  %pRoundBit = and i32 %pRound, 1
  %pParity = xor i32 %pRoundBit, 1
  %pBar = mul i32 %pStage, 8
  %pFull = getelementptr i8, ptr addrspace(3) @bars, i32 %pBar
  %pEmpty = getelementptr i8, ptr addrspace(3) %pFull, i32 16
  call void @attn_dev_mbarrier_wait(ptr addrspace(3) %pEmpty, i32 %pParity) ; EMPTY-WAIT
  %token = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %pFull, i32 128) ; EXPECT
  %pOffset = mul i32 %pStage, 128
  %pTo = getelementptr i8, ptr addrspace(3) @ring, i32 %pOffset
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d(ptr addrspace(3) %pTo, ptr addrspace(3) %pFull, ptr %map, i32 0, i32 %p, i64 0, i1 false)
  %pNext = add i32 %p, 1
  %pMore = icmp slt i32 %pNext, %count
  br i1 %pMore, label %produce, label %exit

consume:
  %k = phi i32 [0, %others], [%next, %consume]
  %sum = phi float [0.0, %others], [%newSum, %consume]
  %stage = and i32 %k, 1
  %round = lshr i32 %k, 1
  %parity = and i32 %round, 1
  %bar = mul i32 %stage, 8
  %full = getelementptr i8, ptr addrspace(3) @bars, i32 %bar
  %empty = getelementptr i8, ptr addrspace(3) %full, i32 16
  call void @attn_dev_mbarrier_wait(ptr addrspace(3) %full, i32 %parity) ; FULL-WAIT
  %offset = mul i32 %stage, 128
  %from = getelementptr i8, ptr addrspace(3) @ring, i32 %offset
  %own = getelementptr float, ptr addrspace(3) %from, i32 %lane
  %value = load float, ptr addrspace(3) %own
  %newSum = fadd float %sum, %value
  %token2 = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %empty) ; EMPTY-ARRIVE
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %consume, label %done

done:
  %result = getelementptr float, ptr addrspace(1) %out, i32 %lane
  store float %newSum, ptr addrspace(1) %result
  br label %exit

exit:
  ret void
}
