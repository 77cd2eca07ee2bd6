// Spelling 14: tosa.tile repeats the kv heads. Batch 3, heads 4, kv heads 2, queryLen 5, kvLen 7, headDim 8,
// valueDim 9.
// RUN: attn-opt %s --attn-raise --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
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
!gKey51 = tensor<3x2x1x7x8xf32>
!gValue51 = tensor<3x2x1x7x9xf32>

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

// CHECK-LABEL: @heads_repeated_by_tile
// CHECK: attn.attention
func.func @heads_repeated_by_tile(%q: !gQuery, %k: !gKey, %v: !gValue) -> !gOut {
  %scale = arith.constant 0.25 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %twice = tosa.const_shape {values = dense<[1, 1, 2, 1, 1]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %to_k1 = tosa.const_shape {values = dense<[3, 2, 1, 7, 8]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %to_kr = tosa.const_shape {values = dense<[3, 4, 7, 8]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %k1 = tosa.reshape %k, %to_k1 : (!gKey, !tosa.shape<5>) -> !gKey51
  %k5 = tosa.tile %k1, %twice : (!gKey51, !tosa.shape<5>) -> !gKey5
  %kr = tosa.reshape %k5, %to_kr : (!gKey5, !tosa.shape<4>) -> !gKeyR
  %to_v1 = tosa.const_shape {values = dense<[3, 2, 1, 7, 9]> : tensor<5xindex>} : () -> !tosa.shape<5>
  %to_vr = tosa.const_shape {values = dense<[3, 4, 7, 9]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %v1 = tosa.reshape %v, %to_v1 : (!gValue, !tosa.shape<5>) -> !gValue51
  %v5 = tosa.tile %v1, %twice : (!gValue51, !tosa.shape<5>) -> !gValue5
  %vr = tosa.reshape %v5, %to_vr : (!gValue5, !tosa.shape<4>) -> !gValueR
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
