// RUN: attn-opt %s --convert-attn-to-linalg --split-input-file | FileCheck %s

// f32: summed into out, from 0.
// CHECK-DAG: #[[LHS:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[RHS:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[OUT:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func @f32(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x?x8xf32>, %[[B:[^:]+]]: tensor<2x8x7xf32>, %[[O:[^:]+]]: tensor<2x?x7xf32>
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[INIT:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[O]] : tensor<2x?x7xf32>)
// CHECK: %[[R:.+]] = linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%[[A]], %[[B]] : {{.*}}) outs(%[[INIT]]
// CHECK-NEXT: ^bb0(%[[L:.+]]: f32, %[[M:.+]]: f32, %[[ACC:.+]]: f32):
// CHECK-NEXT: %[[P:.+]] = arith.mulf %[[L]], %[[M]] : f32
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[ACC]], %[[P]] : f32
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK: return %[[R]]
func.func @f32(%a: tensor<2x?x8xf32>, %b: tensor<2x8x7xf32>, %o: tensor<2x?x7xf32>) -> tensor<2x?x7xf32> {
  %0 = attn.matmul %a, %b : tensor<2x?x8xf32>, tensor<2x8x7xf32> outs(%o : tensor<2x?x7xf32>) -> tensor<2x?x7xf32>
  return %0 : tensor<2x?x7xf32>
}

// -----

// bf16: products and sum in f32, one rounding at the end.
// CHECK-DAG: #[[RHS:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @bf16_transposed(
// CHECK-SAME: %[[O:[^:]+]]: tensor<5x?xbf16>)
// CHECK: %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<5x?xf32>
// CHECK: linalg.fill ins(%{{.+}} : f32) outs(%[[E]] : tensor<5x?xf32>)
// CHECK: %[[SUM:.+]] = linalg.generic {indexing_maps = [#{{.+}}, #[[RHS]], #{{.+}}]
// CHECK-COUNT-2: arith.extf %{{.+}} : bf16 to f32
// CHECK: arith.mulf %{{.+}} : f32
// CHECK-NOT: arith.truncf
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<5x?xf32>) outs(%[[O]] : tensor<5x?xbf16>)
// CHECK: arith.truncf %{{.+}} : f32 to bf16
func.func @bf16_transposed(%a: tensor<5x8xbf16>, %b: tensor<?x8xbf16>, %o: tensor<5x?xbf16>) -> tensor<5x?xbf16> {
  %0 = attn.matmul %a, %b transpose_rhs : tensor<5x8xbf16>, tensor<?x8xbf16>
      outs(%o : tensor<5x?xbf16>) -> tensor<5x?xbf16>
  return %0 : tensor<5x?xbf16>
}

// -----

// f16 in, f32 out: nothing is rounded. f64 stays f64.
// CHECK-LABEL: func @wide_out(
// CHECK-NOT: arith.truncf
// CHECK: arith.mulf %{{.+}} : f32
// CHECK: arith.mulf %{{.+}} : f64
// CHECK-NOT: arith.truncf
func.func @wide_out(%a: tensor<5x0xf16>, %b: tensor<0x7xf16>, %o: tensor<5x7xf32>, %c: tensor<5x8xf64>,
                    %d: tensor<8x7xf64>, %p: tensor<5x7xf64>) -> (tensor<5x7xf32>, tensor<5x7xf64>) {
  %0 = attn.matmul %a, %b : tensor<5x0xf16>, tensor<0x7xf16> outs(%o : tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = attn.matmul %c, %d : tensor<5x8xf64>, tensor<8x7xf64> outs(%p : tensor<5x7xf64>) -> tensor<5x7xf64>
  return %0, %1 : tensor<5x7xf32>, tensor<5x7xf64>
}
