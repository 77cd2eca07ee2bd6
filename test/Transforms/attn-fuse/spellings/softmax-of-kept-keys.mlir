// jax.nn.softmax(x, where=mask): the sum leaves keys out, and so does the maximum.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<3x5x4xf32>
!key = tensor<3x7x4xf32>
!value = tensor<3x7x8xf32>
!scores = tensor<3x5x7xf32>
!rows = tensor<3x5xf32>
!out = tensor<3x5x8xf32>
!flags = tensor<5x7xi1>

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
#where = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (i, j)>,
                           affine_map<(h, i, j) -> (h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}

// The second run has rows without keys: all that is not kept gets 0.
// OPTIONS @where: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @where: --fill=3:list:0:0:0:0:0:0:0:1:1:1:1:1:1:1
// CHECK-LABEL: @where
// CHECK: attn.attention
func.func @where(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %safe = linalg.generic #where ins(%scaled, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %negInf : f32  linalg.yield %kept : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%safe : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%safe, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %wk = linalg.generic #where ins(%w, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %zero : f32  linalg.yield %kept : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%wk : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p1 = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p = linalg.generic #where ins(%p1, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %zero : f32  linalg.yield %kept : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// OPTIONS @where_of_raw_scores: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @where_of_raw_scores: --fill=3:list:0:0:0:0:0:0:0:1:1:1:1:1:1:1
// CHECK-LABEL: @where_of_raw_scores
// CHECK: attn.attention
func.func @where_of_raw_scores(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %safe = linalg.generic #where ins(%scaled, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %negInf : f32  linalg.yield %kept : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%safe : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %wk = linalg.generic #where ins(%w, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %zero : f32  linalg.yield %kept : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%wk : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p1 = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p = linalg.generic #where ins(%p1, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %zero : f32  linalg.yield %kept : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// OPTIONS @numerators_selected: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// CHECK-LABEL: @numerators_selected
// CHECK: attn.attention
func.func @numerators_selected(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %safe = linalg.generic #where ins(%scaled, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %negInf : f32  linalg.yield %kept : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%safe : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %wk = linalg.generic #where ins(%w, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %x, %zero : f32  linalg.yield %kept : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%wk : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%wk, %l : !scores, !rows) outs(%e : !scores) {
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

// OPTIONS @condition_that_drops: --fill=3:list:0:1:0:0:1:0:1:0:0:1:0
// OPTIONS @condition_that_drops: --fill=3:list:1:1:1:1:1:1:1:0:0:0:0:0:0:0
// CHECK-LABEL: @condition_that_drops
// CHECK: attn.attention
func.func @condition_that_drops(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %safe = linalg.generic #where ins(%scaled, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %negInf, %x : f32  linalg.yield %kept : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%safe : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%safe, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %wk = linalg.generic #where ins(%w, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %zero, %x : f32  linalg.yield %kept : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%wk : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p1 = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p = linalg.generic #where ins(%p1, %mask : !scores, !flags) outs(%e : !scores) {
  ^bb0(%x: f32, %y: i1, %o: f32):
    %kept = arith.select %y, %zero, %x : f32  linalg.yield %kept : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
