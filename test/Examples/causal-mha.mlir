// RUN: attn-run %s --check

// Causal multi-head attention: 1 batch, 8 heads, 1024 positions, head size 64.
!heads = tensor<1x8x1024x64xf32>

func.func @causal_mha(%query: !heads, %key: !heads, %value: !heads) -> !heads {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !heads
  %out = attn.attention %query, %key, %value scale(%scale) masks(causal)
      : !heads, !heads, !heads outs(%init : !heads) -> !heads
  return %out : !heads
}
