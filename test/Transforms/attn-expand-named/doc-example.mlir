// RUN: attn-opt %s --attn-expand-named | FileCheck %s

// The example of the pass's description.
// CHECK-LABEL: func @doc_example(
// CHECK-NOT: masks(
// CHECK: attn.attention %{{.+}} scale(%{{.+}}) where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[KEEP:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
// CHECK-NEXT: } : tensor<2x4x5x8xf32>
func.func @doc_example(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                       %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal<top_left>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}
