// RUN: attn-opt %s --convert-flash-to-cpu="target=x86-64-v3" --canonicalize --cse | FileCheck %s

// A partial result leaves the tile unchanged: nothing is divided.
// CHECK-LABEL: func.func @store
// CHECK-SAME: %[[MD:[^:,]+]]: memref<6x8x3xf32>, %[[SD:[^:,]+]]: memref<6x8x3xf32>, %[[AD:[^:,]+]]: memref<6x8x3x?xf32>
// CHECK: scf.forall
// CHECK-NOT: arith.divf
// CHECK: scf.for
// CHECK: %[[M:.+]] = memref.load %{{.+}}[%{{.+}}] : memref<16xf32>
// CHECK: memref.store %[[M]], %[[MD]][%{{.+}}, %{{.+}}, %{{.+}}]
// CHECK: %[[S:.+]] = memref.load %{{.+}}[%{{.+}}] : memref<16xf32>
// CHECK: memref.store %[[S]], %[[SD]]
// CHECK: vector.store %{{.+}}, %[[AD]]
func.func @store(%max: memref<6x8x3xf32>, %sum: memref<6x8x3xf32>, %acc: memref<6x8x3x?xf32>, %p: index, %h: index,
                 %i0: index, %rows: index, %size: index) {
  scf.forall (%t) in (2) {
    %m, %l, %a = flash.init value_dim %size : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    flash.store_partial %m, %l, %a, %max, %sum, %acc[%p, %h, %i0] rows %rows group 4
      : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>, memref<6x8x3xf32>, memref<6x8x3x?xf32>
  }
  return
}

// Scores count in base 2 here. A row without a key has maximum -inf on both sides, and 0 is subtracted.
// CHECK-LABEL: func.func @merge
// CHECK-SAME: %[[MS:[^:,]+]]: memref<6x8x3xf32>, %[[SS:[^:,]+]]: memref<6x8x3xf32>, %[[AS:[^:,]+]]: memref<6x8x3x?xf32>
// CHECK-DAG: %[[NONE:.+]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: scf.forall
// CHECK-DAG: %[[SIZE:.+]] = memref.dim %[[AS]]
// CHECK-DAG: memref.alloc(%[[SIZE]]) {{.*}} : memref<1x?x16xf32>
// CHECK: memref.load %[[MS]]
// CHECK: memref.load %[[SS]]
// CHECK: vector.load %[[AS]]
// CHECK: %[[GREATER:.+]] = arith.cmpf ogt, %[[M:.+]], %[[OTHER:.+]] : vector<16xf32>
// CHECK: %[[MAX:.+]] = arith.select %[[GREATER]], %[[M]], %[[OTHER]]
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %[[MAX]], %[[NONE]]
// CHECK: %[[BASE:.+]] = arith.select %[[EMPTY]], %[[ZERO]], %[[MAX]]
// CHECK: arith.subf %[[M]], %[[BASE]]
// CHECK: arith.subf %[[OTHER]], %[[BASE]]
// CHECK-COUNT-2: vector.load %{{.+}} : memref<16xf32>
// CHECK: vector.store %[[MAX]]
// CHECK: %[[A:.+]] = arith.mulf %{{.+}}, %[[X:.+]] : vector<16xf32>
// CHECK: %[[B:.+]] = arith.mulf %{{.+}}, %[[Y:.+]] : vector<16xf32>
// CHECK: %[[SUM:.+]] = arith.addf %[[A]], %[[B]]
// CHECK: vector.store %[[SUM]], %{{.+}} : memref<16xf32>
// CHECK: scf.for
// CHECK: %[[C:.+]] = arith.mulf %{{.+}}, %[[X]] : vector<16xf32>
// CHECK: %[[D:.+]] = arith.mulf %{{.+}}, %[[Y]] : vector<16xf32>
// CHECK: arith.addf %[[C]], %[[D]]
func.func @merge(%max: memref<6x8x3xf32>, %sum: memref<6x8x3xf32>, %acc: memref<6x8x3x?xf32>, %p: index, %h: index,
                 %i0: index, %rows: index, %size: index, %out: memref<2x8x3x?xf32>) {
  scf.forall (%t) in (2) {
    %m, %l, %a = flash.init value_dim %size : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    %m1, %l1, %a1 = flash.load_partial %max, %sum, %acc[%p, %h, %i0] rows %rows group 4
      : memref<6x8x3xf32>, memref<6x8x3x?xf32> -> !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    %m2, %l2, %a2 = flash.merge (%m, %l, %a), (%m1, %l1, %a1) rows %rows : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    flash.store %a2, %l2, %out[%t, %h, %i0] rows %rows group 4
      : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, memref<2x8x3x?xf32>
  }
  return
}

// Outside of a parallel loop (one item) scratch lies in front of the loops around, where its size is known.
// CHECK-LABEL: func.func @one_item
// CHECK: %[[DIM:.+]] = memref.dim
// CHECK: memref.alloc(%[[DIM]]) {alignment = 64 : i64} : memref<1x?x16xf32>
// CHECK: scf.for
func.func @one_item(%max: memref<6x8x3xf32>, %sum: memref<6x8x3xf32>, %n: index, %rows: index,
                    %out: memref<2x8x3x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %size = memref.dim %out, %c3 : memref<2x8x3x?xf32>
  %acc = memref.alloc(%size) : memref<6x8x3x?xf32>
  scf.for %p = %c0 to %n step %c1 {
    %m1, %l1, %a1 = flash.load_partial %max, %sum, %acc[%p, %c0, %c0] rows %rows
      : memref<6x8x3xf32>, memref<6x8x3x?xf32> -> !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    flash.store %a1, %l1, %out[%c0, %c0, %c0] rows %rows
      : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, memref<2x8x3x?xf32>
  }
  return
}
