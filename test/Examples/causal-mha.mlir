// RUN: attn-run %s --check

// Causal multi-head attention: 1 batch, 8 heads, 1024 positions, head size 64.
func.func @causal_mha(%query: tensor<1x8x1024x64xf32>, %key: tensor<1x8x1024x64xf32>, %value: tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32> {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : tensor<1x8x1024x64xf32>
  %out = attn.attention %query, %key, %value scale(%scale) masks(causal<top_left>)
      : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
        outs(%init : tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32>
  return %out : tensor<1x8x1024x64xf32>
}
