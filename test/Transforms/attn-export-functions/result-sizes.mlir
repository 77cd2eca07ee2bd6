// RUN: attn-opt %s --attn-export-functions --split-input-file | FileCheck %s

// The check stands in front of all work, although the size was asked of a computed tensor.
// CHECK-LABEL: func.func @size_of_an_argument
// CHECK-SAME: %[[A:[^:]+]]: memref<?x4xf32, {{[^>]*}}>>, %[[OUT:[^:]+]]: memref<?x4xf32
// CHECK: %[[T:.+]] = bufferization.to_tensor %[[A]]
// CHECK: %[[WANT:.+]] = tensor.dim %[[T]], %{{.+}} : tensor<?x4xf32>
// CHECK: %[[GOT:.+]] = memref.dim %[[OUT]]
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[WANT]], %[[GOT]] : index
// CHECK: flash.require %[[SAME]], "result 0 expects a buffer of size {0} in dimension 0, but got {1}"(%[[WANT]], %[[GOT]])
// CHECK-NOT: flash.require
// CHECK: linalg.map
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: bufferization.materialize_in_destination
func.func @size_of_an_argument(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.map { math.absf } ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
  return %r : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @size_from_a_scalar
// CHECK-SAME: %[[N:[^:]+]]: index, %[[OUT:[^:]+]]: memref<?xf32
// CHECK: %[[GOT:.+]] = memref.dim %[[OUT]]
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[N]], %[[GOT]]
// CHECK: flash.require %[[SAME]]
// CHECK: linalg.fill
func.func @size_from_a_scalar(%n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// The size comes out of a loop over data: the result is computed elsewhere and copied behind the check.
// CHECK-LABEL: func.func @size_from_a_loop
// CHECK: linalg.fill
// CHECK: flash.require
// CHECK: %[[COPY:.+]] = bufferization.alloc_tensor() copy(%{{.+}})
// CHECK: bufferization.materialize_in_destination %[[COPY]]
func.func @size_from_a_loop(%n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> index {
    %y = arith.addi %x, %x : index
    scf.yield %y : index
  }
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
