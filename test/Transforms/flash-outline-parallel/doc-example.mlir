// RUN: attn-opt %s --flash-outline-parallel | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:.+]]: memref<?x8xf32>, %[[N:.+]]: index
// CHECK-DAG: %[[BYTES:.+]] = arith.constant 64 : index
// CHECK-DAG: %[[COUNT:.+]] = arith.maxsi %[[N]], %{{.+}} : index
// CHECK: flash.parallel_for @rows_parallel_0 count %[[COUNT]] work %[[N]] scratch_bytes %[[BYTES]](%[[A]] : memref<?x8xf32>)
// CHECK-NOT: scf.forall
// CHECK-NOT: flash.item_work

// CHECK-LABEL: func.func private @rows_parallel_0
// CHECK-SAME: (%[[BEGIN:.+]]: index, %[[END:.+]]: index, %[[SCRATCH:.+]]: memref<?xi8>, %[[A:.+]]: memref<?x8xf32>)
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[VIEW:.+]] = memref.view %[[SCRATCH]][%{{.+}}][] : memref<?xi8> to memref<8xf32>
// CHECK: scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step
// CHECK: memref.store %[[ZERO]], %[[VIEW]]
// CHECK: memref.load %[[A]][%[[I]],
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
func.func @rows(%a: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    flash.item_work %n
    %buffer = memref.alloc() : memref<8xf32>
    memref.store %zero, %buffer[%c0] : memref<8xf32>
    %x = memref.load %a[%i, %c0] : memref<?x8xf32>
    memref.store %x, %buffer[%c0] : memref<8xf32>
    memref.dealloc %buffer : memref<8xf32>
  }
  return
}
