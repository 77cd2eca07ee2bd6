// RUN: attn-run %s --check | FileCheck %s

// Keys and values that the function computes itself, [position, head, size]: the type tells that their rows are not
// neighbours, and the copy of a tile must not be read with the strides of that type.
// CHECK: check: PASS
func.func @computed(%x: tensor<1x67x3x16xf32>, %y: tensor<1x67x3x16xf32>) -> tensor<1x67x3x16xf32> {
  %scale = arith.constant 0.25 : f32
  %k = arith.addf %x, %y : tensor<1x67x3x16xf32>
  %v = arith.mulf %x, %y : tensor<1x67x3x16xf32>
  %init = tensor.empty() : tensor<1x67x3x16xf32>
  %out = attn.attention %x, %k, %v scale(%scale)
      layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e))
      : tensor<1x67x3x16xf32>, tensor<1x67x3x16xf32>, tensor<1x67x3x16xf32>
        outs(%init : tensor<1x67x3x16xf32>) -> tensor<1x67x3x16xf32>
  return %out : tensor<1x67x3x16xf32>
}
