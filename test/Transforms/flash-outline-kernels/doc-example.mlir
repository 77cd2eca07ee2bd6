// RUN: attn-opt %s --flash-outline-kernels --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:.+]]: memref<?x8xf32>, %[[N:.+]]: index
// CHECK: %[[COUNT:.+]] = arith.maxsi %[[N]], %{{.+}} : index
// CHECK: flash.launch @attn_device::@rows_kernel_0 items %[[COUNT]](%[[A]] : memref<?x8xf32>)
// CHECK-NOT: scf.forall
// CHECK: gpu.module @attn_device
// CHECK: func.func @rows_kernel_0(%[[ITEM:.+]]: index, %[[A:.+]]: memref<?x8xf32>)
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT: flash.item_work
// CHECK: memref.store %[[ZERO]], %[[A]][%[[ITEM]],
func.func @rows(%a: memref<?x8xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    flash.item_work %n
    memref.store %zero, %a[%i, %c0] : memref<?x8xf32>
  }
  return
}

// -----

// The last dimension is the fastest; two functions share the device module.
// CHECK-LABEL: func.func @first
// CHECK: flash.launch @attn_device::@first_kernel_0 items %{{.+}}(%{{.+}} : memref<3x5xf32>)
// CHECK-LABEL: func.func @second
// CHECK: flash.launch @attn_device::@second_kernel_0
// CHECK: gpu.module @attn_device
// CHECK: func.func @first_kernel_0(%[[ITEM:.+]]: index, %[[A:.+]]: memref<3x5xf32>)
// CHECK: %[[FIVE:.+]] = arith.constant 5 : index
// CHECK-DAG: %[[COLUMN:.+]] = arith.remui %[[ITEM]], %[[FIVE]]
// CHECK-DAG: %[[ROW:.+]] = arith.divui %[[ITEM]], %[[FIVE]]
// CHECK: memref.load %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK: func.func @second_kernel_0
func.func @first(%a: memref<3x5xf32>) {
  scf.forall (%i, %j) in (3, 5) {
    %x = memref.load %a[%i, %j] : memref<3x5xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%i, %j] : memref<3x5xf32>
  }
  return
}
func.func @second(%a: memref<7xf32>, %x: f32) {
  scf.forall (%i) in (7) {
    memref.store %x, %a[%i] : memref<7xf32>
  }
  return
}
