// RUN: attn-opt %s --allow-unregistered-dialect --flash-check-allocations | FileCheck %s

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[N:.+]]: index
// CHECK: %[[BYTES:.+]], %[[HIGH:.+]] = arith.mului_extended %{{.+}}, %[[N]]
// CHECK: flash.require %{{.+}}, "a temporary buffer expects fewer than 2^63 bytes; use smaller sizes"
// CHECK-NEXT: memref.alloc(%[[N]])
func.func @dynamic(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  "test.use"(%a) : (memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @static
// CHECK-NEXT: memref.alloc()
func.func @static() {
  %a = memref.alloc() : memref<17xf32>
  "test.use"(%a) : (memref<17xf32>) -> ()
  return
}
