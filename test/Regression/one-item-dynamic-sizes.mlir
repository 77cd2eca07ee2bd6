// A loop of one item is none, and scratch of a size that the run knows lay in front of where it is computed.
// RUN: attn-run %s --check --shape=2:1x1x9x5 | FileCheck %s
// RUN: attn-run %s --check --shape=2:1x1x9x5 --segment-keys=2 --tile-kv=2 | FileCheck %s
// CHECK: PASS result 0
// CHECK-NOT: FAIL
func.func @one_item(%q: tensor<1x1x1x8xf32>, %k: tensor<1x1x9x8xf32>, %v: tensor<1x1x9x?xf32>)
    -> tensor<1x1x1x?xf32> {
  %scale = arith.constant 0.5 : f32
  %c3 = arith.constant 3 : index
  %size = tensor.dim %v, %c3 : tensor<1x1x9x?xf32>
  %init = tensor.empty(%size) : tensor<1x1x1x?xf32>
  %out = attn.attention %q, %k, %v scale(%scale) : tensor<1x1x1x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x?xf32>
      outs(%init : tensor<1x1x1x?xf32>) -> tensor<1x1x1x?xf32>
  return %out : tensor<1x1x1x?xf32>
}
