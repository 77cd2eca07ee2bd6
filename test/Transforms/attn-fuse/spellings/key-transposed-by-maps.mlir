// Spelling 6: the key is transposed for the product, by an op or by the product's own indexing maps.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!keyT = tensor<2x3x4x7xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!scoresT = tensor<2x3x7x5xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#qkt = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, d, j)>,
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
#qkAnyOrder = {indexing_maps = [affine_map<(d, j, b, i, h) -> (b, h, i, d)>,
                                affine_map<(d, j, b, i, h) -> (b, h, j, d)>,
                                affine_map<(d, j, b, i, h) -> (b, h, i, j)>],
               iterator_types = ["reduction", "parallel", "parallel", "parallel", "parallel"]}
#qkTransposedScores = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>,
                                        affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                                        affine_map<(b, h, i, j, d) -> (b, h, j, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

// CHECK-LABEL: @key_stored_transposed
// CHECK: attn.attention
func.func @key_stored_transposed(%q: !query, %k: !keyT, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qkt ins(%q, %k : !query, !keyT) outs(%s0 : !scores) {
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

// CHECK-LABEL: @transposed_twice
// CHECK: attn.attention
func.func @transposed_twice(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_keyT = tensor.empty() : !keyT
  %kt = linalg.transpose ins(%k : !key) outs(%empty_keyT : !keyT) permutation = [0, 1, 3, 2]
  %empty_key = tensor.empty() : !key
  %kk = linalg.transpose ins(%kt : !keyT) outs(%empty_key : !key) permutation = [0, 1, 3, 2]
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %kk : !query, !key) outs(%s0 : !scores) {
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

// The order of the loops says nothing: only the maps do.
// CHECK-LABEL: @loops_in_any_order
// CHECK: attn.attention
func.func @loops_in_any_order(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qkAnyOrder ins(%q, %k : !query, !key) outs(%s0 : !scores) {
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

// CHECK-LABEL: @product_of_transposed_scores
// CHECK: attn.attention
func.func @product_of_transposed_scores(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scoresT = tensor.empty() : !scoresT
  %st0 = linalg.fill ins(%zero : f32) outs(%empty_scoresT : !scoresT) -> !scoresT
  %st = linalg.generic #qkTransposedScores ins(%q, %k : !query, !key) outs(%st0 : !scoresT) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scoresT
  %e = tensor.empty() : !scores
  %s = linalg.transpose ins(%st : !scoresT) outs(%e : !scores) permutation = [0, 1, 3, 2]
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
