// RUN: attn-opt %s --flash-expand-views | FileCheck %s

// One of several unit dimensions: row n has stride 12, whichever was dropped.
// CHECK-LABEL: func.func @drops_the_third
// CHECK: memref.reinterpret_cast %arg0 to offset: [4], sizes: [1, 2, 4], strides: [24, 12, 1] : memref<1x2x3x4xf32> to memref<1x2x4xf32, strided<[24, 12, 1], offset: 4>>
func.func @drops_the_third(%x: memref<1x2x3x4xf32>) -> memref<1x2x4xf32, strided<[24, 12, 1], offset: 4>> {
  %y = memref.subview %x[0, 0, 1, 0] [1, 2, 1, 4] [1, 1, 1, 1]
      : memref<1x2x3x4xf32> to memref<1x2x4xf32, strided<[24, 12, 1], offset: 4>>
  return %y : memref<1x2x4xf32, strided<[24, 12, 1], offset: 4>>
}

// CHECK-LABEL: func.func @drops_around_a_dynamic_size
// CHECK: memref.reinterpret_cast %arg0 to offset: [%{{.+}}], sizes: [%arg1, 4], strides: [12, 1]
func.func @drops_around_a_dynamic_size(%x: memref<2x7x3x4xf32>, %n: index, %at: index)
    -> memref<?x4xf32, strided<[12, 1], offset: ?>> {
  %y = memref.subview %x[1, 0, %at, 0] [1, %n, 1, 4] [1, 1, 1, 1]
      : memref<2x7x3x4xf32> to memref<?x4xf32, strided<[12, 1], offset: ?>>
  return %y : memref<?x4xf32, strided<[12, 1], offset: ?>>
}

// Steps multiply.
// CHECK-LABEL: func.func @stepped
// CHECK-SAME: %[[X:[^:]+]]: {{.*}}, %[[STEP:[^:]+]]: index
// CHECK: %[[METADATA:.+]], %[[FROM:.+]], %{{.+}}, %[[HAD:.+]] = memref.extract_strided_metadata %[[X]]
// CHECK: %[[SKIPPED:.+]] = arith.muli %c3{{.*}}, %[[HAD]] overflow<nsw>
// CHECK: %[[OFFSET:.+]] = arith.addi %[[FROM]], %[[SKIPPED]]
// CHECK: %[[STRIDE:.+]] = arith.muli %[[HAD]], %[[STEP]] overflow<nsw>
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [5], strides: [%[[STRIDE]]]
func.func @stepped(%x: memref<?xi8, strided<[?], offset: ?>>, %step: index) -> memref<5xi8, strided<[?], offset: ?>> {
  %y = memref.subview %x[3] [5] [%step] : memref<?xi8, strided<[?], offset: ?>> to memref<5xi8, strided<[?], offset: ?>>
  return %y : memref<5xi8, strided<[?], offset: ?>>
}

// Constant sizes of 1 are skipped for the stride of merged dimensions.
// CHECK-LABEL: func.func @merged_with_units
// CHECK: memref.reinterpret_cast %arg0 to offset: [0], sizes: [6], strides: [4]
func.func @merged_with_units(%x: memref<1x6x1xf32, strided<[100, 4, 50]>>) -> memref<6xf32, strided<[4]>> {
  %y = memref.collapse_shape %x [[0, 1, 2]] : memref<1x6x1xf32, strided<[100, 4, 50]>> into memref<6xf32, strided<[4]>>
  return %y : memref<6xf32, strided<[4]>>
}

// CHECK-LABEL: func.func @merged_behind_a_unit
// CHECK: %{{.+}}, %{{.+}}, %[[SIZES:.+]]:3, %[[STRIDES:.+]]:3 = memref.extract_strided_metadata %arg0
// CHECK-NOT: arith.select
// CHECK: memref.reinterpret_cast %arg0 to offset: [0], sizes: [%[[SIZES]]#1], strides: [%[[STRIDES]]#1]
func.func @merged_behind_a_unit(%x: memref<1x?x1xf32, strided<[?, ?, ?]>>) -> memref<?xf32, strided<[?]>> {
  %y = memref.collapse_shape %x [[0, 1, 2]] : memref<1x?x1xf32, strided<[?, ?, ?]>> into memref<?xf32, strided<[?]>>
  return %y : memref<?xf32, strided<[?]>>
}

// A size that the run may know to be 1 is asked for: then its stride is nobody's.
// CHECK-LABEL: func.func @merged_with_a_dynamic_size
// CHECK: %{{.+}}, %{{.+}}, %[[SIZES:.+]]:2, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %arg0
// CHECK: %[[SIZE:.+]] = arith.muli %[[SIZES]]#0, %[[SIZES]]#1
// CHECK: %[[ONE:.+]] = arith.cmpi eq, %[[SIZES]]#1, %c1
// CHECK: %[[STRIDE:.+]] = arith.select %[[ONE]], %[[STRIDES]]#0, %[[STRIDES]]#1
// CHECK: memref.reinterpret_cast %arg0 to offset: [0], sizes: [%[[SIZE]]], strides: [%[[STRIDE]]]
func.func @merged_with_a_dynamic_size(%x: memref<?x?xf32, strided<[?, ?]>>) -> memref<?xf32, strided<[?]>> {
  %y = memref.collapse_shape %x [[0, 1]] : memref<?x?xf32, strided<[?, ?]>> into memref<?xf32, strided<[?]>>
  return %y : memref<?xf32, strided<[?]>>
}

// CHECK-LABEL: func.func @without_dimensions
// CHECK: %[[ONE:.+]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [1, 1], strides: [1, 1] : memref<f32> to memref<1x1xf32>
// CHECK: %[[NONE:.+]] = memref.reinterpret_cast %arg1 to offset: [%{{.+}}], sizes: [], strides: [] : memref<1x3xf32> to memref<f32, strided<[], offset: ?>>
// CHECK: return %[[ONE]], %[[NONE]]
func.func @without_dimensions(%x: memref<f32>, %y: memref<1x3xf32>, %at: index)
    -> (memref<1x1xf32>, memref<f32, strided<[], offset: ?>>) {
  %a = memref.expand_shape %x [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  %b = memref.subview %y[0, %at] [1, 1] [1, 1] : memref<1x3xf32> to memref<1x1xf32, strided<[3, 1], offset: ?>>
  %c = memref.collapse_shape %b [] : memref<1x1xf32, strided<[3, 1], offset: ?>> into memref<f32, strided<[], offset: ?>>
  return %a, %c : memref<1x1xf32>, memref<f32, strided<[], offset: ?>>
}

// What is asked of a view is answered by the ops that made it, and its buffer's pointer is the view's.
// CHECK-LABEL: func.func @metadata
// CHECK-NOT: memref.subview
// CHECK-NOT: memref.extract_strided_metadata
// CHECK: %[[POINTER:.+]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK: return %c42, %c4{{[^,]*}}, %c80, %[[POINTER]]
func.func @metadata(%x: memref<9x40xf32>) -> (index, index, index, index) {
  %y = memref.subview %x[1, 2] [4, 12] [2, 3] : memref<9x40xf32> to memref<4x12xf32, strided<[80, 3], offset: 42>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %y
      : memref<4x12xf32, strided<[80, 3], offset: 42>> -> memref<f32>, index, index, index, index, index
  %pointer = memref.extract_aligned_pointer_as_index %base : memref<f32> -> index
  return %offset, %sizes#0, %strides#0, %pointer : index, index, index, index
}

// A cast hides numbers that its source knows; one that tells more is believed.
// CHECK-LABEL: func.func @through_casts
// CHECK: memref.reinterpret_cast %arg0 to offset: [%{{.+}}], sizes: [2], strides: [5]
func.func @through_casts(%x: memref<3x5xf32>, %i: index) -> memref<2xf32, strided<[?], offset: ?>> {
  %y = memref.cast %x : memref<3x5xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %z = memref.subview %y[1, %i] [2, 1] [1, 1]
      : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<2xf32, strided<[?], offset: ?>>
  return %z : memref<2xf32, strided<[?], offset: ?>>
}

// Views in blocks that a branch reaches, listed in another order than they run.
// CHECK-LABEL: func.func @blocks
// CHECK: ^[[LAST:bb[0-9]+]]:
// CHECK: memref.reinterpret_cast %arg0 to offset: [7], sizes: [2], strides: [1]
// CHECK-NOT: memref.subview
func.func @blocks(%x: memref<4x5xf32>) -> memref<2xf32, strided<[1], offset: 7>> {
  cf.br ^first
^last:
  %z = memref.subview %y[1] [2] [1] : memref<3xf32, strided<[1], offset: 6>> to memref<2xf32, strided<[1], offset: 7>>
  return %z : memref<2xf32, strided<[1], offset: 7>>
^first:
  %y = memref.subview %x[1, 1] [1, 3] [1, 1] : memref<4x5xf32> to memref<3xf32, strided<[1], offset: 6>>
  cf.br ^last
}

// A buffer of a loop is its own root.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for {{.*}} iter_args(%[[BUFFER:.+]] = %arg0)
// CHECK: memref.extract_strided_metadata %[[BUFFER]]
// CHECK: memref.reinterpret_cast %[[BUFFER]] to
func.func @in_a_loop(%x: memref<?x4xf32>, %n: index) -> memref<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%buffer = %x) -> memref<?x4xf32> {
    %flat = memref.collapse_shape %buffer [[0, 1]] : memref<?x4xf32> into memref<?xf32>
    memref.store %f, %flat[%i] : memref<?xf32>
    scf.yield %buffer : memref<?x4xf32>
  }
  return %r : memref<?x4xf32>
}
