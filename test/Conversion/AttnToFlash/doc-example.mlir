// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @static_causal
// CHECK-SAME: %[[Q:[^:]+]]: memref<2x6x40x24xf32>, %[[K:[^:]+]]: memref<2x3x50x24xf32>, %[[V:[^:]+]]: memref<2x3x50x8xf32>, %[[O:[^:]+]]: memref<2x6x40x8xf32>
func.func @static_causal(%q: memref<2x6x40x24xf32>, %k: memref<2x3x50x24xf32>, %v: memref<2x3x50x8xf32>,
                         %o: memref<2x6x40x8xf32>) {
  %scale = arith.constant 0.25 : f32
  // Sizes are static: nothing is left to check. 40 queries are 3 tiles of 16.
  // CHECK-NOT: flash.require
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
  // CHECK-DAG: %[[C32:.+]] = arith.constant 32 : index
  // CHECK-DAG: %[[C40:.+]] = arith.constant 40 : index
  // CHECK-DAG: %[[C50:.+]] = arith.constant 50 : index
  // CHECK-DAG: %[[WORK:.+]] = arith.constant 39200 : index
  // CHECK: scf.forall (%[[B:.+]], %[[H:.+]], %[[T:.+]]) in (2, 6, 3)
  // An item is up to 16 rows x 50 keys of 24 + 8 multiply-adds, 16 for the softmax and 1 for the mask.
  // CHECK: flash.item_work %[[WORK]]
  // Tiles of more keys first.
  // CHECK: %[[N:.+]] = arith.subi %[[C2]], %[[T]]
  // CHECK: %[[I0:.+]] = arith.muli %[[N]], %[[C16]]
  // CHECK: %[[LEFT:.+]] = arith.subi %[[C40]], %[[I0]]
  // CHECK: %[[ROWS:.+]] = arith.minsi %[[LEFT]], %[[C16]]
  // 6 heads share 3 kv heads: head 2n and 2n + 1 have kv head n.
  // CHECK: %[[HK:.+]] = arith.divui %[[H]], %[[C2]]
  // No row of the tile keeps a key at or behind i0 + rows.
  // CHECK: %[[PAST:.+]] = arith.addi %[[I0]], %[[ROWS]]
  // CHECK: %[[END:.+]] = arith.minsi %[[PAST]], %[[C50]]
  // CHECK: %[[QT:.+]] = flash.load_query %[[Q]][%[[B]], %[[H]], %[[I0]]] rows %[[ROWS]] : {{.*}} -> !flash.query<16 x 24, f32>
  // CHECK: %[[M0:.+]], %[[L0:.+]], %[[A0:.+]] = flash.init
  // CHECK: %[[R:.+]]:3 = scf.for %[[J0:.+]] = %{{.+}} to %[[END]] step %[[C32]] iter_args(%[[M:.+]] = %[[M0]], %[[L:.+]] = %[[L0]], %[[A:.+]] = %[[A0]])
  // CHECK: %[[SL:.+]] = arith.subi %[[END]], %[[J0]]
  // CHECK: %[[KEYS:.+]] = arith.minsi %[[SL]], %[[C32]]
  // CHECK: %[[S:.+]], %[[SM:.+]] = flash.scores %[[QT]], %[[K]] at(%[[B]], %[[H]] : %[[HK]], %[[I0]], %[[J0]]) rows %[[ROWS]] keys %[[KEYS]] scale {{.+}} : f32 where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
  // CHECK-NEXT: %[[KEEP:.+]] = arith.cmpi sle, %[[J]], %[[I]]
  // CHECK-NEXT: attn.yield %[[KEEP]]
  // CHECK: %[[M1:.+]], %[[ALPHA:.+]] = flash.update_max %[[M]], %[[SM]]
  // CHECK: %[[P:.+]], %[[L1:.+]] = flash.weights %[[S]], %[[M1]], %[[L]], %[[ALPHA]] rows %[[ROWS]] keys %[[KEYS]]
  // CHECK: %[[A1:.+]] = flash.accumulate %[[A]], %[[ALPHA]], %[[P]], %[[V]][%[[B]], %[[HK]], %[[J0]]] rows %[[ROWS]] keys %[[KEYS]]
  // CHECK: scf.yield %[[M1]], %[[L1]], %[[A1]]
  // CHECK: flash.store %[[R]]#2, %[[R]]#1, %[[O]][%[[B]], %[[H]], %[[I0]]] rows %[[ROWS]]
  // CHECK-NOT: attn.attention
  attn.attention %q, %k, %v scale(%scale) where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : memref<2x6x40x24xf32>, memref<2x3x50x24xf32>, memref<2x3x50x8xf32> outs(%o : memref<2x6x40x8xf32>)
  return
}
