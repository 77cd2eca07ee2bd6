// A function without attention has times and no speed; one without floats, too.
// RUN: attn-run %s --function=product --bench --repeat=3 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: bench: {{[0-9]+}} threads
// PRODUCT-NEXT: bench: median {{[0-9.]+}} ms, best {{[0-9.]+}} ms of 3 runs
// PRODUCT-NEXT: bench: no GFLOP/s: the function has no attention
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

// Attention that fusion makes is described and counted: 5 x 7 scores a batch entry, times 2 * (4 + 4) operations, 30000 entries: 16.8 million.
// RUN: attn-run %s --function=unfused --bench --repeat=3 | FileCheck %s --check-prefix=FUSED
// FUSED: tiles of {{[0-9]+}} queries x {{[0-9]+}} keys
// FUSED: bench: work 0.017 GFLOP kept by the masks, of 0.017
// RUN: attn-run %s --function=unfused --fuse=false --bench --repeat=3 | FileCheck %s --check-prefix=PRODUCT --implicit-check-not='tiles of'
func.func @unfused(%q: tensor<30000x5x4xf32>, %k: tensor<30000x7x4xf32>) -> tensor<30000x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<30000x4x7xf32>
  %t = linalg.transpose ins(%k : tensor<30000x7x4xf32>) outs(%te : tensor<30000x4x7xf32>) permutation = [0, 2, 1]
  %se = tensor.empty() : tensor<30000x5x7xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<30000x5x7xf32>) -> tensor<30000x5x7xf32>
  %s = linalg.batch_matmul ins(%q, %t : tensor<30000x5x4xf32>, tensor<30000x4x7xf32>) outs(%sz : tensor<30000x5x7xf32>)
      -> tensor<30000x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<30000x5x7xf32>) outs(%se : tensor<30000x5x7xf32>)
      -> tensor<30000x5x7xf32>
  %oe = tensor.empty() : tensor<30000x5x4xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<30000x5x4xf32>) -> tensor<30000x5x4xf32>
  %o = linalg.batch_matmul ins(%p, %k : tensor<30000x5x7xf32>, tensor<30000x7x4xf32>) outs(%oz : tensor<30000x5x4xf32>)
      -> tensor<30000x5x4xf32>
  return %o : tensor<30000x5x4xf32>
}
