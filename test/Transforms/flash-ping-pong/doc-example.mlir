// RUN: attn-opt %s --flash-overlap-products --flash-ping-pong --split-input-file | FileCheck %s

// A turn is the products between two softmaxes: the first tile's keys; in the loop the keys of a tile and the values of
// the one before; the last tile's values, behind which nobody waits.
// CHECK-LABEL: func.func @turned
// CHECK: flash.begin_scores {{.+}} keys %{{[^ ]+}} pass_turn :
// CHECK: flash.finish_scores {{.+}} keys %{{[^ ]+}} :
// CHECK: scf.for
// CHECK: flash.begin_scores {{.+}} keys %{{[^ ]+}} wait_turn :
// CHECK: flash.begin_accumulate {{.+}} keys %{{[^ ]+}} pass_turn :
// CHECK: flash.finish_scores {{.+}} keys %{{[^ ]+}} later 1 :
// CHECK: flash.begin_accumulate {{.+}} keys %{{[^ ]+}} wait_turn :
!m = memref<1x1x?x64xf16>
!rows = !flash.rows<128, f32>
!acc = !flash.acc<128 x 64, f32>
func.func @turned(%q: !m, %k: !m, %v: !m, %o: !m, %rows: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %rows : !m -> !flash.query<128 x 64, f16>
  %m0, %l0, %a0 = flash.init : !rows, !rows, !acc
  %w:3 = scf.for %j = %c0 to %end step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %c128
      : !flash.query<128 x 64, f16>, !m -> !flash.scores<128 x 128, f32>, !rows
    %n, %r = flash.update_max %m, %t : !rows
    %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %c128 : !flash.scores<128 x 128, f32>, !rows
    %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %rows keys %c128
      : !acc, !rows, !flash.scores<128 x 128, f32>, !m
    scf.yield %n, %u, %b : !rows, !rows, !acc
  }
  flash.store %w#2, %w#1, %o[%c0, %c0, %c0] rows %rows : !acc, !rows, !m
  return
}

// -----

// One tile at a time, in order: its values end the turn in which the next tile's keys are. Scores without values, for
// weights that are stored, belong to no turn.
// CHECK-LABEL: func.func @in_order
// CHECK: flash.begin_scores {{.+}} keys %{{[^ ]+}} pass_turn :
// CHECK: flash.begin_accumulate {{.+}} keys %{{[^ ]+}} wait_turn :
// CHECK: flash.begin_scores {{.+}} keys %{{[^ ]+}} :
!m = memref<1x1x?x64xf16>
!rows = !flash.rows<128, f32>
!acc = !flash.acc<128 x 64, f32>
func.func @in_order(%q: !m, %k: !m, %v: !m, %o: !m, %weights: memref<1x1x?x?xf32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %rows : !m -> !flash.query<128 x 64, f16>
  %m0, %l0, %a0 = flash.init : !rows, !rows, !acc
  %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %c0) rows %rows keys %c128
    : !flash.query<128 x 64, f16>, !m -> !flash.scores<128 x 128, f32>, !rows
  %n, %r = flash.update_max %m0, %t : !rows
  %p, %u = flash.weights %s, %n, %l0, %r rows %rows keys %c128 : !flash.scores<128 x 128, f32>, !rows
  %b = flash.accumulate %a0, %r, %p, %v[%c0, %c0, %c0] rows %rows keys %c128
    : !acc, !rows, !flash.scores<128 x 128, f32>, !m
  flash.store %b, %u, %o[%c0, %c0, %c0] rows %rows : !acc, !rows, !m
  %s1, %t1 = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %c0) rows %rows keys %c128
    : !flash.query<128 x 64, f16>, !m -> !flash.scores<128 x 128, f32>, !rows
  flash.store_weights %s1, %n, %u, %weights[%c0, %c0, %c0, %c0] rows %rows keys %c128 zeros %c128
    : !flash.scores<128 x 128, f32>, !rows, memref<1x1x?x?xf32>
  return
}
