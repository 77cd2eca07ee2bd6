// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// Attention without fusion: scores, mask, softmax, values; attn.attention itself is left alone.
// CHECK-LABEL: func @unfused_attention(
// CHECK-NOT: attn.{{matmul|mask|softmax}}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-NOT: attn.{{matmul|mask|softmax}}
// CHECK: attn.attention
func.func @unfused_attention(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x6xf32>,
                             %x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x6xf32>, %s: f32)
    -> (tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>) {
  %0 = attn.matmul %q, %k transpose_rhs : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>
      outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %1 = attn.mask %0 where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %2 = attn.softmax %1 axis(3) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %3 = attn.matmul %2, %v : tensor<2x4x5x7xf32>, tensor<2x4x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %4 = attn.attention %q, %k, %v scale(%s) : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>, tensor<2x4x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %3, %4 : tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>
}
