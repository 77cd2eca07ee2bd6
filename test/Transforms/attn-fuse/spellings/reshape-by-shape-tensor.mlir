// Spelling 8: tensor.reshape with the sizes in a tensor.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!out = tensor<2x3x5x8xf32>
!query3 = tensor<6x5x4xf32>
!key3 = tensor<6x7x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!rows3 = tensor<6x5xf32>
!out3 = tensor<6x5x8xf32>

#reduceLast3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                iterator_types = ["parallel", "parallel", "reduction"]}
#byRowOf3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>,
                              affine_map<(n, i, j) -> (n, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel"]}
#each3D = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}

// CHECK-LABEL: @tensor_reshape
// CHECK: attn.attention
func.func @tensor_reshape(%q: !query, %k: !key, %v: !value) -> !out {
  %scale = arith.constant 0.5 : f32
  %shape_q = arith.constant dense<[6, 5, 4]> : tensor<3xi64>
  %shape_k = arith.constant dense<[6, 7, 4]> : tensor<3xi64>
  %shape_v = arith.constant dense<[6, 7, 8]> : tensor<3xi64>
  %shape_o = arith.constant dense<[2, 3, 5, 8]> : tensor<4xi64>
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %q3 = tensor.reshape %q(%shape_q) : (!query, tensor<3xi64>) -> !query3
  %k3 = tensor.reshape %k(%shape_k) : (!key, tensor<3xi64>) -> !key3
  %v3 = tensor.reshape %v(%shape_v) : (!value, tensor<3xi64>) -> !value3
  %empty_keyT3 = tensor.empty() : !keyT3
  %kt = linalg.transpose ins(%k3 : !key3) outs(%empty_keyT3 : !keyT3) permutation = [0, 2, 1]
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s = linalg.batch_matmul ins(%q3, %kt : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %scaled = linalg.generic #each3D ins(%s : !scores3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores3
  %empty_rows3 = tensor.empty() : !rows3
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %m = linalg.generic #reduceLast3 ins(%scaled : !scores3) outs(%m0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %w = linalg.generic #byRowOf3 ins(%scaled, %m : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores3
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %l = linalg.generic #reduceLast3 ins(%w : !scores3) outs(%l0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %p = linalg.generic #byRowOf3 ins(%w, %l : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %o3 = linalg.batch_matmul ins(%p, %v3 : !scores3, !value3) outs(%o0 : !out3) -> !out3
  %out = tensor.reshape %o3(%shape_o) : (!out3, tensor<4xi64>) -> !out
  return %out : !out
}
