// RUN: attn-opt %s --flash-expand-views | FileCheck %s

// Casts of buffers stay as they are, and so does what is no view.
// CHECK-LABEL: func.func @cast_of_a_buffer
// CHECK-NEXT: %[[Y:.+]] = memref.reinterpret_cast %arg0 to offset: [%arg1], sizes: [2], strides: [1]
// CHECK-NEXT: %[[Z:.+]] = memref.cast %[[Y]]
// CHECK-NEXT: return %[[Z]]
func.func @cast_of_a_buffer(%x: memref<3x5xf32>, %i: index) -> memref<?xf32, strided<[1], offset: ?>> {
  %y = memref.reinterpret_cast %x to offset: [%i], sizes: [2], strides: [1]
      : memref<3x5xf32> to memref<2xf32, strided<[1], offset: ?>>
  %z = memref.cast %y : memref<2xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  return %z : memref<?xf32, strided<[1], offset: ?>>
}

// CHECK-LABEL: func.func @base
// CHECK-NEXT: %[[BASE:[^,]+]], %{{.+}} = memref.extract_strided_metadata %arg0
// CHECK-NEXT: return %[[BASE]]
func.func @base(%x: memref<5xf32>) -> memref<f32> {
  %base, %offset, %size, %stride = memref.extract_strided_metadata %x : memref<5xf32> -> memref<f32>, index, index, index
  return %base : memref<f32>
}

// CHECK-LABEL: func.func @unranked
// CHECK: memref.cast %arg0 : memref<*xf32> to memref<?xf32>
func.func @unranked(%x: memref<*xf32>) -> (memref<?xf32>, index) {
  %y = memref.cast %x : memref<*xf32> to memref<?xf32>
  %p = memref.extract_aligned_pointer_as_index %x : memref<*xf32> -> index
  return %y, %p : memref<?xf32>, index
}
