// RUN: attn-run %s --function=causal --profile --threads=2 --tile-q=16 --tile-kv=16 | FileCheck %s --check-prefix=CAUSAL
// RUN: attn-run %s --function=causal --threads=2 | count 0
// RUN: attn-run %s --function=large --profile --threads=2 | FileCheck %s --check-prefix=LARGE
// RUN: attn-run %s --function=plain --profile --threads=2 | FileCheck %s --check-prefix=PLAIN

// 3 heads x 4 query tiles: 12 items. Of 4 x 4 tiles a head, 4 + 3 + 2 + 1 have a key. A microsecond each: no work for a
// second thread.
// CAUSAL: {{^}}profile: {{[0-9.]+}} ms, of them outside of parallel loops {{[0-9.]+}} ms ({{[0-9.]+}} %)
// CAUSAL-NEXT: profile: loop 1: {{[0-9.]+}} ms ({{[0-9.]+}} %), 12 items, 30 kv tiles
// CAUSAL-NEXT: profile: thread 0: busy {{[0-9.]+}} ms ({{[0-9.]+}} %), 12 items, 30 kv tiles
// CAUSAL-NEXT: profile: kv tiles: 30 of 48 visited, 18 skipped
// CAUSAL-NOT: {{.}}
func.func @causal(%q: tensor<1x3x64x8xf32>, %k: tensor<1x3x64x8xf32>, %v: tensor<1x3x64x8xf32>)
    -> tensor<1x3x64x8xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<1x3x64x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal)
      : tensor<1x3x64x8xf32>, tensor<1x3x64x8xf32>, tensor<1x3x64x8xf32>
        outs(%init : tensor<1x3x64x8xf32>) -> tensor<1x3x64x8xf32>
  return %out : tensor<1x3x64x8xf32>
}

// LARGE: profile: loop 1: {{.*}}, 32 items
// LARGE-NEXT: profile: thread 0: busy {{[0-9.]+}} ms ({{[0-9.]+}} %), {{[0-9]+}} items
// LARGE-NEXT: profile: thread 1: busy {{[0-9.]+}} ms ({{[0-9.]+}} %), {{[0-9]+}} items
// LARGE-NEXT: profile: kv tiles:
func.func @large(%q: tensor<1x8x256x64xf32>, %k: tensor<1x8x256x64xf32>, %v: tensor<1x8x256x64xf32>)
    -> tensor<1x8x256x64xf32> {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : tensor<1x8x256x64xf32>
  %out = attn.attention %q, %k, %v scale(%scale)
      : tensor<1x8x256x64xf32>, tensor<1x8x256x64xf32>, tensor<1x8x256x64xf32>
        outs(%init : tensor<1x8x256x64xf32>) -> tensor<1x8x256x64xf32>
  return %out : tensor<1x8x256x64xf32>
}

// PLAIN: {{^}}profile: {{[0-9.]+}} ms, of them outside of parallel loops {{[0-9.]+}} ms (100.0 %)
// PLAIN-NOT: {{.}}
func.func @plain(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = arith.addf %x, %x : tensor<5xf32>
  return %y : tensor<5xf32>
}
