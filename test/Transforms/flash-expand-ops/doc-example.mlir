// RUN: attn-opt %s --flash-expand-ops | FileCheck %s

// CHECK-LABEL: func.func @strided_copy
// CHECK-SAME: %[[A:.+]]: memref<3x5xf32, strided<[?, 1]>>, %[[B:.+]]: memref<3x5xf32>
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %c3
// CHECK: scf.for %[[J:.+]] = %{{.+}} to %c5
// CHECK: %[[X:.+]] = memref.load %[[A]][%[[I]], %[[J]]]
// CHECK: memref.store %[[X]], %[[B]][%[[I]], %[[J]]]
// CHECK-NOT: memref.copy
func.func @strided_copy(%a: memref<3x5xf32, strided<[?, 1]>>, %b: memref<3x5xf32>) {
  memref.copy %a, %b : memref<3x5xf32, strided<[?, 1]>> to memref<3x5xf32>
  return
}

// CHECK-LABEL: func.func @contiguous_copy
// CHECK-NEXT: memref.copy
func.func @contiguous_copy(%a: memref<3x5xf32>, %b: memref<3x5xf32>) {
  memref.copy %a, %b : memref<3x5xf32> to memref<3x5xf32>
  return
}

// CHECK-LABEL: func.func @bf16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @bf16(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// CHECK-LABEL: func.func @vector_math
// CHECK-NOT: math.exp
// CHECK: return
func.func @vector_math(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @scalar_math_is_left_for_libm
// CHECK-NEXT: math.exp
func.func @scalar_math_is_left_for_libm(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @rounding_divisions
// CHECK-NOT: arith.ceildivsi
// CHECK: arith.divsi
func.func @rounding_divisions(%a: index, %b: index) -> index {
  %r = arith.ceildivsi %a, %b : index
  return %r : index
}
