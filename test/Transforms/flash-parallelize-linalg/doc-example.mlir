// RUN: attn-opt %s --flash-parallelize-linalg --lower-affine --split-input-file | FileCheck %s

// Rows and columns are items; what is contracted is a loop inside.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[A:.+]]: memref<3x5xf32>, %[[B:.+]]: memref<5x7xf32>, %[[C:.+]]: memref<3x7xf32>
// CHECK: scf.forall (%[[I:.+]], %[[J:.+]]) in
// CHECK: scf.for %[[K:.+]] =
// CHECK-DAG: memref.load %[[A]][%[[I]], %[[K]]]
// CHECK-DAG: memref.load %[[B]][%[[K]], %[[J]]]
// CHECK: memref.store %{{.+}}, %[[C]][%[[I]], %[[J]]]
// CHECK-NOT: linalg
func.func @product(%a: memref<3x5xf32>, %b: memref<5x7xf32>, %c: memref<3x7xf32>) {
  linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x7xf32>) outs(%c : memref<3x7xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @copy
// CHECK-SAME: %[[A:.+]]: memref<3x5xf32, strided<[1, 3]>>, %[[B:.+]]: memref<3x5xf32>
// CHECK: scf.forall (%[[I:.+]], %[[J:.+]]) in
// CHECK: %[[X:.+]] = memref.load %[[A]][%[[I]], %[[J]]]
// CHECK: memref.store %[[X]], %[[B]][%[[I]], %[[J]]]
// CHECK-NOT: memref.copy
func.func @copy(%a: memref<3x5xf32, strided<[1, 3]>>, %b: memref<3x5xf32>) {
  memref.copy %a, %b : memref<3x5xf32, strided<[1, 3]>> to memref<3x5xf32>
  return
}

// -----

// A sum of everything is one item.
// CHECK-LABEL: func.func @sum
// CHECK: scf.forall (%{{.+}}) in (1) {
// CHECK: scf.for
// CHECK: arith.addf
func.func @sum(%a: memref<9xf32>, %b: memref<f32>) {
  linalg.reduce ins(%a : memref<9xf32>) outs(%b : memref<f32>) dimensions = [0] (%x: f32, %y: f32) {
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}
