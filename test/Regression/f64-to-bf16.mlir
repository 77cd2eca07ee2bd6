// RUN: attn-run %s --fill=0:value:1.0039062500009095 --print | FileCheck %s

// 1 + 2^-8 + 2^-40 rounds to 1 + 2^-7 in bf16; through f32, which drops 2^-40, it would be a tie and round to 1.
// CHECK: {{^}}  1 1 1{{$}}
func.func @rounded_once(%x: tensor<3xf64>) -> tensor<3xf64> {
  %one = arith.constant dense<1.0> : tensor<3xf64>
  %unit = arith.constant dense<128.0> : tensor<3xf64>
  %narrow = arith.truncf %x : tensor<3xf64> to tensor<3xbf16>
  %wide = arith.extf %narrow : tensor<3xbf16> to tensor<3xf64>
  %above = arith.subf %wide, %one : tensor<3xf64>
  %units = arith.mulf %above, %unit : tensor<3xf64>
  return %units : tensor<3xf64>
}
