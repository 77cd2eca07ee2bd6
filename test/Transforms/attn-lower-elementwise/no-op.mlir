// RUN: attn-opt %s --attn-lower-elementwise | FileCheck %s

// Scalars, and constants of tensors, stay.
// CHECK-LABEL: func @scalars(
// CHECK: arith.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK: arith.addf %{{.+}}, %{{.+}} : f32
// CHECK: math.exp %{{.+}} : f32
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @scalars(%x: f32, %y: f32) -> (f32, tensor<2xf32>) {
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %sum = arith.addf %x, %y : f32
  %r = math.exp %sum : f32
  return %r, %one : f32, tensor<2xf32>
}
