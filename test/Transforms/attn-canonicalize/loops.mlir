// RUN: attn-opt %s --attn-canonicalize=keep-loops | FileCheck %s
// RUN: attn-opt %s --attn-canonicalize | FileCheck %s --check-prefix=INLINED

// One item is a launch on a GPU; its index and the constants of the bounds are none of its captures.
// CHECK-LABEL: func.func @one_item
// CHECK: scf.forall (%{{.+}}, %[[J:.+]]) in (1, 5) {
// CHECK-NEXT: memref.store %{{.+}}, %{{.+}}[%c0, %[[J]]]
// INLINED-LABEL: func.func @one_item
// INLINED: scf.forall (%[[J:.+]]) in (5) {
// INLINED-NEXT: memref.store %{{.+}}, %{{.+}}[%c0, %[[J]]]
func.func @one_item(%m: memref<1x5xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%i, %j) in (%c1, %c5) {
    memref.store %x, %m[%i, %j] : memref<1x5xf32>
  }
  return
}

// CHECK-LABEL: func.func @steps
// CHECK: scf.forall (%[[I:.+]]) = (2) to (9) step (8)
// CHECK-NEXT: memref.store %{{.+}}, %{{.+}}[%c2]
// CHECK: scf.forall (%[[I:.+]]) = (2) to (9) step (3)
// CHECK-NEXT: memref.store %{{.+}}, %{{.+}}[%[[I]]]
func.func @steps(%m: memref<9xf32>, %x: f32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.forall (%i) = (%c2) to (9) step (8) {
    memref.store %x, %m[%i] : memref<9xf32>
  }
  scf.forall (%i) = (%c2) to (9) step (%c3) {
    memref.store %x, %m[%i] : memref<9xf32>
  }
  return
}
