// Spelling 13: masks of position tensors that are compared into a boolean or additive mask.
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
!mask2 = tensor<5x7xf32>
!flags2 = tensor<5x7xi1>
!positions = tensor<5xi64>
!keyPositions = tensor<7xi64>
!rowsColumn = tensor<5x1xi64>

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
#mask2D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#eachMask = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
             iterator_types = ["parallel", "parallel"]}
#writeQuery = {indexing_maps = [affine_map<(i) -> (i)>],
               iterator_types = ["parallel"]}
#compare = {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}
#compareColumn = {indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (j)>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}

// CHECK-LABEL: @iotas_compared_then_selected
// CHECK: attn.attention
func.func @iotas_compared_then_selected(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF800000 : f32
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
  %empty_positions = tensor.empty() : !positions
  %empty_keyPositions = tensor.empty() : !keyPositions
  %rows = linalg.generic #writeQuery outs(%empty_positions : !positions) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index  %y = arith.index_cast %i : index to i64  linalg.yield %y : i64
  } -> !positions
  %columns = linalg.generic #writeQuery outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index  %y = arith.index_cast %j : index to i64  linalg.yield %y : i64
  } -> !keyPositions
  %empty_flags2 = tensor.empty() : !flags2
  %keep = linalg.generic #compare ins(%rows, %columns : !positions, !keyPositions) outs(%empty_flags2 : !flags2) {
  ^bb0(%i: i64, %j: i64, %o: i1): %y = arith.cmpi sle, %j, %i : i64  linalg.yield %y : i1
  } -> !flags2
  %masked = linalg.generic #mask2D ins(%scaled, %keep : !scores, !flags2) outs(%e : !scores) {
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

// CHECK-LABEL: @iotas_compared_then_added
// CHECK: attn.attention
func.func @iotas_compared_then_added(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %kept = arith.constant 0.0 : f32
  %dropped = arith.constant 0xFF800000 : f32
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
  %empty_positions = tensor.empty() : !positions
  %empty_keyPositions = tensor.empty() : !keyPositions
  %rows = linalg.generic #writeQuery outs(%empty_positions : !positions) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index  %y = arith.index_cast %i : index to i64  linalg.yield %y : i64
  } -> !positions
  %columns = linalg.generic #writeQuery outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index  %y = arith.index_cast %j : index to i64  linalg.yield %y : i64
  } -> !keyPositions
  %empty_flags2 = tensor.empty() : !flags2
  %keep = linalg.generic #compare ins(%rows, %columns : !positions, !keyPositions) outs(%empty_flags2 : !flags2) {
  ^bb0(%i: i64, %j: i64, %o: i1): %y = arith.cmpi sle, %j, %i : i64  linalg.yield %y : i1
  } -> !flags2
  %empty_mask2 = tensor.empty() : !mask2
  %bias = linalg.generic #eachMask ins(%keep : !flags2) outs(%empty_mask2 : !mask2) {
  ^bb0(%m: i1, %o: f32): %y = arith.select %m, %kept, %dropped : f32  linalg.yield %y : f32
  } -> !mask2
  %masked = linalg.generic #mask2D ins(%scaled, %bias : !scores, !mask2) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.addf %x, %y : f32  linalg.yield %z : f32
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

// CHECK-LABEL: @iotas_expanded
// CHECK: attn.attention
func.func @iotas_expanded(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF7FFFFF : f32
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
  %empty_positions = tensor.empty() : !positions
  %empty_keyPositions = tensor.empty() : !keyPositions
  %rows = linalg.generic #writeQuery outs(%empty_positions : !positions) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index  %y = arith.index_cast %i : index to i64  linalg.yield %y : i64
  } -> !positions
  %columns = linalg.generic #writeQuery outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index  %y = arith.index_cast %j : index to i64  linalg.yield %y : i64
  } -> !keyPositions
  %column = tensor.expand_shape %rows [[0, 1]] output_shape [5, 1] : !positions into !rowsColumn
  %empty_flags2 = tensor.empty() : !flags2
  %keep = linalg.generic #compareColumn ins(%column, %columns : !rowsColumn, !keyPositions)
      outs(%empty_flags2 : !flags2) {
  ^bb0(%i: i64, %j: i64, %o: i1): %y = arith.cmpi sge, %i, %j : i64  linalg.yield %y : i1
  } -> !flags2
  %masked = linalg.generic #mask2D ins(%scaled, %keep : !scores, !flags2) outs(%e : !scores) {
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
