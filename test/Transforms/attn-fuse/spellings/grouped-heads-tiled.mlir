// Spelling 14: four query heads share two kv heads, consecutive ones the same. Batch 3, queryLen 5, kvLen 7,
// headDim 8, valueDim 9.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square --grouped %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!gQuery = tensor<3x4x5x8xf32>
!gKey = tensor<3x2x7x8xf32>
!gValue = tensor<3x2x7x9xf32>
!gScores = tensor<3x4x5x7xf32>
!gRows = tensor<3x4x5xf32>
!gOut = tensor<3x4x5x9xf32>
!gKeyR = tensor<3x4x7x8xf32>
!gValueR = tensor<3x4x7x9xf32>
!gKey5 = tensor<3x2x2x7x8xf32>
!gValue5 = tensor<3x2x2x7x9xf32>

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
#tileHeads = {indexing_maps = [affine_map<(b, g, n, j, d) -> (b, n, j, d)>,
                               affine_map<(b, g, n, j, d) -> (b, g, n, j, d)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}

// Head h uses kv head h mod 2: still an attention, of a repeated or permuted key, but not of grouped heads as they
// are. Where the group is as large as the number of kv heads only the order of two loops tells.
// CHECK-LABEL: @heads_interleaved
// CHECK: attn.attention
func.func @heads_interleaved(%q: !gQuery, %k: !gKey, %v: !gValue) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_gKey5 = tensor.empty() : !gKey5
  %k5 = linalg.generic #tileHeads ins(%k : !gKey) outs(%empty_gKey5 : !gKey5) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !gKey5
  %kr = tensor.collapse_shape %k5 [[0], [1, 2], [3], [4]] : !gKey5 into !gKeyR
  %empty_gValue5 = tensor.empty() : !gValue5
  %v5 = linalg.generic #tileHeads ins(%v : !gValue) outs(%empty_gValue5 : !gValue5) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !gValue5
  %vr = tensor.collapse_shape %v5 [[0], [1, 2], [3], [4]] : !gValue5 into !gValueR
  %empty_gScores = tensor.empty() : !gScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores : !gScores) -> !gScores
  %s = linalg.generic #qk ins(%q, %kr : !gQuery, !gKeyR) outs(%s0 : !gScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gScores
  %scaled = linalg.generic #each ins(%s : !gScores) outs(%empty_gScores : !gScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !gScores
  %empty_gRows = tensor.empty() : !gRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_gRows : !gRows) -> !gRows
  %m = linalg.generic #reduce ins(%scaled : !gScores) outs(%m0 : !gRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows
  %w = linalg.generic #byRow ins(%scaled, %m : !gScores, !gRows) outs(%empty_gScores : !gScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !gScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_gRows : !gRows) -> !gRows
  %l = linalg.generic #reduce ins(%w : !gScores) outs(%l0 : !gRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows
  %p = linalg.generic #byRow ins(%w, %l : !gScores, !gRows) outs(%empty_gScores : !gScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !gScores
  %empty_gOut = tensor.empty() : !gOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_gOut : !gOut) -> !gOut
  %out = linalg.generic #pv ins(%p, %vr : !gScores, !gValueR) outs(%out0 : !gOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut
  return %out : !gOut
}
