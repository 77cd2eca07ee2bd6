// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{target=sm_80}))" | FileCheck %s

// 16 rows in one warp, 16 keys a tile: two score fragments of 8 keys and two of values, each 4 values in a thread.
// CHECK: llvm.mlir.global external @attn_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: func.func @kernel
// CHECK-SAME: attributes {flash.kernel = #flash.kernel<threads = 32, items = 1, shared_bytes = 3840>}
// The item is the block.
// CHECK: %[[BLOCK:.+]] = nvvm.read.ptx.sreg.ctaid.x
// Queries come by chunks of 16 bytes where memory is aligned.
// CHECK: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg, %{{.+}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK: nvvm.cp.async.commit.group
// Keys and values are a group each.
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args({{.+}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)
// The keys are there; one tile ahead.
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix {{.+}} layout = #nvvm.mma_layout<row>
// CHECK: nvvm.mma.sync {{.+}} multiplicandAPtxType = #nvvm.mma_type<bf16>
// The maximum of a row is that of the four threads that hold it.
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// The values are there.
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: nvvm.barrier
// The weights, rounded, are the left operand of the second product.
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
// CHECK: nvvm.ldmatrix {{.+}} layout = #nvvm.mma_layout<col>
// CHECK: nvvm.mma.sync
// CHECK-NOT: nvvm.barrier
// CHECK: scf.yield
// CHECK: nvvm.barrier
// CHECK-NOT: flash.
!m = memref<1x1x?x16xbf16>
gpu.module @attn_device {
  func.func @kernel(%item: index, %q: !m, %k: !m, %v: !m, %o: !m, %rows: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %scale = arith.constant 0.25 : f32
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 16, bf16>
    %m0, %l0, %a0 = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>
    %w:3 = scf.for %j = %c0 to %end step %c16 iter_args(%m = %m0, %l = %l0, %a = %a0)
        -> (!flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>) {
      %left = arith.subi %end, %j : index
      %keys = arith.minsi %left, %c16 : index
      %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %keys scale %scale : f32
        : !flash.query<16 x 16, bf16>, !m -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
      %n, %r = flash.update_max %m, %t : !flash.rows<16, f32>
      %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %keys : !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
      %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %rows keys %keys
        : !flash.acc<16 x 16, f32>, !flash.rows<16, f32>, !flash.scores<16 x 16, f32>, !m
      scf.yield %n, %u, %b : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>
    }
    flash.store %w#2, %w#1, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 16, f32>, !flash.rows<16, f32>, !m
    return
  }

  // Without tiles every thread does an item; those behind the last one do nothing.
  // CHECK: func.func @items(%[[COUNT:.+]]: index,
  // CHECK-SAME: flash.kernel = #flash.kernel<threads = 128, items = 128, shared_bytes = 0>
  // CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[ITEM:.+]], %[[COUNT]] : index
  // CHECK: scf.if %[[EXISTS]]
  // CHECK: memref.store %{{.+}}, %{{.+}}[%[[ITEM]]]
  func.func @items(%item: index, %a: memref<?xf32>, %x: f32) {
    memref.store %x, %a[%item] : memref<?xf32>
    return
  }
}
