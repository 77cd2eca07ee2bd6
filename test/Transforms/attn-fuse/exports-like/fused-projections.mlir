// Query, key and value are slices of one projection: 3 heads of size 4 at 5 positions.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!rows = tensor<2x3x5xf32>
!qkvH3D = tensor<2x5x3x3x4xf32>
!fused = tensor<2x5x36xf32>
!selfOut = tensor<2x3x5x4xf32>
!selfScores = tensor<2x3x5x5xf32>
!part5 = tensor<2x5x3x1x4xf32>
!part = tensor<2x5x3x4xf32>
!selfQ = tensor<2x3x5x4xf32>
!wide = tensor<2x5x32xf32>
!wQ = tensor<2x5x4x4xf32>
!wK = tensor<2x5x2x4xf32>
!wQh = tensor<2x4x5x4xf32>
!wKh = tensor<2x2x5x4xf32>
!wK5 = tensor<2x2x2x5x4xf32>
!wS = tensor<2x4x5x5xf32>
!wR = tensor<2x4x5xf32>

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
#repeat = {indexing_maps = [affine_map<(b, n, g, j, d) -> (b, n, j, d)>,
                            affine_map<(b, n, g, j, d) -> (b, n, g, j, d)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}

// GPT-2: all queries, then all keys, then all values.
// CHECK-LABEL: @one_after_another
// CHECK: attn.attention
func.func @one_after_another(%qkv: !fused) -> !selfOut {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qf = tensor.extract_slice %qkv[0, 0, 0] [2, 5, 12] [1, 1, 1] : !fused to tensor<2x5x12xf32>
  %qs = tensor.expand_shape %qf [[0], [1], [2, 3]] output_shape [2, 5, 3, 4] : tensor<2x5x12xf32> into !part
  %kf = tensor.extract_slice %qkv[0, 0, 12] [2, 5, 12] [1, 1, 1] : !fused to tensor<2x5x12xf32>
  %ks = tensor.expand_shape %kf [[0], [1], [2, 3]] output_shape [2, 5, 3, 4] : tensor<2x5x12xf32> into !part
  %vf = tensor.extract_slice %qkv[0, 0, 24] [2, 5, 12] [1, 1, 1] : !fused to tensor<2x5x12xf32>
  %vs = tensor.expand_shape %vf [[0], [1], [2, 3]] output_shape [2, 5, 3, 4] : tensor<2x5x12xf32> into !part
  %empty_selfQ = tensor.empty() : !selfQ
  %q = linalg.transpose ins(%qs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %k = linalg.transpose ins(%ks : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %v = linalg.transpose ins(%vs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %empty_selfScores = tensor.empty() : !selfScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_selfScores : !selfScores) -> !selfScores
  %s = linalg.generic #qk ins(%q, %k : !selfQ, !selfQ) outs(%s0 : !selfScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfScores
  %scaled = linalg.generic #each ins(%s : !selfScores) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !selfScores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !selfScores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !selfScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !selfScores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !selfScores
  %empty_selfOut = tensor.empty() : !selfOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_selfOut : !selfOut) -> !selfOut
  %out = linalg.generic #pv ins(%p, %v : !selfScores, !selfQ) outs(%out0 : !selfOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfOut
  return %out : !selfOut
}

// ViT: (3, heads, headDim).
// CHECK-LABEL: @three_then_heads
// CHECK: attn.attention
func.func @three_then_heads(%qkv: !fused) -> !selfOut {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %split = tensor.expand_shape %qkv [[0], [1], [2, 3, 4]] output_shape [2, 5, 3, 3, 4] : !fused into !qkvH3D
  %qs = tensor.extract_slice %split[0, 0, 0, 0, 0] [2, 5, 1, 3, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part
  %ks = tensor.extract_slice %split[0, 0, 1, 0, 0] [2, 5, 1, 3, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part
  %vs = tensor.extract_slice %split[0, 0, 2, 0, 0] [2, 5, 1, 3, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part
  %empty_selfQ = tensor.empty() : !selfQ
  %q = linalg.transpose ins(%qs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %k = linalg.transpose ins(%ks : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %v = linalg.transpose ins(%vs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %empty_selfScores = tensor.empty() : !selfScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_selfScores : !selfScores) -> !selfScores
  %s = linalg.generic #qk ins(%q, %k : !selfQ, !selfQ) outs(%s0 : !selfScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfScores
  %scaled = linalg.generic #each ins(%s : !selfScores) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !selfScores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !selfScores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !selfScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !selfScores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !selfScores
  %empty_selfOut = tensor.empty() : !selfOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_selfOut : !selfOut) -> !selfOut
  %out = linalg.generic #pv ins(%p, %v : !selfScores, !selfQ) outs(%out0 : !selfOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfOut
  return %out : !selfOut
}

// BLOOM: (heads, 3, headDim).
// CHECK-LABEL: @heads_then_three
// CHECK: attn.attention
func.func @heads_then_three(%qkv: !fused) -> !selfOut {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %split = tensor.expand_shape %qkv [[0], [1], [2, 3, 4]] output_shape [2, 5, 3, 3, 4] : !fused into !qkvH3D
  %qf = tensor.extract_slice %split[0, 0, 0, 0, 0] [2, 5, 3, 1, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part5
  %qs = tensor.collapse_shape %qf [[0], [1], [2, 3], [4]] : !part5 into !part
  %kf = tensor.extract_slice %split[0, 0, 0, 1, 0] [2, 5, 3, 1, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part5
  %ks = tensor.collapse_shape %kf [[0], [1], [2, 3], [4]] : !part5 into !part
  %vf = tensor.extract_slice %split[0, 0, 0, 2, 0] [2, 5, 3, 1, 4] [1, 1, 1, 1, 1] : !qkvH3D to !part5
  %vs = tensor.collapse_shape %vf [[0], [1], [2, 3], [4]] : !part5 into !part
  %empty_selfQ = tensor.empty() : !selfQ
  %q = linalg.transpose ins(%qs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %k = linalg.transpose ins(%ks : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %v = linalg.transpose ins(%vs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %empty_selfScores = tensor.empty() : !selfScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_selfScores : !selfScores) -> !selfScores
  %s = linalg.generic #qk ins(%q, %k : !selfQ, !selfQ) outs(%s0 : !selfScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfScores
  %scaled = linalg.generic #each ins(%s : !selfScores) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !selfScores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !selfScores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !selfScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !selfScores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !selfScores
  %empty_selfOut = tensor.empty() : !selfOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_selfOut : !selfOut) -> !selfOut
  %out = linalg.generic #pv ins(%p, %v : !selfScores, !selfQ) outs(%out0 : !selfOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfOut
  return %out : !selfOut
}

// GPT-NeoX: each head's 12 numbers are query, key, value.
// CHECK-LABEL: @three_within_head
// CHECK: attn.attention
func.func @three_within_head(%qkv: !fused) -> !selfOut {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %split = tensor.expand_shape %qkv [[0], [1], [2, 3]] output_shape [2, 5, 3, 12] : !fused into tensor<2x5x3x12xf32>
  %qs = tensor.extract_slice %split[0, 0, 0, 0] [2, 5, 3, 4] [1, 1, 1, 1] : tensor<2x5x3x12xf32> to !part
  %ks = tensor.extract_slice %split[0, 0, 0, 4] [2, 5, 3, 4] [1, 1, 1, 1] : tensor<2x5x3x12xf32> to !part
  %vs = tensor.extract_slice %split[0, 0, 0, 8] [2, 5, 3, 4] [1, 1, 1, 1] : tensor<2x5x3x12xf32> to !part
  %empty_selfQ = tensor.empty() : !selfQ
  %q = linalg.transpose ins(%qs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %k = linalg.transpose ins(%ks : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %v = linalg.transpose ins(%vs : !part) outs(%empty_selfQ : !selfQ) permutation = [0, 2, 1, 3]
  %empty_selfScores = tensor.empty() : !selfScores
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_selfScores : !selfScores) -> !selfScores
  %s = linalg.generic #qk ins(%q, %k : !selfQ, !selfQ) outs(%s0 : !selfScores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfScores
  %scaled = linalg.generic #each ins(%s : !selfScores) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !selfScores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !selfScores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !selfScores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !selfScores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !selfScores, !rows) outs(%empty_selfScores : !selfScores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !selfScores
  %empty_selfOut = tensor.empty() : !selfOut
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_selfOut : !selfOut) -> !selfOut
  %out = linalg.generic #pv ins(%p, %v : !selfScores, !selfQ) outs(%out0 : !selfOut) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !selfOut
  return %out : !selfOut
}

// Four query heads, two kv heads: widths 16, 8 and 8 of one projection.
// CHECK-LABEL: @query_wider_than_key
// CHECK: attn.attention
func.func @query_wider_than_key(%qkv: !wide) -> !wQh {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qf = tensor.extract_slice %qkv[0, 0, 0] [2, 5, 16] [1, 1, 1] : !wide to tensor<2x5x16xf32>
  %qs = tensor.expand_shape %qf [[0], [1], [2, 3]] output_shape [2, 5, 4, 4] : tensor<2x5x16xf32> into !wQ
  %empty_wQh = tensor.empty() : !wQh
  %q = linalg.transpose ins(%qs : !wQ) outs(%empty_wQh : !wQh) permutation = [0, 2, 1, 3]
  %kf = tensor.extract_slice %qkv[0, 0, 16] [2, 5, 8] [1, 1, 1] : !wide to tensor<2x5x8xf32>
  %ks = tensor.expand_shape %kf [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into !wK
  %empty_wKh = tensor.empty() : !wKh
  %k = linalg.transpose ins(%ks : !wK) outs(%empty_wKh : !wKh) permutation = [0, 2, 1, 3]
  %vf = tensor.extract_slice %qkv[0, 0, 24] [2, 5, 8] [1, 1, 1] : !wide to tensor<2x5x8xf32>
  %vs = tensor.expand_shape %vf [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into !wK
  %v = linalg.transpose ins(%vs : !wK) outs(%empty_wKh : !wKh) permutation = [0, 2, 1, 3]
  %empty_wK5 = tensor.empty() : !wK5
  %k5 = linalg.generic #repeat ins(%k : !wKh) outs(%empty_wK5 : !wK5) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !wK5
  %kr = tensor.collapse_shape %k5 [[0], [1, 2], [3], [4]] : !wK5 into !wQh
  %v5 = linalg.generic #repeat ins(%v : !wKh) outs(%empty_wK5 : !wK5) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !wK5
  %vr = tensor.collapse_shape %v5 [[0], [1, 2], [3], [4]] : !wK5 into !wQh
  %empty_wS = tensor.empty() : !wS
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_wS : !wS) -> !wS
  %s = linalg.generic #qk ins(%q, %kr : !wQh, !wQh) outs(%s0 : !wS) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !wS
  %scaled = linalg.generic #each ins(%s : !wS) outs(%empty_wS : !wS) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !wS
  %empty_wR = tensor.empty() : !wR
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_wR : !wR) -> !wR
  %m = linalg.generic #reduce ins(%scaled : !wS) outs(%m0 : !wR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !wR
  %w = linalg.generic #byRow ins(%scaled, %m : !wS, !wR) outs(%empty_wS : !wS) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !wS
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_wR : !wR) -> !wR
  %l = linalg.generic #reduce ins(%w : !wS) outs(%l0 : !wR) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !wR
  %p = linalg.generic #byRow ins(%w, %l : !wS, !wR) outs(%empty_wS : !wS) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !wS
  %out0 = linalg.fill ins(%zero : f32) outs(%empty_wQh : !wQh) -> !wQh
  %out = linalg.generic #pv ins(%p, %vr : !wS, !wQh) outs(%out0 : !wQh) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !wQh
  return %out : !wQh
}
