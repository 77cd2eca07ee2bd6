// Attention in f64: the constants of -inf and the tolerance are those of f64.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!q64 = tensor<2x3x5x4xf64>
!k64 = tensor<2x3x7x4xf64>
!v64 = tensor<2x3x7x8xf64>
!s64 = tensor<2x3x5x7xf64>
!r64 = tensor<2x3x5xf64>
!o64 = tensor<2x3x5x8xf64>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// Everything in f64.
// CHECK-LABEL: @f64
// CHECK: attn.attention
func.func @f64(%q: !q64, %k: !k64, %v: !v64) -> !o64 {
  %scale64 = arith.constant 0.5 : f64
  %c_s0 = arith.constant 0.0 : f64
  %c_m0 = arith.constant 0xFFF0000000000000 : f64
  %c_l0 = arith.constant 0.0 : f64
  %c_out0 = arith.constant 0.0 : f64
  %empty_s64 = tensor.empty() : !s64
  %s0 = linalg.fill ins(%c_s0 : f64) outs(%empty_s64 : !s64) -> !s64
  %s = linalg.generic #qk ins(%q, %k : !q64, !k64) outs(%s0 : !s64) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %xy = arith.mulf %x, %y : f64  %sum = arith.addf %acc, %xy : f64  linalg.yield %sum : f64
  } -> !s64
  %scaled = linalg.generic #each ins(%s : !s64) outs(%empty_s64 : !s64) {
  ^bb0(%x: f64, %o: f64): %y = arith.mulf %x, %scale64 : f64  linalg.yield %y : f64
  } -> !s64
  %empty_r64 = tensor.empty() : !r64
  %m0 = linalg.fill ins(%c_m0 : f64) outs(%empty_r64 : !r64) -> !r64
  %m = linalg.generic #reduce ins(%scaled : !s64) outs(%m0 : !r64) {
  ^bb0(%x: f64, %acc: f64): %y = arith.maximumf %x, %acc : f64  linalg.yield %y : f64
  } -> !r64
  %w = linalg.generic #byRow ins(%scaled, %m : !s64, !r64) outs(%empty_s64 : !s64) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %diff = arith.subf %x, %y : f64  %exp = math.exp %diff : f64  linalg.yield %exp : f64
  } -> !s64
  %l0 = linalg.fill ins(%c_l0 : f64) outs(%empty_r64 : !r64) -> !r64
  %l = linalg.generic #reduce ins(%w : !s64) outs(%l0 : !r64) {
  ^bb0(%x: f64, %acc: f64): %y = arith.addf %x, %acc : f64  linalg.yield %y : f64
  } -> !r64
  %p = linalg.generic #byRow ins(%w, %l : !s64, !r64) outs(%empty_s64 : !s64) {
  ^bb0(%x: f64, %y: f64, %o: f64): %z = arith.divf %x, %y : f64  linalg.yield %z : f64
  } -> !s64
  %empty_o64 = tensor.empty() : !o64
  %out0 = linalg.fill ins(%c_out0 : f64) outs(%empty_o64 : !o64) -> !o64
  %out = linalg.generic #pv ins(%p, %v : !s64, !v64) outs(%out0 : !o64) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %xy = arith.mulf %x, %y : f64  %sum = arith.addf %acc, %xy : f64  linalg.yield %sum : f64
  } -> !o64
  return %out : !o64
}
