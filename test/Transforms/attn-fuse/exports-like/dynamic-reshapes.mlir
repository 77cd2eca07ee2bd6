// Reshapes whose sizes are computed, and casts, as exporters of dynamic shapes write them.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!dQ = tensor<?x3x?x4xf32>
!dK = tensor<?x3x?x4xf32>
!dV = tensor<?x3x?x8xf32>
!dO = tensor<?x3x?x8xf32>
!fQ = tensor<?x?x4xf32>
!fKT = tensor<?x4x?xf32>
!fV = tensor<?x?x8xf32>
!fS = tensor<?x?x?xf32>
!fR = tensor<?x?xf32>
!fO = tensor<?x?x8xf32>
!dKT = tensor<?x3x4x?xf32>
!anyScores = tensor<?x3x?x?xf32>

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
#reduceLast3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                iterator_types = ["parallel", "parallel", "reduction"]}
#byRowOf3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>,
                              affine_map<(n, i, j) -> (n, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel"]}
#each3D = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}

// OPTIONS @heads_folded_by_computed_shapes: --shape=0:2x3x5x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8 --out-shape=0:2x3x5x8
// OPTIONS @heads_folded_by_computed_shapes: --shape=0:1x3x1x4 --shape=1:1x3x7x4 --shape=2:1x3x7x8 --out-shape=0:1x3x1x8
// CHECK-LABEL: @heads_folded_by_computed_shapes
// CHECK: attn.attention
func.func @heads_folded_by_computed_shapes(%q: !dQ, %k: !dK, %v: !dV) -> !dO {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %heads = arith.constant 3 : index
  %heads64 = arith.constant 3 : i64
  %size64 = arith.constant 4 : i64
  %value64 = arith.constant 8 : i64
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : !dQ
  %queries = tensor.dim %q, %c2 : !dQ
  %keys = tensor.dim %k, %c2 : !dK
  %all = arith.muli %batch, %heads : index
  %batch64 = arith.index_cast %batch : index to i64
  %queries64 = arith.index_cast %queries : index to i64
  %keys64 = arith.index_cast %keys : index to i64
  %all64 = arith.index_cast %all : index to i64
  %ekt = tensor.empty(%batch, %keys) : !dKT
  %kt = linalg.transpose ins(%k : !dK) outs(%ekt : !dKT) permutation = [0, 1, 3, 2]
  %q3s = tensor.from_elements %all64, %queries64, %size64 : tensor<3xi64>
  %q3 = tensor.reshape %q(%q3s) : (!dQ, tensor<3xi64>) -> !fQ
  %k3s = tensor.from_elements %all64, %size64, %keys64 : tensor<3xi64>
  %k3 = tensor.reshape %kt(%k3s) : (!dKT, tensor<3xi64>) -> !fKT
  %v3s = tensor.from_elements %all64, %keys64, %value64 : tensor<3xi64>
  %v3 = tensor.reshape %v(%v3s) : (!dV, tensor<3xi64>) -> !fV
  %e = tensor.empty(%all, %queries, %keys) : !fS
  %er = tensor.empty(%all, %queries) : !fR
  %eo = tensor.empty(%all, %queries) : !fO
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !fS) -> !fS
  %s = linalg.batch_matmul ins(%q3, %k3 : !fQ, !fKT) outs(%s0 : !fS) -> !fS
  %scaled = linalg.generic #each3D ins(%s : !fS) outs(%e : !fS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !fS
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !fR) -> !fR
  %m = linalg.generic #reduceLast3 ins(%scaled : !fS) outs(%m0 : !fR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !fR
  %w = linalg.generic #byRowOf3 ins(%scaled, %m : !fS, !fR) outs(%e : !fS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !fS
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !fR) -> !fR
  %l = linalg.generic #reduceLast3 ins(%w : !fS) outs(%l0 : !fR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !fR
  %p = linalg.generic #byRowOf3 ins(%w, %l : !fS, !fR) outs(%e : !fS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !fS
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !fO) -> !fO
  %o3 = linalg.batch_matmul ins(%p, %v3 : !fS, !fV) outs(%o0 : !fO) -> !fO
  %outs = tensor.from_elements %batch64, %heads64, %queries64, %value64 : tensor<4xi64>
  %out = tensor.reshape %o3(%outs) : (!fO, tensor<4xi64>) -> !dO
  return %out : !dO
}

// Static sizes, but the scores and the weights pass through casts that forget and find them.
// CHECK-LABEL: @casts_between_the_pieces
// CHECK: attn.attention
func.func @casts_between_the_pieces(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %any = tensor.cast %scaled : !scores to !anyScores
  %known = tensor.cast %any : !anyScores to !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%known : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%known, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p1 = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %anyP = tensor.cast %p1 : !scores to !anyScores
  %p = tensor.cast %anyP : !anyScores to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
