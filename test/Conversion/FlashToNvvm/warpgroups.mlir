// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{target=sm_90a}))" | FileCheck %s

// A warpgroup that copies and two that multiply, 64 rows each. Keys and values come by tensor map: their maps and flags
// are the last arguments, and the launch is told which captures they are of (1 and 2) and the rows of a box.
// CHECK: func.func @kernel
// CHECK-SAME: %[[MAP_K:[^:]+]]: !llvm.ptr, %[[USABLE_K:[^:]+]]: i1, %[[MAP_V:[^:]+]]: !llvm.ptr, %[[USABLE_V:[^:]+]]: i1)
// CHECK-SAME: flash.kernel = #flash.kernel<threads = 384, items = 1, shared_bytes = {{[0-9]+}}, tensor_maps = [#flash.tensor_map<capture = 1, rows = 128>, #flash.tensor_map<capture = 2, rows = 128>]>
// A stage is full when its copy has arrived, and empty when each of the eight warps has read it.
// CHECK-DAG: nvvm.mbarrier.init %{{.+}}, %[[ONE:c1_i32.*]] :
// CHECK-DAG: nvvm.mbarrier.init %{{.+}}, %[[EIGHT:c8_i32.*]] :
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// The producer has no tile values in its loop.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: scf.for %{{[^ ]+}} = %{{[^ ]+}} to %{{[^ ]+}} step %{{[^ ]+}} {
// CHECK: llvm.call @attn_dev_mbarrier_wait
// CHECK: arith.andi %[[USABLE_K]], %{{.+}} : i1
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAP_K]], %{{.+}}, box[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}] {isCTAOnly = true}
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAP_V]],
// The consumers multiply the first keys, and give the turn.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.if
// CHECK: llvm.call @attn_dev_mbarrier_wait
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.call @attn_dev_wgmma_m64n128k16_f32_f16_ss
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive %
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"
// When it is theirs again, they multiply the next keys and these values, and do the softmax when the first is done. The
// weights are rounded when the second is: until then it reads their registers.
// CHECK: scf.for
// CHECK: llvm.call @attn_dev_mbarrier_wait
// CHECK: nvvm.barrier id = %{{.+}} number_of_threads = %{{.+}}
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.call @attn_dev_wgmma_m64n128k16_f32_f16_ss
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NOT: wait.group
// CHECK-NOT: cta.arrive
// CHECK: llvm.call @attn_dev_mbarrier_wait
// CHECK-NOT: nvvm.barrier
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.call @attn_dev_wgmma_m64n64k16_f32_f16_rs
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive %
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: ff2f16x2
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive %
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"
// CHECK: scf.yield
// The last values.
// CHECK: nvvm.barrier id = %{{.+}} number_of_threads = %{{.+}}
// CHECK: llvm.call @attn_dev_wgmma_m64n64k16_f32_f16_rs
// CHECK-NOT: cta.arrive
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NOT: flash.
!m = memref<1x1x?x64xf16>
gpu.module @attn_device {
  func.func @kernel(%item: index, %q: !m, %k: !m, %v: !m, %o: !m, %rows: index, %end: index) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %scale = arith.constant 0.125 : f32
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<128 x 64, f16>
    %m0, %l0, %a0 = flash.init : !flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>
    %w:3 = scf.for %j = %c0 to %end step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0)
        -> (!flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>) {
      %left = arith.subi %end, %j : index
      %keys = arith.minsi %left, %c128 : index
      %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %keys scale %scale : f32
        : !flash.query<128 x 64, f16>, !m -> !flash.scores<128 x 128, f32>, !flash.rows<128, f32>
      %n, %r = flash.update_max %m, %t : !flash.rows<128, f32>
      %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %keys : !flash.scores<128 x 128, f32>, !flash.rows<128, f32>
      %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %rows keys %keys
        : !flash.acc<128 x 64, f32>, !flash.rows<128, f32>, !flash.scores<128 x 128, f32>, !m
      scf.yield %n, %u, %b : !flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>
    }
    flash.store %w#2, %w#1, %o[%c0, %c0, %c0] rows %rows : !flash.acc<128 x 64, f32>, !flash.rows<128, f32>, !m
    return
  }
}
