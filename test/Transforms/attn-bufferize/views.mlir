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

// Rows of either buffer are dense, so those of the chosen one are.
// CHECK-LABEL: func.func private @chosen
// CHECK: scf.if %{{.+}} -> (memref<?x?xf32, strided<[?, 1], offset: ?>>)
// CHECK-LABEL: func.func private @chosen_from_columns
// CHECK: scf.if %{{.+}} -> (memref<?x?xf32, strided<[?, ?], offset: ?>>)
func.func private @chosen(%c: i1, %n: index) -> f32 {
  %x = bufferization.alloc_tensor() : tensor<2x3x4xf32>
  %y = bufferization.alloc_tensor() : tensor<5x6xf32>
  %z = arith.constant 0 : index
  %r = scf.if %c -> tensor<?x?xf32> {
    %s = tensor.extract_slice %x[1, 0, %z] [1, 3, %n] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3x?xf32>
    %t = tensor.cast %s : tensor<3x?xf32> to tensor<?x?xf32>
    scf.yield %t : tensor<?x?xf32>
  } else {
    %t = tensor.cast %y : tensor<5x6xf32> to tensor<?x?xf32>
    scf.yield %t : tensor<?x?xf32>
  }
  %e = tensor.extract %r[%n, %z] : tensor<?x?xf32>
  return %e : f32
}

func.func private @chosen_from_columns(%c: i1, %n: index) -> f32 {
  %x = bufferization.alloc_tensor() : tensor<2x3x4xf32>
  %y = bufferization.alloc_tensor() : tensor<5x6xf32>
  %z = arith.constant 0 : index
  %r = scf.if %c -> tensor<?x?xf32> {
    %s = tensor.extract_slice %x[1, 0, %z] [1, 3, %n] [1, 1, 2] : tensor<2x3x4xf32> to tensor<3x?xf32>
    %t = tensor.cast %s : tensor<3x?xf32> to tensor<?x?xf32>
    scf.yield %t : tensor<?x?xf32>
  } else {
    %t = tensor.cast %y : tensor<5x6xf32> to tensor<?x?xf32>
    scf.yield %t : tensor<?x?xf32>
  }
  %e = tensor.extract %r[%n, %z] : tensor<?x?xf32>
  return %e : f32
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
