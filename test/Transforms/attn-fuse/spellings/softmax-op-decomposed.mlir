// What upstream makes of linalg.softmax: the maximum is arith.maxnumf's, and starts from NaN.
// RUN: attn-opt %s --transform-preload-library="transform-library-paths=%S/../Inputs/decompose-softmax.mlir" \
// RUN:   --transform-interpreter -o %t.mlir
// RUN: FileCheck %s --check-prefix=DECOMPOSED --input-file=%t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir

!query = tensor<3x5x4xf32>
!key = tensor<3x7x4xf32>
!value = tensor<3x7x8xf32>
!scores = tensor<3x5x7xf32>
!out = tensor<3x5x8xf32>

// DECOMPOSED: arith.constant 0xFFC00000 : f32
// DECOMPOSED: arith.maxnumf
// CHECK-LABEL: @decomposed
// CHECK: attn.attention
func.func @decomposed(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.batch_matmul
      indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                       affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : !query, !key) outs(%s0 : !scores) -> !scores
  %p = linalg.softmax dimension(2) ins(%s : !scores) outs(%e : !scores) -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.batch_matmul ins(%p, %v : !scores, !value) outs(%o0 : !out) -> !out
  return %out : !out
}
