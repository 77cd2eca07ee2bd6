; Two stages of cp.async: each thread copies 16 bytes of a tile, and adds what its mirror image has copied.
; With 64 threads and 4 tiles of 4 * 64 numbers 0, 1, ...: sum over k of 4 * (64 k + 63 - t) = 2544 - 16 t.
;
; RUN: attn-test-emulate %s --block=64 --shared=2048 --all-modes in:f32:1024=iota out:f32:64 i32=4 | FileCheck %s
; RUN: attn-test-emulate %s --block=64 --shared=2048 --all-modes --checks=false in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s
; CHECK-COUNT-6: {{(eager|lazy) (fifo|lifo|random): out 0: 2544 2528 2512 .* 1552 1536$}}
;
; A wait that leaves one group too many. Shadow memory knows in each mode; the values tell only with lazy copies.
; RUN: sed 's/wait.group(i32 1)/wait.group(i32 2)/' %s > %t.wait.ll
; RUN: not attn-test-emulate %t.wait.ll --block=64 --shared=2048 --all-modes in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=WAIT
; WAIT-COUNT-6: thread ({{[0-9]+}}, 0, 0), at load #0: reads offset {{[0-9]+}} of shared memory, which the asynchronous copy at llvm.nvvm.cp.async.cg.shared.global.16 #0 writes and nothing has waited for
; RUN: attn-test-emulate %t.wait.ll --block=64 --shared=2048 --all-modes --checks=false in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=WAIT-VALUES
; WAIT-VALUES-COUNT-3: eager {{.*}}: out 0: 2544 2528
; WAIT-VALUES-COUNT-3: lazy {{.*}}: out 0: nan nan
;
; No barrier between the wait and the reads: each thread has waited for its own copies only.
; RUN: sed '/; FIRST/d' %s > %t.first.ll
; RUN: not attn-test-emulate %t.first.ll --block=64 --shared=2048 --all-modes in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=FIRST
; FIRST-COUNT-6: error: kernel 'kernel', block (0, 0, 0), thread ({{[0-9]+}}, 0, 0), at load #0: reads offset
; RUN: attn-test-emulate %t.first.ll --block=64 --shared=2048 --all-modes --checks=false in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=FIRST-VALUES
; FIRST-VALUES-COUNT-6: {{(eager|lazy) (fifo|lifo|random): out 0:.* nan}}
;
; No barrier before the stage is written again: what is read may be the tile after the next.
; RUN: sed '/; LAST/d' %s > %t.last.ll
; RUN: not attn-test-emulate %t.last.ll --block=64 --shared=2048 --all-modes in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=LAST
; LAST-COUNT-6: at load #0: reads offset {{[0-9]+}} of shared memory, which the asynchronous copy at llvm.nvvm.cp.async.cg.shared.global.16 #1 writes and nothing has waited for
; RUN: attn-test-emulate %t.last.ll --block=64 --shared=2048 --all-modes --checks=false in:f32:1024=iota out:f32:64 i32=4 \
; RUN:   | FileCheck %s --check-prefix=LAST-VALUES
; LAST-VALUES-COUNT-3: eager {{(fifo: out 0: 3568|lifo: out 0: 3056|random: out 0: 3056)}}
; LAST-VALUES-COUNT-3: lazy {{.*}}: out 0: 2544 2528

@tiles = external addrspace(3) global [0 x i8], align 128

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %count) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %own = mul i32 %t, 16
  %last = sub i32 %n, 1
  %mirror = sub i32 %last, %t
  %other = mul i32 %mirror, 16
  %bytes = mul i32 %n, 16
  %shared = getelementptr i8, ptr addrspace(3) @tiles, i32 %own
  %global = getelementptr i8, ptr addrspace(1) %in, i32 %own
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  call void @llvm.nvvm.cp.async.commit.group()
  br label %loop

loop:
  %k = phi i32 [0, %0], [%next, %ready]
  %sum = phi float [0.0, %0], [%newSum, %ready]
  %next = add i32 %k, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %fetch, label %ready

fetch:
  %stage = and i32 %next, 1
  %stageOffset = mul i32 %stage, %bytes
  %to = getelementptr i8, ptr addrspace(3) %shared, i32 %stageOffset
  %tileOffset = mul i32 %next, %bytes
  %from = getelementptr i8, ptr addrspace(1) %global, i32 %tileOffset
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %from)
  br label %ready

ready:
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; FIRST
  %this = and i32 %k, 1
  %thisOffset = mul i32 %this, %bytes
  %readOffset = add i32 %thisOffset, %other
  %read = getelementptr i8, ptr addrspace(3) @tiles, i32 %readOffset
  %value = load float, ptr addrspace(3) %read
  %newSum = fadd float %sum, %value
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; LAST
  br i1 %more, label %loop, label %done

done:
  %result = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %newSum, ptr addrspace(1) %result
  ret void
}
