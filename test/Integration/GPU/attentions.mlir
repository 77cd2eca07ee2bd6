// Small attentions of every kind, for GPUs. tools/scripts/gpu-check runs each CASE on a device; lit runs the first two
// lengths here, on the emulator.
// RUN: attn-run %s --check --target=emulator:sm_80 --function=causal_bf16 --shape=0:1x4x70x64 --shape=1:1x2x70x64 \
// RUN:   --shape=2:1x2x70x64 | FileCheck %s
// RUN: attn-run %s --check --target=emulator:sm_80 --function=causal_bf16 --shape=0:1x4x1x64 --shape=1:1x2x33x64 \
// RUN:   --shape=2:1x2x33x64 | FileCheck %s
// CHECK: check: PASS result 0
//
// CASE: causal_bf16 --shape=0:1x4x70x64 --shape=1:1x2x70x64 --shape=2:1x2x70x64
// CASE: causal_bf16 --shape=0:1x4x1x64 --shape=1:1x2x33x64 --shape=2:1x2x33x64
// CASE: causal_bf16 --shape=0:2x4x513x64 --shape=1:2x2x1027x64 --shape=2:2x2x1027x64
// CASE: causal_bf16 --shape=0:1x4x0x64 --shape=1:1x2x5x64 --shape=2:1x2x5x64
// CASE: causal_bf16 --shape=0:1x4x5x64 --shape=1:1x2x0x64 --shape=2:1x2x0x64
// CASE: full_f16_128 --shape=0:2x3x129x128 --shape=1:2x3x255x128 --shape=2:2x3x255x128
// CASE: full_f16_128 --shape=0:1x3x1024x128 --shape=1:1x3x1024x128 --shape=2:1x3x1024x128
// CASE: window_softcap_bf16_128 --shape=0:1x2x300x128 --shape=1:1x2x300x128 --shape=2:1x2x300x128
// CASE: lengths_bias_f32_40 --shape=0:2x2x65x40 --shape=1:2x2x77x40 --shape=2:2x2x77x24 --shape=3:2x77 --shape=4:2 --fill=4:list:77:13
// CASE: full_bf16_256 --shape=0:1x2x130x256 --shape=1:1x2x200x256 --shape=2:1x2x200x256

!bf16_64 = tensor<?x4x?x64xbf16>
!kv_bf16_64 = tensor<?x2x?x64xbf16>
!f16_128 = tensor<?x3x?x128xf16>
!bf16_128 = tensor<?x2x?x128xbf16>
!f32_40 = tensor<?x2x?x40xf32>
!f32_24 = tensor<?x2x?x24xf32>
!bf16_256 = tensor<?x2x?x256xbf16>

func.func @causal_bf16(%q: !bf16_64, %k: !kv_bf16_64, %v: !kv_bf16_64) -> !bf16_64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !bf16_64
  %queryLen = tensor.dim %q, %c2 : !bf16_64
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty(%batch, %queryLen) : !bf16_64
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<bottom_right>)
      : !bf16_64, !kv_bf16_64, !kv_bf16_64 outs(%init : !bf16_64) -> !bf16_64
  return %out : !bf16_64
}

func.func @full_f16_128(%q: !f16_128, %k: !f16_128, %v: !f16_128) -> !f16_128 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !f16_128
  %queryLen = tensor.dim %q, %c2 : !f16_128
  %scale = arith.constant 0.09 : f32
  %init = tensor.empty(%batch, %queryLen) : !f16_128
  %out = attn.attention %q, %k, %v scale(%scale) : !f16_128, !f16_128, !f16_128 outs(%init : !f16_128) -> !f16_128
  return %out : !f16_128
}

func.func @window_softcap_bf16_128(%q: !bf16_128, %k: !bf16_128, %v: !bf16_128) -> !bf16_128 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !bf16_128
  %queryLen = tensor.dim %q, %c2 : !bf16_128
  %scale = arith.constant 0.09 : f32
  %init = tensor.empty(%batch, %queryLen) : !bf16_128
  %out = attn.attention %q, %k, %v scale(%scale)
      scores(softcap<5.0>) masks(window<left = 40, right = 3, top_left>)
      : !bf16_128, !bf16_128, !bf16_128 outs(%init : !bf16_128) -> !bf16_128
  return %out : !bf16_128
}

// A table for each head and key in the score region, and lengths.
func.func @lengths_bias_f32_40(%q: !f32_40, %k: !f32_40, %v: !f32_24, %table: tensor<2x?xf32>,
                               %lengths: tensor<?xi32>) -> !f32_24 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !f32_40
  %queryLen = tensor.dim %q, %c2 : !f32_40
  %scale = arith.constant 0.16 : f32
  %init = tensor.empty(%batch, %queryLen) : !f32_24
  %out = attn.attention %q, %k, %v scale(%scale)
      score(%x, %b, %h, %i, %j) {
        %t = tensor.extract %table[%h, %j] : tensor<2x?xf32>
        %y = arith.addf %x, %t : f32
        attn.yield %y : f32
      }
      kv_lengths(%lengths : tensor<?xi32>)
      : !f32_40, !f32_40, !f32_24 outs(%init : !f32_24) -> !f32_24
  return %out : !f32_24
}

func.func @full_bf16_256(%q: !bf16_256, %k: !bf16_256, %v: !bf16_256) -> !bf16_256 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : !bf16_256
  %queryLen = tensor.dim %q, %c2 : !bf16_256
  %scale = arith.constant 0.0625 : f32
  %init = tensor.empty(%batch, %queryLen) : !bf16_256
  %out = attn.attention %q, %k, %v scale(%scale) : !bf16_256, !bf16_256, !bf16_256 outs(%init : !bf16_256) -> !bf16_256
  return %out : !bf16_256
}
