// RUN: attn-run %s --remarks --tile-q=16 --tile-kv=16 2>&1 | FileCheck %s
// Nothing is said without being asked.
// RUN: attn-run %s 2>&1 | count 0

// Of the 2 x 4 tiles of 16 x 16, query tile 0 keeps one and tile 1 keeps two.
// CHECK: remarks.mlir:[[# @LINE + 5]]:{{[0-9]+}}: remark: {{.*}}rows i0 to i1 visit keys [-inf, i1 + 1)
// CHECK-SAME: 62.5 % of the 16 x 16 tiles are skipped
func.func @causal(%q: tensor<1x1x32x8xf32>, %k: tensor<1x1x64x8xf32>, %v: tensor<1x1x64x8xf32>) -> tensor<1x1x32x8xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<1x1x32x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal<top_left>)
      : tensor<1x1x32x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
        outs(%init : tensor<1x1x32x8xf32>) -> tensor<1x1x32x8xf32>
  return %out : tensor<1x1x32x8xf32>
}
