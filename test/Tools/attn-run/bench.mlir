// RUN: attn-run %s --bench --repeat=3 --threads=2 | FileCheck %s
// 5 queries see 3 to 7 of 7 keys: 25 of 35 pairs, times 2 * (8 + 5) operations, 2000 heads.

// CHECK: @window(tensor<1x2000x5x8xf32>, {{.*}}) -> (tensor<1x2000x5x5xf32>)
// CHECK-NEXT: CPU {{.+}}, {{[0-9]+}} vector registers of {{[0-9]+}} bits
// CHECK-NEXT: tiles of {{[0-9]+}} queries x {{[0-9]+}} keys, register blocks of {{[0-9]+}} keys
// CHECK-NEXT: compiled in {{[0-9.]+}} ms (passes {{[0-9.]+}}, {{.*}})
// CHECK-NEXT: bench: 2 threads, {{[0-9]+}} tiles, scratch {{[0-9]+}} bytes, 0 buffers of 0 bytes
// CHECK-NEXT: bench: median {{[0-9.]+}} ms, best {{[0-9.]+}} ms of 3 runs
// CHECK-NEXT: bench: work 0.001 GFLOP kept by the masks, of 0.002
// CHECK-NEXT: bench: speed {{[0-9.]+}} GFLOP/s = {{[0-9.]+}} % of the peak of {{[0-9.]+}} (f32 FMA, {{AVX-512|AVX2|baseline}}, measured on 2 threads)
func.func @window(%q: tensor<1x2000x5x8xf32>, %k: tensor<1x2000x7x8xf32>, %v: tensor<1x2000x7x5xf32>)
    -> tensor<1x2000x5x5xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<1x2000x5x5xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(window<right = 0, bottom_right>)
      : tensor<1x2000x5x8xf32>, tensor<1x2000x7x8xf32>, tensor<1x2000x7x5xf32>
        outs(%init : tensor<1x2000x5x5xf32>) -> tensor<1x2000x5x5xf32>
  return %out : tensor<1x2000x5x5xf32>
}
