// The functions of variants.json.
!f32_16x2048x64 = tensor<1x16x2048x64xf32>
!f32_8x2048x40 = tensor<1x8x2048x40xf32>
!f32_8x2048x80 = tensor<1x8x2048x80xf32>
!f32_8x2048x96 = tensor<1x8x2048x96xf32>
!f32_8x2048x192 = tensor<1x8x2048x192xf32>
!f32_8x2048x256 = tensor<1x8x2048x256xf32>
!f32_16x2047x64 = tensor<1x16x2047x64xf32>
!f32_16x2049x64 = tensor<1x16x2049x64xf32>
!f16_16x2048x64 = tensor<1x16x2048x64xf16>
!f64_16x2048x64 = tensor<1x16x2048x64xf64>
!f32_2xNx64 = tensor<1x2x?x64xf32>

func.func @softcap(%q: !f32_16x2048x64, %k: !f32_16x2048x64, %v: !f32_16x2048x64) -> !f32_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) scores(softcap<30.0>)
      : !f32_16x2048x64, !f32_16x2048x64, !f32_16x2048x64 outs(%init : !f32_16x2048x64) -> !f32_16x2048x64
  return %out : !f32_16x2048x64
}

func.func @alibi(%q: !f32_16x2048x64, %k: !f32_16x2048x64, %v: !f32_16x2048x64, %slopes: tensor<16xf32>)
    -> !f32_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) scores(alibi(%slopes : tensor<16xf32>)) masks(causal)
      : !f32_16x2048x64, !f32_16x2048x64, !f32_16x2048x64 outs(%init : !f32_16x2048x64) -> !f32_16x2048x64
  return %out : !f32_16x2048x64
}

func.func @bias(%q: !f32_16x2048x64, %k: !f32_16x2048x64, %v: !f32_16x2048x64, %table: tensor<2048x2048xf32>)
    -> !f32_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale) score(%x, %b, %h, %i, %j) {
        %t = tensor.extract %table[%i, %j] : tensor<2048x2048xf32>
        %y = arith.addf %x, %t : f32
        attn.yield %y : f32
      }
      : !f32_16x2048x64, !f32_16x2048x64, !f32_16x2048x64 outs(%init : !f32_16x2048x64) -> !f32_16x2048x64
  return %out : !f32_16x2048x64
}

func.func @d40(%q: !f32_8x2048x40, %k: !f32_8x2048x40, %v: !f32_8x2048x40) -> !f32_8x2048x40 {
  %scale = arith.constant 0.158113883 : f32
  %init = tensor.empty() : !f32_8x2048x40
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_8x2048x40, !f32_8x2048x40, !f32_8x2048x40 outs(%init : !f32_8x2048x40) -> !f32_8x2048x40
  return %out : !f32_8x2048x40
}

func.func @d80(%q: !f32_8x2048x80, %k: !f32_8x2048x80, %v: !f32_8x2048x80) -> !f32_8x2048x80 {
  %scale = arith.constant 0.1118033989 : f32
  %init = tensor.empty() : !f32_8x2048x80
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_8x2048x80, !f32_8x2048x80, !f32_8x2048x80 outs(%init : !f32_8x2048x80) -> !f32_8x2048x80
  return %out : !f32_8x2048x80
}

func.func @d96(%q: !f32_8x2048x96, %k: !f32_8x2048x96, %v: !f32_8x2048x96) -> !f32_8x2048x96 {
  %scale = arith.constant 0.1020620726 : f32
  %init = tensor.empty() : !f32_8x2048x96
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_8x2048x96, !f32_8x2048x96, !f32_8x2048x96 outs(%init : !f32_8x2048x96) -> !f32_8x2048x96
  return %out : !f32_8x2048x96
}

func.func @d192(%q: !f32_8x2048x192, %k: !f32_8x2048x192, %v: !f32_8x2048x192) -> !f32_8x2048x192 {
  %scale = arith.constant 0.0721687836 : f32
  %init = tensor.empty() : !f32_8x2048x192
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_8x2048x192, !f32_8x2048x192, !f32_8x2048x192 outs(%init : !f32_8x2048x192) -> !f32_8x2048x192
  return %out : !f32_8x2048x192
}

func.func @d256(%q: !f32_8x2048x256, %k: !f32_8x2048x256, %v: !f32_8x2048x256) -> !f32_8x2048x256 {
  %scale = arith.constant 0.0625 : f32
  %init = tensor.empty() : !f32_8x2048x256
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_8x2048x256, !f32_8x2048x256, !f32_8x2048x256 outs(%init : !f32_8x2048x256) -> !f32_8x2048x256
  return %out : !f32_8x2048x256
}

// Queries and keys one off every tile's multiple.
func.func @off_by_one(%q: !f32_16x2047x64, %k: !f32_16x2049x64, %v: !f32_16x2049x64) -> !f32_16x2047x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f32_16x2047x64
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f32_16x2047x64, !f32_16x2049x64, !f32_16x2049x64 outs(%init : !f32_16x2047x64) -> !f32_16x2047x64
  return %out : !f32_16x2047x64
}

func.func @full_f16(%q: !f16_16x2048x64, %k: !f16_16x2048x64, %v: !f16_16x2048x64) -> !f16_16x2048x64 {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !f16_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale)
      : !f16_16x2048x64, !f16_16x2048x64, !f16_16x2048x64 outs(%init : !f16_16x2048x64) -> !f16_16x2048x64
  return %out : !f16_16x2048x64
}

func.func @full_f64(%q: !f64_16x2048x64, %k: !f64_16x2048x64, %v: !f64_16x2048x64) -> !f64_16x2048x64 {
  %scale = arith.constant 0.125 : f64
  %init = tensor.empty() : !f64_16x2048x64
  %out = attn.attention %q, %k, %v scale(%scale : f64)
      : !f64_16x2048x64, !f64_16x2048x64, !f64_16x2048x64 outs(%init : !f64_16x2048x64) -> !f64_16x2048x64
  return %out : !f64_16x2048x64
}

// Any length: the cost of a causal mask from 1k to 32k positions.
func.func @causal_of_any_length(%q: !f32_2xNx64, %k: !f32_2xNx64, %v: !f32_2xNx64) -> !f32_2xNx64 {
  %c2 = arith.constant 2 : index
  %scale = arith.constant 0.125 : f32
  %length = tensor.dim %q, %c2 : !f32_2xNx64
  %init = tensor.empty(%length) : !f32_2xNx64
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<top_left>)
      : !f32_2xNx64, !f32_2xNx64, !f32_2xNx64 outs(%init : !f32_2xNx64) -> !f32_2xNx64
  return %out : !f32_2xNx64
}
