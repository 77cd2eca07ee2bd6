// RUN: attn-opt %s --allow-unregistered-dialect --flash-free-buffers | FileCheck %s

// Freed after the last use of a view of it, and not at the end.
// CHECK-LABEL: func.func @used_through_a_view
// CHECK: %[[A:.+]] = memref.alloc
// CHECK: %[[VIEW:.+]] = memref.subview %[[A]]
// CHECK: "test.use"(%[[VIEW]])
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: "test.other"
func.func @used_through_a_view() {
  %a = memref.alloc() : memref<8xf32>
  %view = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  "test.use"(%view) : (memref<4xf32, strided<[1]>>) -> ()
  "test.other"() : () -> ()
  return
}

// A buffer of a loop's body is freed in each iteration; one from outside after the loop.
// CHECK-LABEL: func.func @loop
// CHECK: %[[A:.+]] = memref.alloc() : memref<8xf32>
// CHECK: scf.for
// CHECK: %[[B:.+]] = memref.alloc() : memref<4xf32>
// CHECK: "test.use"(%[[A]], %[[B]])
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK-NEXT: }
// CHECK-NEXT: memref.dealloc %[[A]]
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<4xf32>
    "test.use"(%a, %b) : (memref<8xf32>, memref<4xf32>) -> ()
  }
  return
}
