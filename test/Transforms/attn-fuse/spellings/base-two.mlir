// Spelling 10: powers of two; log2(e) is multiplied to the difference, to both, to the scores, within the scale, or
// not at all.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>

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

// CHECK-LABEL: @difference_times_log2e
// CHECK: attn.attention
func.func @difference_times_log2e(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.4426950408889634 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
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
    %d = arith.subf %x, %y : f32  %t = arith.mulf %d, %log2e : f32  %w = math.exp2 %t : f32  linalg.yield %w : f32
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

// CHECK-LABEL: @both_times_log2e
// CHECK: attn.attention
func.func @both_times_log2e(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %log2e = arith.constant 1.4426950408889634 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
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
    %xt = arith.mulf %x, %log2e : f32  %yt = arith.mulf %y, %log2e : f32  %d = arith.subf %xt, %yt : f32
    %w = math.exp2 %d : f32  linalg.yield %w : f32
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

// CHECK-LABEL: @scores_times_log2e
// CHECK: attn.attention
func.func @scores_times_log2e(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %log2e = arith.constant 1.4426950408889634 : f32
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
  %t = linalg.generic #each ins(%scaled : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %log2e, %x : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%t : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%t, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp2 %d : f32  linalg.yield %w : f32
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

// 0.5 * log2(e) is one constant: softmax in base 2 of scores scaled by it.
// CHECK-LABEL: @base_two_within_scale
// CHECK: attn.attention
func.func @base_two_within_scale(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.7213475204444817 : f32
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
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp2 %d : f32  linalg.yield %w : f32
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

// exp2 of the scores as they are: a softmax whose scale has a factor ln 2.
// CHECK-LABEL: @base_two_of_scores
// CHECK: attn.attention
func.func @base_two_of_scores(%q: !query, %k: !key, %v: !value) -> !out {
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
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp2 %d : f32  linalg.yield %w : f32
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
