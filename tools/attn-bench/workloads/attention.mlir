// The functions of attention.json.
!f32_16x2048x64 = tensor<1x16x2048x64xf32>
!f32_8x4096x128 = tensor<1x8x4096x128xf32>
!f32_8x8192x64 = tensor<1x8x8192x64xf32>
!f32_12x512x64 = tensor<8x12x512x64xf32>
!bf16_16x2048x64 = tensor<1x16x2048x64xbf16>
!bf16_8x4096x128 = tensor<1x8x4096x128xbf16>

func.func @full(%q: !f32_16x2048x64, %k: !f32_16x2048x64, %v: !f32_16x2048x64) -> !f32_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) : !f32_16x2048x64, !f32_16x2048x64, !f32_16x2048x64
      outs(%init : !f32_16x2048x64) -> !f32_16x2048x64
  return %out : !f32_16x2048x64
}

func.func @causal(%q: !f32_16x2048x64, %k: !f32_16x2048x64, %v: !f32_16x2048x64) -> !f32_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !f32_16x2048x64, !f32_16x2048x64, !f32_16x2048x64
      outs(%init : !f32_16x2048x64) -> !f32_16x2048x64
  return %out : !f32_16x2048x64
}

func.func @causal_d128(%q: !f32_8x4096x128, %k: !f32_8x4096x128, %v: !f32_8x4096x128) -> !f32_8x4096x128 {
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty() : !f32_8x4096x128
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !f32_8x4096x128, !f32_8x4096x128, !f32_8x4096x128
      outs(%init : !f32_8x4096x128) -> !f32_8x4096x128
  return %out : !f32_8x4096x128
}

// One new query for each of 8 sequences of 4096 keys; 4 query heads share a kv head.
func.func @decode(%q: tensor<8x32x1x128xf32>, %k: tensor<8x8x4096x128xf32>, %v: tensor<8x8x4096x128xf32>)
    -> tensor<8x32x1x128xf32> {
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty() : tensor<8x32x1x128xf32>
  %out = attn.attention %q, %k, %v scale(%scale)
      : tensor<8x32x1x128xf32>, tensor<8x8x4096x128xf32>, tensor<8x8x4096x128xf32>
        outs(%init : tensor<8x32x1x128xf32>) -> tensor<8x32x1x128xf32>
  return %out : tensor<8x32x1x128xf32>
}

func.func @padded(%q: !f32_12x512x64, %k: !f32_12x512x64, %v: !f32_12x512x64, %lengths: tensor<8xi32>)
    -> !f32_12x512x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_12x512x64
  %out = attn.attention %q, %k, %v scale(%scale) kv_lengths(%lengths : tensor<8xi32>)
      : !f32_12x512x64, !f32_12x512x64, !f32_12x512x64 outs(%init : !f32_12x512x64) -> !f32_12x512x64
  return %out : !f32_12x512x64
}

func.func @window(%q: !f32_8x8192x64, %k: !f32_8x8192x64, %v: !f32_8x8192x64) -> !f32_8x8192x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_8x8192x64
  %out = attn.attention %q, %k, %v scale(%scale) masks(window<left = 255, right = 0>)
      : !f32_8x8192x64, !f32_8x8192x64, !f32_8x8192x64 outs(%init : !f32_8x8192x64) -> !f32_8x8192x64
  return %out : !f32_8x8192x64
}

func.func @full_bf16(%q: !bf16_16x2048x64, %k: !bf16_16x2048x64, %v: !bf16_16x2048x64) -> !bf16_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !bf16_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) : !bf16_16x2048x64, !bf16_16x2048x64, !bf16_16x2048x64
      outs(%init : !bf16_16x2048x64) -> !bf16_16x2048x64
  return %out : !bf16_16x2048x64
}

func.func @causal_d128_bf16(%q: !bf16_8x4096x128, %k: !bf16_8x4096x128, %v: !bf16_8x4096x128) -> !bf16_8x4096x128 {
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty() : !bf16_8x4096x128
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal)
      : !bf16_8x4096x128, !bf16_8x4096x128, !bf16_8x4096x128 outs(%init : !bf16_8x4096x128) -> !bf16_8x4096x128
  return %out : !bf16_8x4096x128
}
