// RUN: attn-opt %s --attn-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @heads_become_constant
// CHECK-SAME: %[[CACHE:[^:]+]]: tensor<1x?x16x4xf32>, %[[AT:[^:]+]]: index
// CHECK-NEXT: %[[SLICE:.+]] = tensor.extract_slice %[[CACHE]][0, 0, %[[AT]], 0] [1, 3, 1, 4] [1, 1, 1, 1] : tensor<1x?x16x4xf32> to tensor<1x3x4xf32>
// CHECK-NEXT: %[[TOKEN:.+]] = tensor.cast %[[SLICE]] : tensor<1x3x4xf32> to tensor<1x?x4xf32>
// CHECK-NEXT: return %[[TOKEN]]
func.func @heads_become_constant(%cache: tensor<1x?x16x4xf32>, %at: index) -> tensor<1x?x4xf32> {
  %heads = arith.constant 3 : index
  %token = tensor.extract_slice %cache[0, 0, %at, 0] [1, %heads, 1, 4] [1, 1, 1, 1]
      : tensor<1x?x16x4xf32> to tensor<1x?x4xf32>
  return %token : tensor<1x?x4xf32>
}
