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
!gQuery5 = tensor<3x2x2x5x8xf32>
!gScores5 = tensor<3x2x2x5x7xf32>
!gRows5 = tensor<3x2x2x5xf32>
!gOut5 = tensor<3x2x2x5x9xf32>

#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#qkGrouped = {indexing_maps = [affine_map<(b, n, g, i, j, d) -> (b, n, g, i, d)>,
                               affine_map<(b, n, g, i, j, d) -> (b, n, j, d)>,
                               affine_map<(b, n, g, i, j, d) -> (b, n, g, i, j)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
#pvGrouped = {indexing_maps = [affine_map<(b, n, g, i, e, j) -> (b, n, g, i, j)>,
                               affine_map<(b, n, g, i, e, j) -> (b, n, j, e)>,
                               affine_map<(b, n, g, i, e, j) -> (b, n, g, i, e)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
#each5 = {indexing_maps = [affine_map<(b, n, g, i, j) -> (b, n, g, i, j)>,
                           affine_map<(b, n, g, i, j) -> (b, n, g, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
#reduce5 = {indexing_maps = [affine_map<(b, n, g, i, j) -> (b, n, g, i, j)>,
                             affine_map<(b, n, g, i, j) -> (b, n, g, i)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#byRow5 = {indexing_maps = [affine_map<(b, n, g, i, j) -> (b, n, g, i, j)>,
                            affine_map<(b, n, g, i, j) -> (b, n, g, i)>,
                            affine_map<(b, n, g, i, j) -> (b, n, g, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
#qkGroupMap = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>,
                                affine_map<(b, h, i, j, d) -> (b, h floordiv 2, j, d)>,
                                affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
               iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pvGroupMap = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>,
                                affine_map<(b, h, i, e, j) -> (b, h floordiv 2, j, e)>,
                                affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
               iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

// JAX: the query gets a dimension for the group; the key is never repeated.
// CHECK-LABEL: @query_grouped
// CHECK: attn.attention
func.func @query_grouped(%q: !gQuery, %k: !gKey, %v: !gValue) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %q5 = tensor.expand_shape %q [[0], [1, 2], [3], [4]] output_shape [3, 2, 2, 5, 8] : !gQuery into !gQuery5
  %empty_gScores5 = tensor.empty() : !gScores5
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores5 : !gScores5) -> !gScores5
  %s = linalg.generic #qkGrouped ins(%q5, %k : !gQuery5, !gKey) outs(%s0 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gScores5
  %scaled = linalg.generic #each5 ins(%s : !gScores5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !gScores5
  %empty_gRows5 = tensor.empty() : !gRows5
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_gRows5 : !gRows5) -> !gRows5
  %m = linalg.generic #reduce5 ins(%scaled : !gScores5) outs(%m0 : !gRows5) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows5
  %w = linalg.generic #byRow5 ins(%scaled, %m : !gScores5, !gRows5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !gScores5
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_gRows5 : !gRows5) -> !gRows5
  %l = linalg.generic #reduce5 ins(%w : !gScores5) outs(%l0 : !gRows5) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows5
  %p = linalg.generic #byRow5 ins(%w, %l : !gScores5, !gRows5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !gScores5
  %empty_gOut5 = tensor.empty() : !gOut5
  %o50 = linalg.fill ins(%zero : f32) outs(%empty_gOut5 : !gOut5) -> !gOut5
  %o5 = linalg.generic #pvGrouped ins(%p, %v : !gScores5, !gValue) outs(%o50 : !gOut5) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut5
  %out = tensor.collapse_shape %o5 [[0], [1, 2], [3], [4]] : !gOut5 into !gOut
  return %out : !gOut
}

// CHECK-LABEL: @query_grouped_by_caller
// CHECK: attn.attention
func.func @query_grouped_by_caller(%q: !gQuery5, %k: !gKey, %v: !gValue) -> !gOut5 {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_gScores5 = tensor.empty() : !gScores5
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores5 : !gScores5) -> !gScores5
  %s = linalg.generic #qkGrouped ins(%q, %k : !gQuery5, !gKey) outs(%s0 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gScores5
  %scaled = linalg.generic #each5 ins(%s : !gScores5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !gScores5
  %empty_gRows5 = tensor.empty() : !gRows5
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_gRows5 : !gRows5) -> !gRows5
  %m = linalg.generic #reduce5 ins(%scaled : !gScores5) outs(%m0 : !gRows5) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows5
  %w = linalg.generic #byRow5 ins(%scaled, %m : !gScores5, !gRows5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !gScores5
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_gRows5 : !gRows5) -> !gRows5
  %l = linalg.generic #reduce5 ins(%w : !gScores5) outs(%l0 : !gRows5) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !gRows5
  %p = linalg.generic #byRow5 ins(%w, %l : !gScores5, !gRows5) outs(%empty_gScores5 : !gScores5) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !gScores5
  %empty_gOut5 = tensor.empty() : !gOut5
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_gOut5 : !gOut5) -> !gOut5
  %out = linalg.generic #pvGrouped ins(%p, %v : !gScores5, !gValue) outs(%out0 : !gOut5) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut5
  return %out : !gOut5
}

// CHECK-LABEL: @head_of_group_in_map
// CHECK: attn.attention
func.func @head_of_group_in_map(%q: !gQuery, %k: !gKey, %v: !gValue) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_gScores = tensor.empty() : !gScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_gScores : !gScores) -> !gScores
  %s = linalg.generic #qkGroupMap ins(%q, %k : !gQuery, !gKey) outs(%s0 : !gScores) {
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
  %out = linalg.generic #pvGroupMap ins(%p, %v : !gScores, !gValue) outs(%out0 : !gOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !gOut
  return %out : !gOut
}
