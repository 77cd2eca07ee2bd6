// RUN: attn-opt %s --attn-bufferize | FileCheck %s

// CHECK-LABEL: func.func private @slot
// CHECK-SAME: %[[PACKED:[^:]+]]: memref<1x7x3x4xf32, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-NEXT: %[[VIEW:.+]] = memref.subview %[[PACKED]][0, 0, 1, 0] [1, 7, 1, 4] [1, 1, 1, 1] : {{.*}} to memref<1x7x1x4xf32, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-NEXT: %[[SLOT:.+]] = memref.collapse_shape %[[VIEW]] {{\[\[}}0], [1, 2], [3]] : {{.*}} into memref<1x7x4xf32, strided<[?, ?, ?], offset: ?>>
// CHECK-NEXT: return %[[SLOT]]
func.func private @slot(%packed: tensor<1x7x3x4xf32>) -> tensor<1x7x4xf32> {
  %slot = tensor.extract_slice %packed[0, 0, 1, 0] [1, 7, 1, 4] [1, 1, 1, 1]
      : tensor<1x7x3x4xf32> to tensor<1x7x4xf32>
  return %slot : tensor<1x7x4xf32>
}
