// RUN: attn-opt %s --flash-fold-scale --flash-prefetch=target=x86-64-v3 --convert-flash-to-cpu="block-rows=2 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// Tiles are scratch buffers of the transposed tile; the products are register blocks of vector.fma.

// CHECK-LABEL: func.func @one_tile
// CHECK-SAME: %[[Q:[^:,]+]]: memref<1x1x32x8xf32>, %[[K:[^:,]+]]: memref<1x1x64x8xf32>, %[[V:[^:,]+]]: memref<1x1x64x4xf32>, %[[O:[^:,]+]]: memref<1x1x32x4xf32>
func.func @one_tile(%q: memref<1x1x32x8xf32>, %k: memref<1x1x64x8xf32>, %v: memref<1x1x64x4xf32>,
                    %o: memref<1x1x32x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %scale = arith.constant 0.5 : f32
  // CHECK-DAG: %[[LOG2E:.+]] = arith.constant dense<0.72134751> : vector<16xf32>
  // CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
  // CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
  // CHECK: scf.forall
  scf.forall (%t) in (2) {
    // Allocations are at the top of the parallel body: flash-outline-parallel makes them per-thread scratch.
    // A tile has one piece of memory for each chunk of 16 queries.
    // CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<2x64x16xf32>
    // CHECK-DAG: %[[QT:.+]] = memref.alloc() {alignment = 64 : i64} : memref<2x8x16xf32>
    // CHECK-DAG: %[[ACC:.+]] = memref.alloc() {alignment = 64 : i64} : memref<2x4x16xf32>
    // Blocks of 8 queries and columns are turned in registers.
    // CHECK: scf.for %[[R:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
    // CHECK: vector.load %[[Q]][%{{.+}}, %{{.+}}, %[[R]], %{{.+}}] : memref<1x1x32x8xf32>, vector<8xf32>
    // CHECK-NOT: arith.mulf
    // CHECK-COUNT-24: vector.shuffle
    // CHECK-NOT: vector.shuffle
    // CHECK-COUNT-8: vector.store %{{.+}}, %[[QT]][
    %qt = flash.load_query %q[%c0, %c0, %c0] rows %c32 : memref<1x1x32x8xf32> -> !flash.query<32 x 8, f32>
    %m0, %l0, %a0 = flash.init : !flash.rows<32, f32>, !flash.rows<32, f32>, !flash.acc<32 x 4, f32>
    // Dot products: 2 keys at a time, 16 of the 32 queries in each chunk, the head dimension is the reduction.
    // CHECK: %[[KEYS:.+]] = memref.subview %[[K]]
    // CHECK: scf.for %[[LANE:.+]] = %{{.+}} to %{{.+}} step %[[C16]] {
    // CHECK: scf.for %[[KEY:.+]] = %{{.+}} to %{{.+}} step %[[C2]] {
    // CHECK: %[[CHUNK:.+]] = arith.divui %[[LANE]], %[[C16]]
    // The next tile's keys and this one's values are on their way meanwhile.
    // CHECK: memref.prefetch %[[K]]
    // CHECK: memref.prefetch %[[V]]
    // CHECK: %{{.+}}:2 = scf.for %[[D:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[S0:.+]] = %{{.+}}, %[[S1:.+]] = %{{.+}}) -> (vector<16xf32>, vector<16xf32>) {
    // CHECK: %[[QV:.+]] = vector.load %[[QT]][%[[CHUNK]], %[[D]], %{{.+}}] : memref<2x8x16xf32>, vector<16xf32>
    // CHECK: %[[K0:.+]] = memref.load %[[KEYS]][%[[KEY]], %[[D]]]
    // CHECK: %[[B0:.+]] = vector.broadcast %[[K0]]
    // CHECK: %[[F0:.+]] = vector.fma %[[B0]], %[[QV]], %[[S0]]
    // CHECK: %[[F1:.+]] = vector.fma %{{.+}}, %[[QV]], %[[S1]]
    // CHECK: scf.yield %[[F0]], %[[F1]]
    %s, %sm = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c32 keys %c64 scale %scale : f32 : !flash.query<32 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<32 x 64, f32>, !flash.rows<32, f32>
    %m1, %alpha = flash.update_max %m0, %sm : !flash.rows<32, f32>
    %p, %l1 = flash.weights %s, %m1, %l0, %alpha rows %c32 keys %c64 : !flash.scores<32 x 64, f32>, !flash.rows<32, f32>
    // The exponent has log2(e) times the scale, behind the difference to the maximum.
    // CHECK: arith.subf %{{.+}}, %{{.+}} : vector<16xf32>
    // CHECK: vector.fma %{{.+}}, %[[LOG2E]], %{{.+}} : vector<16xf32>
    // The accumulator is rescaled as it is loaded: acc * alpha + sum of weight * value.
    // CHECK: %[[VALUES:.+]] = memref.subview %[[V]]
    // CHECK: %[[OLD:.+]] = vector.load %[[ACC]]
    // CHECK: %[[START:.+]] = arith.mulf %[[OLD]], %{{.+}} : vector<16xf32>
    // CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[START]]
    // CHECK: memref.load %[[VALUES]]
    // CHECK: vector.fma
    %a1 = flash.accumulate %a0, %alpha, %p, %v[%c0, %c0, %c0] rows %c32 keys %c64 : !flash.acc<32 x 4, f32>, !flash.rows<32, f32>, !flash.scores<32 x 64, f32>, memref<1x1x64x4xf32>
    // Rows without a key have sum 0 and give 0.
    // CHECK: arith.divf
    // CHECK: arith.select
    // CHECK: memref.store %{{.+}}, %[[O]]
    flash.store %a1, %l1, %o[%c0, %c0, %c0] rows %c32 : !flash.acc<32 x 4, f32>, !flash.rows<32, f32>, memref<1x1x32x4xf32>
  }
  // CHECK-NOT: flash.
  return
}
