// The sum leaves keys out, and something else does not.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REASON
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not="= attn.attention"
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

// OPTIONS @sum_of_other_keys: --fill=3:ones --fill=4:ones
// CHECK-LABEL: @sum_of_other_keys
// REASON: not fused: {{.*}}other keys than those that get weights
func.func @sum_of_other_keys(%q: !query, %k: !key, %v: !value, %mask: !flags, %mask2: !flags) -> !out {
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
  %p = linalg.generic #where ins(%p1, %mask2 : !scores, !flags) outs(%e : !scores) {
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

// OPTIONS @weights_of_keys_that_are_not_summed: --fill=3:ones
// CHECK-LABEL: @weights_of_keys_that_are_not_summed
// REASON: not fused: {{.*}}other keys than those that get weights
func.func @weights_of_keys_that_are_not_summed(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
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

// Kept scores far below a dropped one underflow here, and do not in a softmax.
// OPTIONS @maximum_of_all_keys: --fill=3:ones
// CHECK-LABEL: @maximum_of_all_keys
// REASON: not fused: {{.*}}not the maximum of the same scores
func.func @maximum_of_all_keys(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
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
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
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

// OPTIONS @numerators_multiplied: --fill=3:ones
// CHECK-LABEL: @numerators_multiplied
// REASON: not fused: {{.*}}multiplied by a condition
func.func @numerators_multiplied(%q: !query, %k: !key, %v: !value, %mask: !flags) -> !out {
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
    %factor = arith.uitofp %y : i1 to f32  %kept = arith.mulf %x, %factor : f32  linalg.yield %kept : f32
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
