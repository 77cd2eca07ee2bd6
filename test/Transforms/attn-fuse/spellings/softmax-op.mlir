// Spelling 11: softmax is one op already.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!out = tensor<2x3x5x8xf32>
!query3 = tensor<6x5x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!out3 = tensor<6x5x8xf32>
!query2 = tensor<5x4xf32>
!keyT2 = tensor<4x7xf32>
!value2 = tensor<7x8xf32>
!scores2 = tensor<5x7xf32>
!out2 = tensor<5x8xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#each3D = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}
#each2D = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
           iterator_types = ["parallel", "parallel"]}

// CHECK-LABEL: @linalg_softmax_4d
// CHECK: attn.attention
func.func @linalg_softmax_4d(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %p = linalg.softmax dimension(3) ins(%scaled : !scores) outs(%e : !scores) -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// CHECK-LABEL: @linalg_softmax_3d
// CHECK: attn.attention
func.func @linalg_softmax_3d(%q: !query3, %k: !keyT3, %v: !value3) -> !out3 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s = linalg.batch_matmul ins(%q, %k : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %scaled = linalg.generic #each3D ins(%s : !scores3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores3
  %p = linalg.softmax dimension(2) ins(%scaled : !scores3) outs(%empty_scores3 : !scores3) -> !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %out = linalg.batch_matmul ins(%p, %v : !scores3, !value3) outs(%o0 : !out3) -> !out3
  return %out : !out3
}

// CHECK-LABEL: @linalg_softmax_2d
// CHECK: attn.attention
func.func @linalg_softmax_2d(%q: !query2, %k: !keyT2, %v: !value2) -> !out2 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %empty_scores2 = tensor.empty() : !scores2
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores2 : !scores2) -> !scores2
  %s = linalg.matmul ins(%q, %k : !query2, !keyT2) outs(%s0 : !scores2) -> !scores2
  %scaled = linalg.generic #each2D ins(%s : !scores2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores2
  %p = linalg.softmax dimension(1) ins(%scaled : !scores2) outs(%empty_scores2 : !scores2) -> !scores2
  %empty_out2 = tensor.empty() : !out2
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out2 : !out2) -> !out2
  %out = linalg.matmul ins(%p, %v : !scores2, !value2) outs(%o0 : !out2) -> !out2
  return %out : !out2
}

// CHECK-LABEL: @attn_softmax
// CHECK: attn.attention
func.func @attn_softmax(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %p = attn.softmax %scaled axis(3) : !scores outs(%e : !scores) -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
