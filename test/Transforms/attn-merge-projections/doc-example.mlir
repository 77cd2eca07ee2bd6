// RUN: attn-opt %s --attn-merge-projections=target=x86-64-v3 | FileCheck %s
// RUN: attn-opt %s --attn-merge-projections=target=x86-64-v3 --remarks-filter=attn --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Constants: side by side, row by row. What adds a bias reads a slice.
// REMARK: doc-example.mlir:23:8: remark: {{.*}}2 products of 3 x 2 x (2 + 1) (m, k, n) become one: saves about 0.02 us, costs 0.00 us

// CHECK-LABEL: @projections
// CHECK-SAME: %[[X:[^:]+]]: tensor<3x2xf32>, %[[BIAS:[^:]+]]: tensor<3x2xf32>
// CHECK: %[[W:.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 5.000000e+00], [3.000000e+00, 4.000000e+00, 6.000000e+00]]> : tensor<2x3xf32>
// CHECK: %[[INIT:.+]] = linalg.fill {{.*}} -> tensor<3x3xf32>
// CHECK: %[[QK:.+]] = linalg.matmul ins(%[[X]], %[[W]] : tensor<3x2xf32>, tensor<2x3xf32>) outs(%[[INIT]] : tensor<3x3xf32>)
// CHECK-DAG: %[[Q:.+]] = tensor.extract_slice %[[QK]][0, 0] [3, 2] [1, 1] : tensor<3x3xf32> to tensor<3x2xf32>
// CHECK-DAG: %[[K:.+]] = tensor.extract_slice %[[QK]][0, 2] [3, 1] [1, 1] : tensor<3x3xf32> to tensor<3x1xf32>
// CHECK-NOT: linalg.matmul
// CHECK: linalg.add ins(%[[Q]], %[[BIAS]] :
// CHECK: linalg.exp ins(%[[K]] :
func.func @projections(%x: tensor<3x2xf32>, %bias: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %wk = arith.constant dense<[[5.0], [6.0]]> : tensor<2x1xf32>
  %e1 = tensor.empty() : tensor<3x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<3x2xf32>, tensor<2x2xf32>) outs(%i1 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %e2 = tensor.empty() : tensor<3x1xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x1xf32>) -> tensor<3x1xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<3x2xf32>, tensor<2x1xf32>) outs(%i2 : tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = linalg.add ins(%q, %bias : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e1 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %z = linalg.exp ins(%k : tensor<3x1xf32>) outs(%e2 : tensor<3x1xf32>) -> tensor<3x1xf32>
  return %y, %z : tensor<3x2xf32>, tensor<3x1xf32>
}
