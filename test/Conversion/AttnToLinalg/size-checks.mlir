// RUN: attn-opt %s --convert-attn-to-linalg --split-input-file | FileCheck %s

// Only what the types leave open is compared.
// CHECK-LABEL: func @matmul(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x3x?xf32>, %[[B:[^:]+]]: tensor<2x5x?xf32>
// CHECK-DAG: %[[K:.+]] = tensor.dim %[[A]], %{{.+}}
// CHECK-DAG: %[[L:.+]] = tensor.dim %[[B]], %{{.+}}
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[K]], %[[L]] : index
// CHECK: flash.require %[[SAME]], "'attn.matmul' expects lhs and rhs to share k (C2), but got {0} and {1}"(%[[K]], %[[L]])
// CHECK-NOT: flash.require
// CHECK: linalg.generic
func.func @matmul(%a: tensor<2x3x?xf32>, %b: tensor<2x5x?xf32>, %o: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %0 = attn.matmul %a, %b transpose_rhs : tensor<2x3x?xf32>, tensor<2x5x?xf32>
      outs(%o : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: func @softmax_and_mask(
// CHECK: flash.require %{{.+}}, "'attn.softmax' expects out to have the size of the input in dimension 1 (C1), but got {0} and {1}"
// CHECK: flash.require %{{.+}}, "'attn.mask' expects out to have the size of the input in dimension 3 (C1), but got {0} and {1}"
// CHECK-NOT: flash.require
// CHECK: return
func.func @softmax_and_mask(%x: tensor<4x?xf32>, %p: tensor<4x?xf32>, %y: tensor<1x2x3x?xf32>, %o: tensor<1x2x3x?xf32>)
    -> (tensor<4x?xf32>, tensor<1x2x3x?xf32>) {
  %0 = attn.softmax %x axis(1) : tensor<4x?xf32> outs(%p : tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = attn.mask %y : tensor<1x2x3x?xf32> outs(%o : tensor<1x2x3x?xf32>) -> tensor<1x2x3x?xf32>
  return %0, %1 : tensor<4x?xf32>, tensor<1x2x3x?xf32>
}
