// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise | FileCheck %s
// The example of the pass's description.

// CHECK-LABEL: func @boolean_mask
// CHECK-SAME: (%[[Q:.+]]: tensor<6x7x4xf32>, %[[K:.+]]: tensor<6x9x4xf32>, %[[V:.+]]: tensor<6x9x5xf32>, %[[M:.+]]: tensor<6x7x9xi1>, %[[O:.+]]: tensor<6x7x5xf32>)
// CHECK: %[[SCALE:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[R:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]])
// CHECK-SAME: layout(query(h, i, d), key(h, j, d), value(h, j, e), out(h, i, e)) masks(boolean(%[[M]] : tensor<6x7x9xi1>))
// CHECK-SAME: outs(%[[O]] : tensor<6x7x5xf32>)
// CHECK: return %[[R]]
func.func @boolean_mask(%q: tensor<6x7x4xf32>, %k: tensor<6x9x4xf32>, %v: tensor<6x9x5xf32>, %m: tensor<6x7x9xi1>,
                        %o: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  %r = "tm_tensor.attention"(%q, %k, %v, %m, %o) <{operandSegmentSizes = array<i32: 4, 1>, scale = 0.5 : f64}>
      : (tensor<6x7x4xf32>, tensor<6x9x4xf32>, tensor<6x9x5xf32>, tensor<6x7x9xi1>, tensor<6x7x5xf32>)
      -> tensor<6x7x5xf32>
  return %r : tensor<6x7x5xf32>
}
