// Keys that are assembled before the product, and two attentions in one function.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!one = tensor<2x3x1x4xf32>
!keyAll = tensor<2x3x9x4xf32>
!valueAll = tensor<2x3x9x8xf32>
!scoresAll = tensor<2x3x5x9xf32>
!keyBias = tensor<2x3x1x4xf32>
!valueBias = tensor<2x3x1x8xf32>
!oneV = tensor<2x3x1x8xf32>
!key8 = tensor<2x3x8x4xf32>
!value8 = tensor<2x3x8x8xf32>
!oneS = tensor<2x3x1x8xf32>
!oneR = tensor<2x3x1xf32>
!nope = tensor<2x3x7x3xf32>
!rope = tensor<2x7x1xf32>
!rope4 = tensor<2x3x7x1xf32>

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
#sharedRope = {indexing_maps = [affine_map<(b, h, j, d) -> (b, j, d)>, affine_map<(b, h, j, d) -> (b, h, j, d)>],
               iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// add_bias_kv and add_zero_attn: kvLen + 2.
// CHECK-LABEL: @learned_and_zero_key_appended
// CHECK: attn.attention
func.func @learned_and_zero_key_appended(%q: !query, %k: !key, %v: !value, %keyBias: !keyBias, %valueBias: !valueBias)
    -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_keyBias = tensor.empty() : !keyBias
  %zeroKey = linalg.fill ins(%zero : f32) outs(%empty_keyBias : !keyBias) -> !keyBias
  %empty_valueBias = tensor.empty() : !valueBias
  %zeroValue = linalg.fill ins(%zero : f32) outs(%empty_valueBias : !valueBias) -> !valueBias
  %ka = tensor.concat dim(2) %k, %keyBias, %zeroKey : (!key, !keyBias, !keyBias) -> !keyAll
  %va = tensor.concat dim(2) %v, %valueBias, %zeroValue : (!value, !valueBias, !valueBias) -> !valueAll
  %empty_scoresAll = tensor.empty() : !scoresAll
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scoresAll : !scoresAll) -> !scoresAll
  %s = linalg.generic #qk ins(%q, %ka : !query, !keyAll) outs(%s0 : !scoresAll) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scoresAll
  %scaled = linalg.generic #each ins(%s : !scoresAll) outs(%empty_scoresAll : !scoresAll) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scoresAll
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scoresAll) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scoresAll, !rows) outs(%empty_scoresAll : !scoresAll) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scoresAll
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !scoresAll) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !scoresAll, !rows) outs(%empty_scoresAll : !scoresAll) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scoresAll
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %va : !scoresAll, !valueAll) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// Decoding: the caches are results, too.
// CHECK-LABEL: @new_key_appended_to_cache
// CHECK: attn.attention
func.func @new_key_appended_to_cache(%q: !one, %newKey: !one, %newValue: !oneV, %k: !key, %v: !value)
    -> (!oneV, !key8, !value8) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %ka = tensor.concat dim(2) %k, %newKey : (!key, !one) -> !key8
  %va = tensor.concat dim(2) %v, %newValue : (!value, !oneV) -> !value8
  %empty_oneS = tensor.empty() : !oneS
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_oneS : !oneS) -> !oneS
  %s = linalg.generic #qk ins(%q, %ka : !one, !key8) outs(%s0 : !oneS) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !oneS
  %scaled = linalg.generic #each ins(%s : !oneS) outs(%empty_oneS : !oneS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !oneS
  %empty_oneR = tensor.empty() : !oneR
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_oneR : !oneR) -> !oneR
  %m = linalg.generic #reduce ins(%scaled : !oneS) outs(%m0 : !oneR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !oneR
  %w = linalg.generic #byRow ins(%scaled, %m : !oneS, !oneR) outs(%empty_oneS : !oneS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !oneS
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_oneR : !oneR) -> !oneR
  %l = linalg.generic #reduce ins(%w : !oneS) outs(%l0 : !oneR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !oneR
  %p = linalg.generic #byRow ins(%w, %l : !oneS, !oneR) outs(%empty_oneS : !oneS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !oneS
  %empty_oneV = tensor.empty() : !oneV
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_oneV : !oneV) -> !oneV
  %out = linalg.generic #pv ins(%p, %va : !oneS, !value8) outs(%out0 : !oneV) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !oneV
  return %out, %ka, %va : !oneV, !key8, !value8
}

// MLA: three channels of each head, one shared by all heads, put together by insert_slice.
// CHECK-LABEL: @key_assembled_from_parts
// CHECK: attn.attention
func.func @key_assembled_from_parts(%q: !query, %kn: !nope, %kr: !rope, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_rope4 = tensor.empty() : !rope4
  %kr4 = linalg.generic #sharedRope ins(%kr : !rope) outs(%empty_rope4 : !rope4) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !rope4
  %empty_key = tensor.empty() : !key
  %k1 = tensor.insert_slice %kn into %empty_key[0, 0, 0, 0] [2, 3, 7, 3] [1, 1, 1, 1] : !nope into !key
  %k = tensor.insert_slice %kr4 into %k1[0, 0, 0, 3] [2, 3, 7, 1] [1, 1, 1, 1] : !rope4 into !key
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
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
