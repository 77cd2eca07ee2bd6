// RUN: attn-opt %s --attn-bufferize | FileCheck %s

// CHECK-LABEL: func.func private @one_element
// CHECK: %[[VIEW:.+]] = memref.subview %{{.+}}[0, 3, 2] [1, 1, 1] [1, 1, 1]
// CHECK-NEXT: memref.collapse_shape %[[VIEW]] [] : {{.*}} into memref<f32, strided<[], offset: ?>>
func.func private @one_element(%x: tensor<1x5x4xf32>) -> tensor<f32> {
  %q = tensor.extract_slice %x[0, 3, 2] [1, 1, 1] [1, 1, 1] : tensor<1x5x4xf32> to tensor<f32>
  return %q : tensor<f32>
}

// Dropped dimensions in front join the first that stays; static strides stay what they are.
// CHECK-LABEL: func.func private @of_a_computed_tensor
// CHECK: %[[VIEW:.+]] = memref.subview %{{.+}}[1, 0, 2, 0] [1, %{{.+}}, 1, 4] [1, 1, 1, 1] : memref<2x7x3x4xf32> to memref<1x?x1x4xf32, strided<[84, 12, 4, 1], offset: 92>>
// CHECK-NEXT: %[[GROUPS:.+]] = memref.collapse_shape %[[VIEW]] {{\[\[}}0, 1, 2], [3]]
// CHECK-NEXT: memref.cast %[[GROUPS]] : {{.*}} to memref<?x4xf32, strided<[12, 1], offset: 92>>
func.func private @of_a_computed_tensor(%n: index) -> tensor<?x4xf32> {
  %x = bufferization.alloc_tensor() : tensor<2x7x3x4xf32>
  %q = tensor.extract_slice %x[1, 0, 2, 0] [1, %n, 1, 4] [1, 1, 1, 1] : tensor<2x7x3x4xf32> to tensor<?x4xf32>
  return %q : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @reshape
// CHECK-NOT: memref.reshape
// CHECK: memref.collapse_shape %{{.+}} {{\[\[}}0, 1]]
// CHECK: memref.load
// CHECK: arith.index_cast
// CHECK: memref.expand_shape
func.func private @reshape(%x: tensor<3x?xf32>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
  %r = tensor.reshape %x(%shape) : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
