// Spelling 14: all query heads share one kv head. Batch 3, heads 4, queryLen 5, kvLen 7, headDim 8, valueDim 9.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square --grouped %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!gQuery = tensor<3x4x5x8xf32>
!gScores = tensor<3x4x5x7xf32>
!gRows = tensor<3x4x5xf32>
!gOut = tensor<3x4x5x9xf32>
!mKey = tensor<3x1x7x8xf32>
!mValue = tensor<3x1x7x9xf32>
!mKey3 = tensor<3x7x8xf32>
!mValue3 = tensor<3x7x9xf32>

#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#qkShared = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, j, d)>,
                              affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pvShared = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, j, e)>,
                              affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
             iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#qkShared1 = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>,
                               affine_map<(b, h, i, j, d) -> (b, 0, j, d)>,
                               affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pvShared1 = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>,
                               affine_map<(b, h, i, e, j) -> (b, 0, j, e)>,
                               affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

// CHECK-LABEL: @no_head_dimension
// CHECK: attn.attention
func.func @no_head_dimension(%q: !gQuery, %k: !mKey3, %v: !mValue3) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_gScores = tensor.empty() : !gScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores : !gScores) -> !gScores
  %s = linalg.generic #qkShared ins(%q, %k : !gQuery, !mKey3) outs(%s0 : !gScores) {
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
  %out = linalg.generic #pvShared ins(%p, %v : !gScores, !mValue3) outs(%out0 : !gOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut
  return %out : !gOut
}

// CHECK-LABEL: @head_dimension_of_one
// CHECK: attn.attention
func.func @head_dimension_of_one(%q: !gQuery, %k: !mKey, %v: !mValue) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_gScores = tensor.empty() : !gScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores : !gScores) -> !gScores
  %s = linalg.generic #qkShared1 ins(%q, %k : !gQuery, !mKey) outs(%s0 : !gScores) {
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
  %out = linalg.generic #pvShared1 ins(%p, %v : !gScores, !mValue) outs(%out0 : !gOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut
  return %out : !gOut
}
