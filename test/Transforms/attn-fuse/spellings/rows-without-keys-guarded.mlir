// Spelling 15: rows without a kept key give 0 by a guard. Run with such rows, too.
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
!flags = tensor<2x3x5x7xi1>
!rowFlags = tensor<2x3x5xi1>
!flags2 = tensor<5x7xi1>
!queryFlags = tensor<5xi1>

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
#eachRow = {indexing_maps = [affine_map<(b, h, i) -> (b, h, i)>, affine_map<(b, h, i) -> (b, h, i)>],
            iterator_types = ["parallel", "parallel", "parallel"]}
#rowFirst = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>,
                              affine_map<(b, h, i, j) -> (b, h, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#mask2D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#anyKey = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
           iterator_types = ["parallel", "reduction"]}
#byQuery = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i)>,
                             affine_map<(b, h, i, j) -> (b, h, i, j)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// OPTIONS @maximum_and_sum_replaced: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @maximum_and_sum_replaced: --fill=3:zeros
// OPTIONS @maximum_and_sum_replaced: --fill=3:list:0:0:0:0:0:0:0:1:1
// CHECK-LABEL: @maximum_and_sum_replaced
// CHECK: attn.attention
func.func @maximum_and_sum_replaced(%q: !query, %k: !key, %v: !value, %mask: !flags2) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF800000 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %masked = linalg.generic #mask2D ins(%scaled, %mask : !scores, !flags2) outs(%e : !scores) {
  ^bb0(%x: f32, %m: i1, %o: f32): %y = arith.select %m, %x, %dropped : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m10 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m1 = linalg.generic #reduce ins(%masked : !scores) outs(%m10 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %m = linalg.generic #eachRow ins(%m1 : !rows) outs(%empty_rows : !rows) {
  ^bb0(%x: f32, %o: f32):
    %dead = arith.cmpf oeq, %x, %negInf : f32  %y = arith.select %dead, %zero, %x : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l10 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l1 = linalg.generic #reduce ins(%w : !scores) outs(%l10 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %l = linalg.generic #eachRow ins(%l1 : !rows) outs(%empty_rows : !rows) {
  ^bb0(%x: f32, %o: f32):
    %dead = arith.cmpf oeq, %x, %zero : f32  %y = arith.select %dead, %one, %x : f32  linalg.yield %y : f32
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

// PyTorch's safe softmax: the comparison is in f64, reduced over the keys; scores have a second user.
// OPTIONS @all_scores_minus_infinity: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @all_scores_minus_infinity: --fill=3:zeros
// OPTIONS @all_scores_minus_infinity: --fill=3:list:0:0:0:0:0:0:0:1:1
// CHECK-LABEL: @all_scores_minus_infinity
// CHECK: attn.attention
func.func @all_scores_minus_infinity(%q: !query, %k: !key, %v: !value, %mask: !flags2) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF800000 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %low = arith.constant 0xFFF0000000000000 : f64
  %yes = arith.constant true
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %masked = linalg.generic #mask2D ins(%scaled, %mask : !scores, !flags2) outs(%e : !scores) {
  ^bb0(%x: f32, %m: i1, %o: f32): %y = arith.select %m, %x, %dropped : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_flags = tensor.empty() : !flags
  %isLow = linalg.generic #each ins(%masked : !scores) outs(%empty_flags : !flags) {
  ^bb0(%x: f32, %o: i1):
    %wide = arith.extf %x : f32 to f64  %y = arith.cmpf oeq, %wide, %low : f64  linalg.yield %y : i1
  } -> !flags
  %empty_rowFlags = tensor.empty() : !rowFlags
  %dead0 = linalg.fill ins(%yes : i1) outs(%empty_rowFlags : !rowFlags) -> !rowFlags
  %dead = linalg.generic #reduce ins(%isLow : !flags) outs(%dead0 : !rowFlags) {
  ^bb0(%x: i1, %acc: i1): %y = arith.andi %x, %acc : i1  linalg.yield %y : i1
  } -> !rowFlags
  %p = linalg.generic #rowFirst ins(%dead, %p1 : !rowFlags, !scores) outs(%e : !scores) {
  ^bb0(%n: i1, %x: f32, %o: f32): %y = arith.select %n, %zero, %x : f32  linalg.yield %y : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// The mask itself, reduced over the keys.
// OPTIONS @any_key_kept: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @any_key_kept: --fill=3:zeros
// OPTIONS @any_key_kept: --fill=3:list:0:0:0:0:0:0:0:1:1
// CHECK-LABEL: @any_key_kept
// CHECK: attn.attention
func.func @any_key_kept(%q: !query, %k: !key, %v: !value, %mask: !flags2) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF800000 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %no = arith.constant false
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %masked = linalg.generic #mask2D ins(%scaled, %mask : !scores, !flags2) outs(%e : !scores) {
  ^bb0(%x: f32, %m: i1, %o: f32): %y = arith.select %m, %x, %dropped : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_queryFlags = tensor.empty() : !queryFlags
  %any0 = linalg.fill ins(%no : i1) outs(%empty_queryFlags : !queryFlags) -> !queryFlags
  %any = linalg.generic #anyKey ins(%mask : !flags2) outs(%any0 : !queryFlags) {
  ^bb0(%x: i1, %acc: i1): %y = arith.ori %x, %acc : i1  linalg.yield %y : i1
  } -> !queryFlags
  %p = linalg.generic #byQuery ins(%p1, %any : !scores, !queryFlags) outs(%e : !scores) {
  ^bb0(%x: f32, %n: i1, %o: f32): %y = arith.select %n, %x, %zero : f32  linalg.yield %y : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
