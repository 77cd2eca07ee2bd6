// A function without attention has times and no speed; one without floats, too.
// RUN: attn-run %s --function=product --bench --repeat=3 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: bench: {{[0-9]+}} threads
// PRODUCT-NEXT: bench: median {{[0-9.]+}} ms, best {{[0-9.]+}} ms of 3 runs
// PRODUCT-NEXT: bench: no GFLOP/s: the function has no attn.attention
// PRODUCT-NOT: bench
// RUN: attn-run %s --function=integers --fill=0:range:0:9 --bench --repeat=3 | FileCheck %s --check-prefix=PRODUCT
func.func @product(%x: tensor<3x5xf32>, %w: tensor<5x4xf32>, %init: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %out = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x4xf32>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %out : tensor<3x4xf32>
}

func.func @integers(%x: tensor<0x5xi32>) -> tensor<0x5xi32> {
  %out = arith.addi %x, %x : tensor<0x5xi32>
  return %out : tensor<0x5xi32>
}
