// Rows of values that are not neighbours in memory, at a stride that the compiler knows: they are copied for each tile,
// as those of a stride that only the run knows.
// RUN: attn-run %s --check | FileCheck %s
// RUN: attn-opt %s --attn-compile="to=target target=x86-64-v3" -o /dev/null

// CHECK: check: PASS
func.func @main(%query: tensor<3x4x9x8xf32>, %key: tensor<3x2x9x8xf32>, %negated: tensor<27x16xf32>)
    -> tensor<3x4x9x8xf32> {
  %scale = arith.constant 0.3 : f32
  %rows = arith.negf %negated : tensor<27x16xf32>
  %value = tensor.expand_shape %rows [[0, 1], [2, 3]] output_shape [3, 9, 2, 8]
      : tensor<27x16xf32> into tensor<3x9x2x8xf32>
  %empty = tensor.empty() : tensor<3x4x9x8xf32>
  %out = attn.attention %query, %key, %value scale(%scale) layout(value(b, j, h, e))
      : tensor<3x4x9x8xf32>, tensor<3x2x9x8xf32>, tensor<3x9x2x8xf32> outs(%empty : tensor<3x4x9x8xf32>)
      -> tensor<3x4x9x8xf32>
  return %out : tensor<3x4x9x8xf32>
}
