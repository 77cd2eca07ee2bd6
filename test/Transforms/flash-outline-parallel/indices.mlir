// RUN: attn-opt %s --flash-outline-parallel --split-input-file | FileCheck %s

// Item n is (n / 35, n / 7 mod 5, n mod 7).
// CHECK-LABEL: func.func @three_dimensions
// CHECK: %[[COUNT:.+]] = arith.constant 105 : index
// CHECK: flash.parallel_for @three_dimensions_parallel_0 count %[[COUNT]]
// CHECK-LABEL: func.func private @three_dimensions_parallel_0
// CHECK: scf.for %[[N:.+]] =
// CHECK: %[[C7:.+]] = arith.constant 7 : index
// CHECK: %[[K:.+]] = arith.remui %[[N]], %[[C7]]
// CHECK: %[[N1:.+]] = arith.divui %[[N]], %[[C7]]
// CHECK: %[[C5:.+]] = arith.constant 5 : index
// CHECK: %[[J:.+]] = arith.remui %[[N1]], %[[C5]]
// CHECK: %[[I:.+]] = arith.divui %[[N1]], %[[C5]]
// CHECK: memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]], %[[K]]]
func.func @three_dimensions(%a: memref<3x5x7xf32>, %x: f32) {
  scf.forall (%i, %j, %k) in (3, 5, 7) {
    memref.store %x, %a[%i, %j, %k] : memref<3x5x7xf32>
  }
  return
}

// -----

// From 2 below 11 by 3: 2, 5, 8.
// CHECK-LABEL: func.func @lower_bound_and_step
// CHECK: %[[COUNT:.+]] = arith.constant 3 : index
// CHECK: flash.parallel_for @{{.+}} count %[[COUNT]]
// CHECK: scf.for %[[N:.+]] =
// CHECK: %[[C3:.+]] = arith.constant 3 : index
// CHECK: %[[SCALED:.+]] = arith.muli %[[N]], %[[C3]]
// CHECK: %[[C2:.+]] = arith.constant 2 : index
// CHECK: %[[I:.+]] = arith.addi %[[SCALED]], %[[C2]]
// CHECK: memref.store %{{.+}}, %{{.+}}[%[[I]]]
func.func @lower_bound_and_step(%a: memref<11xf32>, %x: f32) {
  scf.forall (%i) = (2) to (11) step (3) {
    memref.store %x, %a[%i] : memref<11xf32>
  }
  return
}

// -----

// An inner parallel loop runs on the thread of the outer one.
// CHECK-LABEL: func.func @inner_loop
// CHECK: flash.parallel_for @inner_loop_parallel_0
// CHECK-NOT: flash.parallel_for
// CHECK-LABEL: func.func private @inner_loop_parallel_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.forall
func.func @inner_loop(%a: memref<3x5xf32>, %x: f32) {
  scf.forall (%i) in (3) {
    scf.forall (%j) in (5) {
      memref.store %x, %a[%i, %j] : memref<3x5xf32>
    }
  }
  return
}
