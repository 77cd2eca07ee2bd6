// The maximum starts from NaN, and may have nothing to join it.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<3x5x4xf32>
!key = tensor<3x?x4xf32>
!value = tensor<3x?x8xf32>
!scores = tensor<3x5x?xf32>
!rows = tensor<3x5xf32>
!out = tensor<3x5x8xf32>

#qk = {indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                        affine_map<(h, i, j, d) -> (h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>,
                        affine_map<(h, i, e, j) -> (h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                           affine_map<(h, i, j) -> (h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}

// OPTIONS @maximum_of_dynamic_length: --shape=1:3x7x4 --shape=2:3x7x8
// OPTIONS @maximum_of_dynamic_length: --shape=1:3x0x4 --shape=2:3x0x8
// CHECK-LABEL: @maximum_of_dynamic_length
// CHECK: attn.attention
func.func @maximum_of_dynamic_length(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : !key
  %e = tensor.empty(%n) : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %nan = arith.constant 0xFFC00000 : f32
  %m0 = linalg.fill ins(%nan : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maxnumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
