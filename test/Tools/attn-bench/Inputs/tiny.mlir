func.func @causal(%q: tensor<2x3x?x8xf32>, %k: tensor<2x3x?x8xf32>, %v: tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32> {
  %c2 = arith.constant 2 : index
  %scale = arith.constant 0.5 : f32
  %n = tensor.dim %q, %c2 : tensor<2x3x?x8xf32>
  %init = tensor.empty(%n) : tensor<2x3x?x4xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<top_left>)
      : tensor<2x3x?x8xf32>, tensor<2x3x?x8xf32>, tensor<2x3x?x4xf32>
        outs(%init : tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %out : tensor<2x3x?x4xf32>
}

func.func @padded(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x8xf32>, %n: tensor<2xi32>)
    -> tensor<2x4x1x8xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<2x4x1x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) kv_lengths(%n : tensor<2xi32>)
      : tensor<2x4x1x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>
        outs(%init : tensor<2x4x1x8xf32>) -> tensor<2x4x1x8xf32>
  return %out : tensor<2x4x1x8xf32>
}

