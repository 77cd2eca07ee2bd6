// RUN: attn-opt %s --allow-unregistered-dialect --flash-free-buffers | FileCheck %s

// CHECK-LABEL: func.func @returned
// CHECK-NOT: memref.dealloc
func.func @returned() -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  return %a : memref<8xf32>
}

// CHECK-LABEL: func.func @freed_already
// CHECK-COUNT-1: memref.dealloc
// CHECK-NOT: memref.dealloc
func.func @freed_already() {
  %a = memref.alloc() : memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// The buffer that an iteration hands on is left to the runtime; the first one dies here, after the loop's result.
// CHECK-LABEL: func.func @carried_by_a_loop
// CHECK: %[[A:.+]] = memref.alloc
// CHECK: %[[B:.+]] = memref.alloc
// CHECK-NEXT: scf.yield %[[B]]
// CHECK: memref.load
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NOT: memref.dealloc
func.func @carried_by_a_loop(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> memref<8xf32> {
    %b = memref.alloc() : memref<8xf32>
    scf.yield %b : memref<8xf32>
  }
  %v = memref.load %r[%c0] : memref<8xf32>
  return %v : f32
}

// Nothing tells that the op's result is another buffer.
// CHECK-LABEL: func.func @unknown_result
// CHECK-NOT: memref.dealloc
func.func @unknown_result() -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %r = "test.unknown"(%a) : (memref<8xf32>) -> memref<8xf32>
  %v = memref.load %r[%c0] : memref<8xf32>
  return %v : f32
}
