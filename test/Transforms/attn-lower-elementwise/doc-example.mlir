// RUN: attn-opt %s --attn-lower-elementwise | FileCheck %s

// The example of the pass's description; a fold would make a constant of an open size.
// CHECK-LABEL: func @of_itself(
// CHECK-SAME: %[[X:[^:]+]]: tensor<3x?xi1>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[X]] : tensor<3x?xi1>, tensor<3x?xi1>)
// CHECK: arith.xori %{{.+}}, %{{.+}} : i1
// CHECK-NOT: dense
// CHECK: return
func.func @of_itself(%x: tensor<3x?xi1>) -> tensor<3x?xi1> {
  %r = arith.xori %x, %x : tensor<3x?xi1>
  return %r : tensor<3x?xi1>
}
