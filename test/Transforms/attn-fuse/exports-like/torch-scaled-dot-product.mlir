// Attention as PyTorch's own decomposition writes it: headDim^-1/4 on query and transposed key as an f64 constant
// that each body truncates, heads folded into the batch, row maximum with its index, rows without keys selected to
// 0 by the scores.
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
!column = tensor<2x3x5x1xf32>
!out = tensor<2x3x5x8xf32>
!flags = tensor<2x3x5x7xi1>
!columnFlags = tensor<2x3x5x1xi1>
!indices = tensor<2x3x5xi64>
!query3 = tensor<6x5x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!out3 = tensor<6x5x8xf32>
!mask2 = tensor<5x7xf32>
!mask4 = tensor<2x1x5x7xf32>
!flags4 = tensor<2x1x5x7xi1>

#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce2 = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                             affine_map<(b, h, i, j) -> (b, h, i)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#reduceKept = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, 0)>],
               iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byColumn = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, 0)>,
                              affine_map<(b, h, i, j) -> (b, h, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#mask2D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#mask4D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, 0, i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#guard = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, 0)>, affine_map<(b, h, i, j) -> (b, h, i, j)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#selectMask4 = {indexing_maps = [affine_map<(b, u, i, j) -> (b, u, i, j)>, affine_map<(b, u, i, j) -> ()>,
                                 affine_map<(b, u, i, j) -> ()>, affine_map<(b, u, i, j) -> (b, u, i, j)>],
                iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// The guard is there even where no row can be without keys.
// CHECK-LABEL: @no_mask
// CHECK: attn.attention
func.func @no_mask(%q: !query, %k: !key, %v: !value) -> !out {
  %root = arith.constant 0.7071067811865476 : f64
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %low = arith.constant 0xFFF0000000000000 : f64
  %yes = arith.constant true
  %none = arith.constant dense<0.0> : !scores
  %empty_query = tensor.empty() : !query
  %qs = linalg.generic #each ins(%q : !query) outs(%empty_query : !query) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !query
  %empty_keyT = tensor.empty() : !keyT
  %kt = linalg.transpose ins(%k : !key) outs(%empty_keyT : !keyT) permutation = [0, 1, 3, 2]
  %ks = linalg.generic #each ins(%kt : !keyT) outs(%empty_keyT : !keyT) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !keyT
  %q3 = tensor.collapse_shape %qs [[0, 1], [2], [3]] : !query into !query3
  %k3 = tensor.collapse_shape %ks [[0, 1], [2], [3]] : !keyT into !keyT3
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s3 = linalg.batch_matmul ins(%q3, %k3 : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : !scores3 into !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %empty_indices = tensor.empty() : !indices
  %n0 = linalg.fill ins(%first : i64) outs(%empty_indices : !indices) -> !indices
  %best:2 = linalg.generic #reduce2 ins(%s : !scores) outs(%m0, %n0 : !rows, !indices) {
  ^bb0(%x: f32, %acc: f32, %at: i64):
    %j = linalg.index 3 : index  %n = arith.index_cast %j : index to i64  %y = arith.maximumf %x, %acc : f32
    %greater = arith.cmpf ogt, %x, %acc : f32  %where = arith.select %greater, %n, %at : i64
    linalg.yield %y, %where : f32, i64
  } -> (!rows, !indices)
  %m = tensor.expand_shape %best#0 [[0], [1], [2, 3]] output_shape [2, 3, 5, 1] : !rows into !column
  %e = tensor.empty() : !scores
  %d = linalg.generic #byColumn ins(%s, %m : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.subf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %w = linalg.generic #each ins(%d : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = math.exp %x : f32  linalg.yield %y : f32
  } -> !scores
  %empty_column = tensor.empty() : !column
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_column : !column) -> !column
  %l = linalg.generic #reduceKept ins(%w : !scores) outs(%l0 : !column) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !column
  %p1 = linalg.generic #byColumn ins(%w, %l : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_flags = tensor.empty() : !flags
  %isLow = linalg.generic #each ins(%s : !scores) outs(%empty_flags : !flags) {
  ^bb0(%x: f32, %o: i1):
    %wide = arith.extf %x : f32 to f64  %y = arith.cmpf oeq, %wide, %low : f64  linalg.yield %y : i1
  } -> !flags
  %empty_columnFlags = tensor.empty() : !columnFlags
  %dead0 = linalg.fill ins(%yes : i1) outs(%empty_columnFlags : !columnFlags) -> !columnFlags
  %dead = linalg.generic #reduceKept ins(%isLow : !flags) outs(%dead0 : !columnFlags) {
  ^bb0(%x: i1, %acc: i1): %y = arith.andi %x, %acc : i1  linalg.yield %y : i1
  } -> !columnFlags
  %p = linalg.generic #guard ins(%dead, %none, %p1 : !columnFlags, !scores, !scores) outs(%e : !scores) {
  ^bb0(%n: i1, %x: f32, %y: f32, %o: f32): %z = arith.select %n, %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : !scores into !scores3
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : !value into !value3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %o3 = linalg.batch_matmul ins(%p3, %v3 : !scores3, !value3) outs(%o0 : !out3) -> !out3
  %out = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 8] : !out3 into !out
  return %out : !out
}

// Run with rows without keys, too.
// OPTIONS @boolean_mask: --fill=3:list:1:0:1:1:0:1:0:1:1:0:1
// OPTIONS @boolean_mask: --fill=3:zeros
// CHECK-LABEL: @boolean_mask
// CHECK: attn.attention
func.func @boolean_mask(%q: !query, %k: !key, %v: !value, %mask: !flags4) -> !out {
  %root = arith.constant 0.7071067811865476 : f64
  %zero = arith.constant 0.0 : f32
  %kept = arith.constant dense<0.0> : tensor<f32>
  %dropped = arith.constant dense<0xFF800000> : tensor<f32>
  %negInf = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %low = arith.constant 0xFFF0000000000000 : f64
  %yes = arith.constant true
  %none = arith.constant dense<0.0> : !scores
  %empty_query = tensor.empty() : !query
  %qs = linalg.generic #each ins(%q : !query) outs(%empty_query : !query) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !query
  %empty_keyT = tensor.empty() : !keyT
  %kt = linalg.transpose ins(%k : !key) outs(%empty_keyT : !keyT) permutation = [0, 1, 3, 2]
  %ks = linalg.generic #each ins(%kt : !keyT) outs(%empty_keyT : !keyT) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !keyT
  %q3 = tensor.collapse_shape %qs [[0, 1], [2], [3]] : !query into !query3
  %k3 = tensor.collapse_shape %ks [[0, 1], [2], [3]] : !keyT into !keyT3
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s3 = linalg.batch_matmul ins(%q3, %k3 : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : !scores3 into !scores
  %empty_mask4 = tensor.empty() : !mask4
  %bias = linalg.generic #selectMask4 ins(%mask, %kept, %dropped : !flags4, tensor<f32>, tensor<f32>)
      outs(%empty_mask4 : !mask4) {
  ^bb0(%keep: i1, %y: f32, %n: f32, %o: f32): %r = arith.select %keep, %y, %n : f32  linalg.yield %r : f32
  } -> !mask4
  %e = tensor.empty() : !scores
  %masked = linalg.generic #mask4D ins(%s, %bias : !scores, !mask4) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.addf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %empty_indices = tensor.empty() : !indices
  %n0 = linalg.fill ins(%first : i64) outs(%empty_indices : !indices) -> !indices
  %best:2 = linalg.generic #reduce2 ins(%masked : !scores) outs(%m0, %n0 : !rows, !indices) {
  ^bb0(%x: f32, %acc: f32, %at: i64):
    %j = linalg.index 3 : index  %n = arith.index_cast %j : index to i64  %y = arith.maximumf %x, %acc : f32
    %greater = arith.cmpf ogt, %x, %acc : f32  %where = arith.select %greater, %n, %at : i64
    linalg.yield %y, %where : f32, i64
  } -> (!rows, !indices)
  %m = tensor.expand_shape %best#0 [[0], [1], [2, 3]] output_shape [2, 3, 5, 1] : !rows into !column
  %d = linalg.generic #byColumn ins(%masked, %m : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.subf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %w = linalg.generic #each ins(%d : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = math.exp %x : f32  linalg.yield %y : f32
  } -> !scores
  %empty_column = tensor.empty() : !column
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_column : !column) -> !column
  %l = linalg.generic #reduceKept ins(%w : !scores) outs(%l0 : !column) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !column
  %p1 = linalg.generic #byColumn ins(%w, %l : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_flags = tensor.empty() : !flags
  %isLow = linalg.generic #each ins(%masked : !scores) outs(%empty_flags : !flags) {
  ^bb0(%x: f32, %o: i1):
    %wide = arith.extf %x : f32 to f64  %y = arith.cmpf oeq, %wide, %low : f64  linalg.yield %y : i1
  } -> !flags
  %empty_columnFlags = tensor.empty() : !columnFlags
  %dead0 = linalg.fill ins(%yes : i1) outs(%empty_columnFlags : !columnFlags) -> !columnFlags
  %dead = linalg.generic #reduceKept ins(%isLow : !flags) outs(%dead0 : !columnFlags) {
  ^bb0(%x: i1, %acc: i1): %y = arith.andi %x, %acc : i1  linalg.yield %y : i1
  } -> !columnFlags
  %p = linalg.generic #guard ins(%dead, %none, %p1 : !columnFlags, !scores, !scores) outs(%e : !scores) {
  ^bb0(%n: i1, %x: f32, %y: f32, %o: f32): %z = arith.select %n, %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : !scores into !scores3
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : !value into !value3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %o3 = linalg.batch_matmul ins(%p3, %v3 : !scores3, !value3) outs(%o0 : !out3) -> !out3
  %out = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 8] : !out3 into !out
  return %out : !out
}

// CHECK-LABEL: @float_mask
// CHECK: attn.attention
func.func @float_mask(%q: !query, %k: !key, %v: !value, %mask: !mask2) -> !out {
  %root = arith.constant 0.7071067811865476 : f64
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %low = arith.constant 0xFFF0000000000000 : f64
  %yes = arith.constant true
  %none = arith.constant dense<0.0> : !scores
  %empty_query = tensor.empty() : !query
  %qs = linalg.generic #each ins(%q : !query) outs(%empty_query : !query) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !query
  %empty_keyT = tensor.empty() : !keyT
  %kt = linalg.transpose ins(%k : !key) outs(%empty_keyT : !keyT) permutation = [0, 1, 3, 2]
  %ks = linalg.generic #each ins(%kt : !keyT) outs(%empty_keyT : !keyT) {
  ^bb0(%x: f32, %o: f32):
    %f = arith.truncf %root : f64 to f32  %y = arith.mulf %x, %f : f32  linalg.yield %y : f32
  } -> !keyT
  %q3 = tensor.collapse_shape %qs [[0, 1], [2], [3]] : !query into !query3
  %k3 = tensor.collapse_shape %ks [[0, 1], [2], [3]] : !keyT into !keyT3
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s3 = linalg.batch_matmul ins(%q3, %k3 : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : !scores3 into !scores
  %e = tensor.empty() : !scores
  %masked = linalg.generic #mask2D ins(%s, %mask : !scores, !mask2) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.addf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %empty_indices = tensor.empty() : !indices
  %n0 = linalg.fill ins(%first : i64) outs(%empty_indices : !indices) -> !indices
  %best:2 = linalg.generic #reduce2 ins(%masked : !scores) outs(%m0, %n0 : !rows, !indices) {
  ^bb0(%x: f32, %acc: f32, %at: i64):
    %j = linalg.index 3 : index  %n = arith.index_cast %j : index to i64  %y = arith.maximumf %x, %acc : f32
    %greater = arith.cmpf ogt, %x, %acc : f32  %where = arith.select %greater, %n, %at : i64
    linalg.yield %y, %where : f32, i64
  } -> (!rows, !indices)
  %m = tensor.expand_shape %best#0 [[0], [1], [2, 3]] output_shape [2, 3, 5, 1] : !rows into !column
  %d = linalg.generic #byColumn ins(%masked, %m : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.subf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %w = linalg.generic #each ins(%d : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = math.exp %x : f32  linalg.yield %y : f32
  } -> !scores
  %empty_column = tensor.empty() : !column
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_column : !column) -> !column
  %l = linalg.generic #reduceKept ins(%w : !scores) outs(%l0 : !column) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !column
  %p1 = linalg.generic #byColumn ins(%w, %l : !scores, !column) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_flags = tensor.empty() : !flags
  %isLow = linalg.generic #each ins(%masked : !scores) outs(%empty_flags : !flags) {
  ^bb0(%x: f32, %o: i1):
    %wide = arith.extf %x : f32 to f64  %y = arith.cmpf oeq, %wide, %low : f64  linalg.yield %y : i1
  } -> !flags
  %empty_columnFlags = tensor.empty() : !columnFlags
  %dead0 = linalg.fill ins(%yes : i1) outs(%empty_columnFlags : !columnFlags) -> !columnFlags
  %dead = linalg.generic #reduceKept ins(%isLow : !flags) outs(%dead0 : !columnFlags) {
  ^bb0(%x: i1, %acc: i1): %y = arith.andi %x, %acc : i1  linalg.yield %y : i1
  } -> !columnFlags
  %p = linalg.generic #guard ins(%dead, %none, %p1 : !columnFlags, !scores, !scores) outs(%e : !scores) {
  ^bb0(%n: i1, %x: f32, %y: f32, %o: f32): %z = arith.select %n, %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : !scores into !scores3
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : !value into !value3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %o3 = linalg.batch_matmul ins(%p3, %v3 : !scores3, !value3) outs(%o0 : !out3) -> !out3
  %out = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 8] : !out3 into !out
  return %out : !out
}
