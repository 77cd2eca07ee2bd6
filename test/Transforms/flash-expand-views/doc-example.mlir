// RUN: attn-opt %s --flash-expand-views | FileCheck %s

// A slice of a slice is a part of the buffer: row 1 + 2 * 3 = 7, column 2 + 3 * i.
// CHECK-LABEL: func.func @slice_of_a_slice
// CHECK-SAME: %[[X:[^:]+]]: memref<9x40xf32>, %[[I:[^:]+]]: index
// CHECK: %[[COLUMNS:.+]] = arith.muli %[[I]], %c3{{.*}} overflow<nsw>
// CHECK: %[[OFFSET:.+]] = arith.addi %{{.*}}, %[[COLUMNS]]
// CHECK: %[[VIEW:.+]] = memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [5], strides: [6]
// CHECK-NOT: memref.subview
// CHECK: memref.load %[[VIEW]]
func.func @slice_of_a_slice(%x: memref<9x40xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %rows = memref.subview %x[1, 2] [4, 12] [2, 3] : memref<9x40xf32> to memref<4x12xf32, strided<[80, 3], offset: 42>>
  %row = memref.subview %rows[3, %i] [1, 5] [1, 2]
      : memref<4x12xf32, strided<[80, 3], offset: 42>> to memref<5xf32, strided<[6], offset: ?>>
  %y = memref.load %row[%c0] : memref<5xf32, strided<[6], offset: ?>>
  return %y : f32
}

// Two sizes of a group that only the run knows: the outer one steps over the inner.
// CHECK-LABEL: func.func @expanded
// CHECK-SAME: %[[X:[^:]+]]: memref<?x4xf32, {{.*}}>, %[[B:[^:]+]]: index, %[[S:[^:]+]]: index
// CHECK: %{{.+}}, %[[OFFSET:.+]], %{{.+}}:2, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[STRIDE:.+]] = arith.muli %[[STRIDES]]#0, %[[S]]
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [%[[B]], %[[S]], 4], strides: [%[[STRIDE]], %[[STRIDES]]#0, 1]
// CHECK-NOT: memref.expand_shape
func.func @expanded(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %b: index, %s: index)
    -> memref<?x?x4xf32, strided<[?, ?, 1], offset: ?>> {
  %y = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 4]
      : memref<?x4xf32, strided<[?, 1], offset: ?>> into memref<?x?x4xf32, strided<[?, ?, 1], offset: ?>>
  return %y : memref<?x?x4xf32, strided<[?, ?, 1], offset: ?>>
}
