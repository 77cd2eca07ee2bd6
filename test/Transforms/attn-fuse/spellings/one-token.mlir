// Spelling 7: the query is one token, with or without a dimension for it.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!query1 = tensor<2x3x4xf32>
!scores1 = tensor<2x3x7xf32>
!rows1 = tensor<2x3xf32>
!out1 = tensor<2x3x8xf32>
!one = tensor<2x3x1x4xf32>
!oneScores = tensor<2x3x1x7xf32>
!oneRows = tensor<2x3x1xf32>
!oneOut = tensor<2x3x1x8xf32>

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
#mulKey = {indexing_maps = [affine_map<(b, h, j, d) -> (b, h, d)>, affine_map<(b, h, j, d) -> (b, h, j, d)>,
                            affine_map<(b, h, j, d) -> (b, h, j, d)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#sumLast = {indexing_maps = [affine_map<(b, h, j, d) -> (b, h, j, d)>, affine_map<(b, h, j, d) -> (b, h, j)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#each1 = {indexing_maps = [affine_map<(b, h, j) -> (b, h, j)>, affine_map<(b, h, j) -> (b, h, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
#reduce1 = {indexing_maps = [affine_map<(b, h, j) -> (b, h, j)>, affine_map<(b, h, j) -> (b, h)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
#byHead1 = {indexing_maps = [affine_map<(b, h, j) -> (b, h, j)>, affine_map<(b, h, j) -> (b, h)>,
                             affine_map<(b, h, j) -> (b, h, j)>],
            iterator_types = ["parallel", "parallel", "parallel"]}
#mulValue = {indexing_maps = [affine_map<(b, h, j, e) -> (b, h, j)>, affine_map<(b, h, j, e) -> (b, h, j, e)>,
                              affine_map<(b, h, j, e) -> (b, h, j, e)>],
             iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#sumKeys = {indexing_maps = [affine_map<(b, h, e, j) -> (b, h, j, e)>, affine_map<(b, h, e, j) -> (b, h, e)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#qk1 = {indexing_maps = [affine_map<(b, h, j, d) -> (b, h, d)>, affine_map<(b, h, j, d) -> (b, h, j, d)>,
                         affine_map<(b, h, j, d) -> (b, h, j)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#pv1 = {indexing_maps = [affine_map<(b, h, e, j) -> (b, h, j)>, affine_map<(b, h, e, j) -> (b, h, j, e)>,
                         affine_map<(b, h, e, j) -> (b, h, e)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}

// CHECK-LABEL: @one_query_row
// CHECK: attn.attention
func.func @one_query_row(%q: !one, %k: !key, %v: !value) -> !oneOut {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_oneScores = tensor.empty() : !oneScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_oneScores : !oneScores) -> !oneScores
  %s = linalg.generic #qk ins(%q, %k : !one, !key) outs(%s0 : !oneScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !oneScores
  %scaled = linalg.generic #each ins(%s : !oneScores) outs(%empty_oneScores : !oneScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !oneScores
  %empty_oneRows = tensor.empty() : !oneRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_oneRows : !oneRows) -> !oneRows
  %m = linalg.generic #reduce ins(%scaled : !oneScores) outs(%m0 : !oneRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !oneRows
  %w = linalg.generic #byRow ins(%scaled, %m : !oneScores, !oneRows) outs(%empty_oneScores : !oneScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !oneScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_oneRows : !oneRows) -> !oneRows
  %l = linalg.generic #reduce ins(%w : !oneScores) outs(%l0 : !oneRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !oneRows
  %p = linalg.generic #byRow ins(%w, %l : !oneScores, !oneRows) outs(%empty_oneScores : !oneScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !oneScores
  %empty_oneOut = tensor.empty() : !oneOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_oneOut : !oneOut) -> !oneOut
  %out = linalg.generic #pv ins(%p, %v : !oneScores, !value) outs(%out0 : !oneOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !oneOut
  return %out : !oneOut
}

// Matrix times vector, twice.
// CHECK-LABEL: @no_query_dimension
// CHECK: attn.attention
func.func @no_query_dimension(%q: !query1, %k: !key, %v: !value) -> !out1 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scores1 = tensor.empty() : !scores1
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores1 : !scores1) -> !scores1
  %s = linalg.generic #qk1 ins(%q, %k : !query1, !key) outs(%s0 : !scores1) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores1
  %scaled = linalg.generic #each1 ins(%s : !scores1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores1
  %empty_rows1 = tensor.empty() : !rows1
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows1 : !rows1) -> !rows1
  %m = linalg.generic #reduce1 ins(%scaled : !scores1) outs(%m0 : !rows1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows1
  %w = linalg.generic #byHead1 ins(%scaled, %m : !scores1, !rows1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores1
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows1 : !rows1) -> !rows1
  %l = linalg.generic #reduce1 ins(%w : !scores1) outs(%l0 : !rows1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows1
  %p = linalg.generic #byHead1 ins(%w, %l : !scores1, !rows1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores1
  %empty_out1 = tensor.empty() : !out1
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_out1 : !out1) -> !out1
  %out = linalg.generic #pv1 ins(%p, %v : !scores1, !value) outs(%out0 : !out1) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out1
  return %out : !out1
}

// Multiplications and sums in ops of their own.
// CHECK-LABEL: @multiplied_then_summed
// CHECK: attn.attention
func.func @multiplied_then_summed(%q: !query1, %k: !key, %v: !value) -> !out1 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_key = tensor.empty() : !key
  %products = linalg.generic #mulKey ins(%q, %k : !query1, !key) outs(%empty_key : !key) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.mulf %x, %y : f32  linalg.yield %z : f32
  } -> !key
  %empty_scores1 = tensor.empty() : !scores1
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores1 : !scores1) -> !scores1
  %s = linalg.generic #sumLast ins(%products : !key) outs(%s0 : !scores1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !scores1
  %scaled = linalg.generic #each1 ins(%s : !scores1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores1
  %empty_rows1 = tensor.empty() : !rows1
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows1 : !rows1) -> !rows1
  %m = linalg.generic #reduce1 ins(%scaled : !scores1) outs(%m0 : !rows1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows1
  %w = linalg.generic #byHead1 ins(%scaled, %m : !scores1, !rows1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores1
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows1 : !rows1) -> !rows1
  %l = linalg.generic #reduce1 ins(%w : !scores1) outs(%l0 : !rows1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows1
  %p = linalg.generic #byHead1 ins(%w, %l : !scores1, !rows1) outs(%empty_scores1 : !scores1) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores1
  %empty_value = tensor.empty() : !value
  %weighted = linalg.generic #mulValue ins(%p, %v : !scores1, !value) outs(%empty_value : !value) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.mulf %x, %y : f32  linalg.yield %z : f32
  } -> !value
  %empty_out1 = tensor.empty() : !out1
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out1 : !out1) -> !out1
  %out = linalg.generic #sumKeys ins(%weighted : !value) outs(%o0 : !out1) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !out1
  return %out : !out1
}
