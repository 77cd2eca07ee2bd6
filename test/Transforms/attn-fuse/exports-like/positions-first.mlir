// nn.MultiheadAttention runs positions first: (position, batch * heads, headDim) views of (position, batch,
// hidden).
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query3 = tensor<6x5x4xf32>
!key3 = tensor<6x7x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!rows3 = tensor<6x5xf32>
!out3 = tensor<6x5x8xf32>
!seq = tensor<5x2x12xf32>
!seqK = tensor<7x2x12xf32>
!seqV = tensor<7x2x24xf32>
!seqQ3 = tensor<5x6x4xf32>
!seqK3 = tensor<7x6x4xf32>
!seqV3 = tensor<7x6x8xf32>
!seqO = tensor<5x2x24xf32>
!seqO3 = tensor<5x6x8xf32>
!outT3 = tensor<6x8x5xf32>

#reduceLast3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                iterator_types = ["parallel", "parallel", "reduction"]}
#byRowOf3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>,
                              affine_map<(n, i, j) -> (n, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel"]}
#each3D = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}
#vxp = {indexing_maps = [affine_map<(n, e, i, j) -> (n, j, e)>, affine_map<(n, e, i, j) -> (n, i, j)>,
                         affine_map<(n, e, i, j) -> (n, e, i)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}

// CHECK-LABEL: @views_of_positions_first
// CHECK: attn.attention
func.func @views_of_positions_first(%q: !seq, %k: !seqK, %v: !seqV) -> !seqO {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qf = tensor.collapse_shape %q [[0], [1, 2]] : !seq into tensor<5x24xf32>
  %qs = tensor.expand_shape %qf [[0], [1, 2]] output_shape [5, 6, 4] : tensor<5x24xf32> into !seqQ3
  %empty_query3 = tensor.empty() : !query3
  %q3 = linalg.transpose ins(%qs : !seqQ3) outs(%empty_query3 : !query3) permutation = [1, 0, 2]
  %kf = tensor.collapse_shape %k [[0], [1, 2]] : !seqK into tensor<7x24xf32>
  %ks = tensor.expand_shape %kf [[0], [1, 2]] output_shape [7, 6, 4] : tensor<7x24xf32> into !seqK3
  %empty_key3 = tensor.empty() : !key3
  %k3 = linalg.transpose ins(%ks : !seqK3) outs(%empty_key3 : !key3) permutation = [1, 0, 2]
  %vf = tensor.collapse_shape %v [[0], [1, 2]] : !seqV into tensor<7x48xf32>
  %vs = tensor.expand_shape %vf [[0], [1, 2]] output_shape [7, 6, 8] : tensor<7x48xf32> into !seqV3
  %empty_value3 = tensor.empty() : !value3
  %v3 = linalg.transpose ins(%vs : !seqV3) outs(%empty_value3 : !value3) permutation = [1, 0, 2]
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
  %empty_seqO3 = tensor.empty() : !seqO3
  %os = linalg.transpose ins(%o3 : !out3) outs(%empty_seqO3 : !seqO3) permutation = [1, 0, 2]
  %of = tensor.collapse_shape %os [[0], [1, 2]] : !seqO3 into tensor<5x48xf32>
  %out = tensor.expand_shape %of [[0], [1, 2]] output_shape [5, 2, 24] : tensor<5x48xf32> into !seqO
  return %out : !seqO
}

// JAX and others compute the transposed output, value^T times weights^T.
// CHECK-LABEL: @value_times_weights
// CHECK: attn.attention
func.func @value_times_weights(%q: !seq, %k: !seqK, %v: !seqV) -> !seqO {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qf = tensor.collapse_shape %q [[0], [1, 2]] : !seq into tensor<5x24xf32>
  %qs = tensor.expand_shape %qf [[0], [1, 2]] output_shape [5, 6, 4] : tensor<5x24xf32> into !seqQ3
  %empty_query3 = tensor.empty() : !query3
  %q3 = linalg.transpose ins(%qs : !seqQ3) outs(%empty_query3 : !query3) permutation = [1, 0, 2]
  %kf = tensor.collapse_shape %k [[0], [1, 2]] : !seqK into tensor<7x24xf32>
  %ks = tensor.expand_shape %kf [[0], [1, 2]] output_shape [7, 6, 4] : tensor<7x24xf32> into !seqK3
  %empty_key3 = tensor.empty() : !key3
  %k3 = linalg.transpose ins(%ks : !seqK3) outs(%empty_key3 : !key3) permutation = [1, 0, 2]
  %vf = tensor.collapse_shape %v [[0], [1, 2]] : !seqV into tensor<7x48xf32>
  %vs = tensor.expand_shape %vf [[0], [1, 2]] output_shape [7, 6, 8] : tensor<7x48xf32> into !seqV3
  %empty_value3 = tensor.empty() : !value3
  %v3 = linalg.transpose ins(%vs : !seqV3) outs(%empty_value3 : !value3) permutation = [1, 0, 2]
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
  %empty_outT3 = tensor.empty() : !outT3
  %ot0 = linalg.fill ins(%zero : f32) outs(%empty_outT3 : !outT3) -> !outT3
  %ot = linalg.generic #vxp ins(%v3, %p : !value3, !scores3) outs(%ot0 : !outT3) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !outT3
  %empty_seqO3 = tensor.empty() : !seqO3
  %os = linalg.transpose ins(%ot : !outT3) outs(%empty_seqO3 : !seqO3) permutation = [2, 0, 1]
  %of = tensor.collapse_shape %os [[0], [1, 2]] : !seqO3 into tensor<5x48xf32>
  %out = tensor.expand_shape %of [[0], [1, 2]] output_shape [5, 2, 24] : tensor<5x48xf32> into !seqO
  return %out : !seqO
}
