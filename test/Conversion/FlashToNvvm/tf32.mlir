// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm))" | FileCheck %s --check-prefix=PARTS
// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{allow-tf32=true}))" \
// RUN:   | FileCheck %s --check-prefix=SINGLE

// 16 rows in one warp, 16 keys, sizes of 16: two fragments of scores and two of values, with a depth of 16 each, eight
// at a time: eight products of fragments.
// PARTS-LABEL: func.func @kernel
// PARTS-COUNT-24: nvvm.mma.sync {{.+}} multiplicandAPtxType = #nvvm.mma_type<tf32>
// PARTS-NOT: nvvm.mma.sync
// SINGLE-LABEL: func.func @kernel
// SINGLE-COUNT-8: nvvm.mma.sync {{.+}} multiplicandAPtxType = #nvvm.mma_type<tf32>
// SINGLE-NOT: nvvm.mma.sync
!m = memref<1x1x?x16xf32>
gpu.module @attn_device {
  func.func @kernel(%item: index, %q: !m, %k: !m, %v: !m, %o: !m, %rows: index, %keys: index) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f32
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 16, f32>
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %c0) rows %rows keys %keys scale %scale : f32
      : !flash.query<16 x 16, f32>, !m -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %n, %r = flash.update_max %m, %t : !flash.rows<16, f32>
    %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %keys : !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %c0] rows %rows keys %keys
      : !flash.acc<16 x 16, f32>, !flash.rows<16, f32>, !flash.scores<16 x 16, f32>, !m
    flash.store %b, %u, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 16, f32>, !flash.rows<16, f32>, !m
    return
  }
}
