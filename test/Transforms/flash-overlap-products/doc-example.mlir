// RUN: attn-opt %s --flash-overlap-products --cse --split-input-file | FileCheck %s

// The loop is turned by half a step: the keys of a tile are multiplied beside the values of the one before.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: %{{[^:]+}}: memref<1x1x?x64xf16>, %[[K:[^:]+]]: memref<1x1x?x64xf16>, %[[V:[^:]+]]: memref<1x1x?x64xf16>, %{{[^:]+}}: memref<1x1x?x64xf16>, %{{[^:]+}}: index, %[[END:[^:]+]]: index)
// CHECK: %[[M0:.+]], %[[L0:.+]], %[[A0:.+]] = flash.init
// CHECK: %[[ANY:.+]] = arith.cmpi sgt, %[[END]], %[[C0:.+]] : index
// CHECK: %[[ALL:.+]]:3 = scf.if %[[ANY]]
// The first tile, up to its weights.
// CHECK: %[[KEYS:.+]] = arith.minsi
// CHECK: %[[P:.+]] = flash.begin_scores %{{.+}}, %[[K]][%{{.+}}, %{{.+}}, %[[C0]]] keys %[[KEYS]]
// CHECK: %[[S:.+]], %[[T:.+]] = flash.finish_scores %[[P]] at(%{{.+}}, %{{.+}}, %{{.+}}, %[[C0]]) rows %{{.+}} keys %[[KEYS]] where(
// CHECK: %[[M1:.+]], %[[R1:.+]] = flash.update_max %[[M0]], %[[T]]
// CHECK: %[[W:.+]], %[[L1:.+]] = flash.weights %[[S]], %[[M1]], %[[L0]], %[[R1]]
// CHECK: %[[W1:.+]] = flash.round_weights %[[W]] : !flash.scores<128 x 128, f32> -> !flash.scores<128 x 128, f16>
// The others.
// CHECK: %[[F:.+]]:5 = scf.for %[[J:.+]] = %{{.+}} to %[[END]] step %{{.+}} iter_args(%[[M:.+]] = %[[M1]], %[[L:.+]] = %[[L1]], %[[A:.+]] = %[[A0]], %[[WB:.+]] = %[[W1]], %[[R:.+]] = %[[R1]])
// CHECK: %[[LEFT:.+]] = arith.subi %[[END]], %[[J]]
// CHECK: %[[NOW:.+]] = arith.minsi %[[LEFT]],
// CHECK: %[[I:.+]] = arith.subi %[[J]], %{{.+}}
// CHECK: %[[LEFTB:.+]] = arith.subi %[[END]], %[[I]]
// CHECK: %[[BEFORE:.+]] = arith.minsi %[[LEFTB]],
// CHECK: %[[P:.+]] = flash.begin_scores %{{.+}}, %[[K]][%{{.+}}, %{{.+}}, %[[J]]] keys %[[NOW]]
// CHECK: %[[B:.+]] = flash.begin_accumulate %[[A]], %[[R]], %[[WB]], %[[V]][%{{.+}}, %{{.+}}, %[[I]]] keys %[[BEFORE]]
// CHECK: %[[S:.+]], %[[T:.+]] = flash.finish_scores %[[P]] at(%{{.+}}, %{{.+}}, %{{.+}}, %[[J]]) rows %{{.+}} keys %[[NOW]] later 1 where(
// CHECK: %[[M2:.+]], %[[R2:.+]] = flash.update_max %[[M]], %[[T]]
// CHECK: %[[W:.+]], %[[L2:.+]] = flash.weights %[[S]], %[[M2]], %[[L]], %[[R2]]
// CHECK: %[[A2:.+]] = flash.finish_accumulate %[[B]]
// CHECK: %[[W2:.+]] = flash.round_weights %[[W]]
// CHECK: scf.yield %[[M2]], %[[L2]], %[[A2]], %[[W2]], %[[R2]]
// The values of the last one.
// CHECK: %[[LAST:.+]] = arith.muli %{{.+}}, %{{.+}} : index
// CHECK: %[[B:.+]] = flash.begin_accumulate %[[F]]#2, %[[F]]#4, %[[F]]#3, %[[V]][%{{.+}}, %{{.+}}, %[[LAST]]]
// CHECK: %[[AF:.+]] = flash.finish_accumulate %[[B]]
// CHECK: scf.yield %[[F]]#0, %[[F]]#1, %[[AF]]
// CHECK: else
// CHECK: scf.yield %[[M0]], %[[L0]], %[[A0]]
// CHECK: flash.store %[[ALL]]#2, %[[ALL]]#1,
!m = memref<1x1x?x64xf16>
!rows = !flash.rows<128, f32>
!acc = !flash.acc<128 x 64, f32>
func.func @turned(%q: !m, %k: !m, %v: !m, %o: !m, %rows: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %rows : !m -> !flash.query<128 x 64, f16>
  %m0, %l0, %a0 = flash.init : !rows, !rows, !acc
  %w:3 = scf.for %j = %c0 to %end step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %left = arith.subi %end, %j : index
    %keys = arith.minsi %left, %c128 : index
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %keys where(%b, %h, %qi, %kj) {
      %keep = arith.cmpi sle, %kj, %qi : index
      attn.yield %keep : i1
    } : !flash.query<128 x 64, f16>, !m -> !flash.scores<128 x 128, f32>, !rows
    %n, %r = flash.update_max %m, %t : !rows
    %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %keys : !flash.scores<128 x 128, f32>, !rows
    %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %rows keys %keys : !acc, !rows, !flash.scores<128 x 128, f32>, !m
    scf.yield %n, %u, %b : !rows, !rows, !acc
  }
  flash.store %w#2, %w#1, %o[%c0, %c0, %c0] rows %rows : !acc, !rows, !m
  return
}

// -----

// Bounds that are known to have a tile need no test, and tell the last one: 128 * ((1000 - 1) / 128) = 896.
// CHECK-LABEL: func.func @known
// CHECK-NOT: scf.if
// CHECK: flash.begin_scores
// CHECK: flash.round_weights
// CHECK: scf.for %{{.+}} = %c128{{.*}} to %c1000{{.*}} step
// CHECK: flash.begin_scores
// CHECK-NEXT: flash.begin_accumulate
// CHECK-NEXT: flash.finish_scores
// CHECK: }
// CHECK: %[[LAST:.+]] = arith.constant 896 : index
// CHECK-NEXT: arith.subi
// CHECK-NEXT: arith.minsi
// CHECK-NEXT: flash.begin_accumulate {{.*}}, %[[LAST]]] keys
// CHECK-NEXT: flash.finish_accumulate
// CHECK-NOT: scf.if
!m = memref<1x1x1000x64xbf16>
!rows = !flash.rows<64, f32>
!acc = !flash.acc<64 x 64, f32>
func.func @known(%q: !m, %k: !m, %v: !m, %rows: index) -> (!acc) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %end = arith.constant 1000 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %rows : !m -> !flash.query<64 x 64, bf16>
  %m0, %l0, %a0 = flash.init : !rows, !rows, !acc
  %w:3 = scf.for %j = %c0 to %end step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %left = arith.subi %end, %j : index
    %keys = arith.minsi %left, %c128 : index
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %rows keys %keys
      : !flash.query<64 x 64, bf16>, !m -> !flash.scores<64 x 128, f32>, !rows
    %n, %r = flash.update_max %m, %t : !rows
    %p, %u = flash.weights %s, %n, %l, %r rows %rows keys %keys : !flash.scores<64 x 128, f32>, !rows
    %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %rows keys %keys : !acc, !rows, !flash.scores<64 x 128, f32>, !m
    scf.yield %n, %u, %b : !rows, !rows, !acc
  }
  return %w#2 : !acc
}
