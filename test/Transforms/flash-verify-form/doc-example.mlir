// RUN: attn-opt %s --flash-verify-form | FileCheck %s

// A query tile is read twice; scores and accumulators are handed from step to step, by the loop too.
// CHECK-LABEL: func.func @linear
// CHECK: flash.accumulate
func.func @linear(%q: memref<1x2x3x8xf32>, %k: memref<1x2x40x8xf32>, %o: memref<1x2x3x8xf32>, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c40 = arith.constant 40 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %rows : memref<1x2x3x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %r:3 = scf.for %j = %c0 to %c40 step %c16 iter_args(%m0 = %m, %l0 = %l, %acc0 = %acc) -> (!flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>) {
    %s, %sm = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %keys
        : !flash.query<16 x 8, f32>, memref<1x2x40x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %m1, %a = flash.update_max %m0, %sm : !flash.rows<16, f32>
    %w, %l1 = flash.weights %s, %m1, %l0, %a rows %rows keys %keys : !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %acc1 = flash.accumulate %acc0, %a, %w, %k[%c0, %c0, %j] rows %rows keys %keys
        : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, !flash.scores<16 x 16, f32>, memref<1x2x40x8xf32>
    scf.yield %m1, %l1, %acc1 : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  }
  flash.store %r#2, %r#1, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  return
}

// Branches exclude one another, so each of them consumes the tile.
// CHECK-LABEL: func.func @branches
func.func @branches(%o: memref<1x2x3x8xf32>, %p: memref<1x2x3x8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  scf.if %c {
    flash.store %acc, %l, %o[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  } else {
    flash.store %acc, %l, %p[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  }
  return
}
