// RUN: attn-opt %s --attn-fuse | FileCheck %s
// The verifier lets through a dimension that the tensor does not have, and a tensor without a known rank.

// CHECK-LABEL: @behind
// CHECK: tensor.dim
func.func @behind(%x: tensor<?xf32>) -> index {
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = tensor.dim %f, %c3 : tensor<?xf32>
  return %m : index
}

// CHECK-LABEL: @no_rank
// CHECK: tensor.dim
func.func @no_rank(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = tensor.cast %x : tensor<?xf32> to tensor<*xf32>
  %m = tensor.dim %y, %c0 : tensor<*xf32>
  return %m : index
}
