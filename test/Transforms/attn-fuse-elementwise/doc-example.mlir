// RUN: attn-opt %s --attn-fuse-elementwise | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: @scaled_sum
// CHECK-SAME: %[[X:[^:]+]]: tensor<3x5xf32>, %[[Y:[^:]+]]: tensor<3x5xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[Y]] : tensor<3x5xf32>, tensor<3x5xf32>)
// CHECK: %[[M:.+]] = arith.mulf
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[M]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK-NOT: linalg.generic
func.func @scaled_sum(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %half = arith.constant 0.5 : f32
  %empty = tensor.empty() : tensor<3x5xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %half : f32
    linalg.yield %m : f32
  } -> tensor<3x5xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %y : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  return %sum : tensor<3x5xf32>
}
