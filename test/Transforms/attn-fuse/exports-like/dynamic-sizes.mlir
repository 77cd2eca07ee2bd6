// Sizes that only the run knows: batch, queryLen, kvLen, headDim.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!dQ = tensor<?x3x?x4xf32>
!dK = tensor<?x3x?x4xf32>
!dV = tensor<?x3x?x8xf32>
!dS = tensor<?x3x?x?xf32>
!dR = tensor<?x3x?xf32>
!dO = tensor<?x3x?x8xf32>
!hQ = tensor<2x3x5x?xf32>
!hK = tensor<2x3x7x?xf32>

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

// OPTIONS @dynamic_batch_and_lengths: --shape=0:2x3x5x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @dynamic_batch_and_lengths: --shape=0:2x3x1x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @dynamic_batch_and_lengths: --shape=0:1x3x5x4 --shape=1:1x3x1x4 --shape=2:1x3x1x8
// OPTIONS @dynamic_batch_and_lengths: --shape=0:4x3x4x4 --shape=1:4x3x4x4 --shape=2:4x3x4x8
// CHECK-LABEL: @dynamic_batch_and_lengths
// CHECK: attn.attention
func.func @dynamic_batch_and_lengths(%q: !dQ, %k: !dK, %v: !dV) -> !dO {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : !dQ
  %queries = tensor.dim %q, %c2 : !dQ
  %keys = tensor.dim %k, %c2 : !dK
  %e = tensor.empty(%batch, %queries, %keys) : !dS
  %er = tensor.empty(%batch, %queries) : !dR
  %eo = tensor.empty(%batch, %queries) : !dO
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !dS) -> !dS
  %s = linalg.generic #qk ins(%q, %k : !dQ, !dK) outs(%s0 : !dS) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dS
  %scaled = linalg.generic #each ins(%s : !dS) outs(%e : !dS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !dS
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !dR) -> !dR
  %m = linalg.generic #reduce ins(%scaled : !dS) outs(%m0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %w = linalg.generic #byRow ins(%scaled, %m : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !dS
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !dR) -> !dR
  %l = linalg.generic #reduce ins(%w : !dS) outs(%l0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %p = linalg.generic #byRow ins(%w, %l : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !dS
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !dO) -> !dO
  %out = linalg.generic #pv ins(%p, %v : !dS, !dV) outs(%o0 : !dO) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dO
  return %out : !dO
}

// OPTIONS @causal_from_start: --shape=0:2x3x5x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @causal_from_start: --shape=0:2x3x1x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @causal_from_start: --shape=0:1x3x5x4 --shape=1:1x3x1x4 --shape=2:1x3x1x8
// OPTIONS @causal_from_start: --shape=0:4x3x4x4 --shape=1:4x3x4x4 --shape=2:4x3x4x8
// CHECK-LABEL: @causal_from_start
// CHECK: attn.attention
func.func @causal_from_start(%q: !dQ, %k: !dK, %v: !dV) -> !dO {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : !dQ
  %queries = tensor.dim %q, %c2 : !dQ
  %keys = tensor.dim %k, %c2 : !dK
  %e = tensor.empty(%batch, %queries, %keys) : !dS
  %er = tensor.empty(%batch, %queries) : !dR
  %eo = tensor.empty(%batch, %queries) : !dO
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !dS) -> !dS
  %s = linalg.generic #qk ins(%q, %k : !dQ, !dK) outs(%s0 : !dS) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dS
  %scaled = linalg.generic #each ins(%s : !dS) outs(%e : !dS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !dS
  %masked = linalg.generic #each ins(%scaled : !dS) outs(%e : !dS) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 2 : index  %j = linalg.index 3 : index  %keep = arith.cmpi sle, %j, %i : index
    %y = arith.select %keep, %x, %negInf : f32  linalg.yield %y : f32
  } -> !dS
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !dR) -> !dR
  %m = linalg.generic #reduce ins(%masked : !dS) outs(%m0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %w = linalg.generic #byRow ins(%masked, %m : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !dS
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !dR) -> !dR
  %l = linalg.generic #reduce ins(%w : !dS) outs(%l0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %p = linalg.generic #byRow ins(%w, %l : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !dS
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !dO) -> !dO
  %out = linalg.generic #pv ins(%p, %v : !dS, !dV) outs(%o0 : !dO) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dO
  return %out : !dO
}

// OPTIONS @causal_from_end: --shape=0:2x3x5x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @causal_from_end: --shape=0:2x3x1x4 --shape=1:2x3x7x4 --shape=2:2x3x7x8
// OPTIONS @causal_from_end: --shape=0:4x3x4x4 --shape=1:4x3x4x4 --shape=2:4x3x4x8
// CHECK-LABEL: @causal_from_end
// CHECK: attn.attention
func.func @causal_from_end(%q: !dQ, %k: !dK, %v: !dV) -> !dO {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : !dQ
  %queries = tensor.dim %q, %c2 : !dQ
  %keys = tensor.dim %k, %c2 : !dK
  %e = tensor.empty(%batch, %queries, %keys) : !dS
  %er = tensor.empty(%batch, %queries) : !dR
  %eo = tensor.empty(%batch, %queries) : !dO
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !dS) -> !dS
  %s = linalg.generic #qk ins(%q, %k : !dQ, !dK) outs(%s0 : !dS) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dS
  %scaled = linalg.generic #each ins(%s : !dS) outs(%e : !dS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !dS
  %offset = arith.subi %keys, %queries : index
  %masked = linalg.generic #each ins(%scaled : !dS) outs(%e : !dS) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 2 : index  %j = linalg.index 3 : index  %last = arith.addi %i, %offset : index
    %keep = arith.cmpi sle, %j, %last : index  %y = arith.select %keep, %x, %negInf : f32  linalg.yield %y : f32
  } -> !dS
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !dR) -> !dR
  %m = linalg.generic #reduce ins(%masked : !dS) outs(%m0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %w = linalg.generic #byRow ins(%masked, %m : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !dS
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !dR) -> !dR
  %l = linalg.generic #reduce ins(%w : !dS) outs(%l0 : !dR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !dR
  %p = linalg.generic #byRow ins(%w, %l : !dS, !dR) outs(%e : !dS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !dS
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !dO) -> !dO
  %out = linalg.generic #pv ins(%p, %v : !dS, !dV) outs(%o0 : !dO) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !dO
  return %out : !dO
}

// 1 / sqrt(headDim), computed.
// OPTIONS @scale_of_dynamic_head_dim: --shape=0:2x3x5x4 --shape=1:2x3x7x4
// OPTIONS @scale_of_dynamic_head_dim: --shape=0:2x3x5x3 --shape=1:2x3x7x3
// CHECK-LABEL: @scale_of_dynamic_head_dim
// CHECK: attn.attention
func.func @scale_of_dynamic_head_dim(%q: !hQ, %k: !hK, %v: !value) -> !out {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %d = tensor.dim %q, %c3 : !hQ
  %int = arith.index_cast %d : index to i64
  %size = arith.sitofp %int : i64 to f32
  %scale = math.rsqrt %size : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !hQ, !hK) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
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
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
