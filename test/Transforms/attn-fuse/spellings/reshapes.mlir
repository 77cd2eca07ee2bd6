// Spelling 8: reshapes and transposes around the products: heads folded into the batch, split from the hidden size,
// put back behind.
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
!query3 = tensor<6x5x4xf32>
!key3 = tensor<6x7x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!out3 = tensor<6x5x8xf32>
!querySHD = tensor<2x5x3x4xf32>
!keySHD = tensor<2x7x3x4xf32>
!valueSHD = tensor<2x7x3x8xf32>
!outSHD = tensor<2x5x3x8xf32>
!hidden = tensor<2x5x12xf32>
!hiddenKey = tensor<2x7x12xf32>
!hiddenValue = tensor<2x7x24xf32>
!hiddenOut = tensor<2x5x24xf32>
!flat = tensor<10x24xf32>

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

// CHECK-LABEL: @heads_folded_into_batch
// CHECK: attn.attention
func.func @heads_folded_into_batch(%q: !query, %k: !key, %v: !value) -> !out {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : !query into !query3
  %k3 = tensor.collapse_shape %k [[0, 1], [2], [3]] : !key into !key3
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : !value into !value3
  %empty_keyT3 = tensor.empty() : !keyT3
  %kt = linalg.transpose ins(%k3 : !key3) outs(%empty_keyT3 : !keyT3) permutation = [0, 2, 1]
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s3 = linalg.batch_matmul ins(%q3, %kt : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : !scores3 into !scores
  %e = tensor.empty() : !scores
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
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3]] : !scores into !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %out3 = linalg.batch_matmul ins(%p3, %v3 : !scores3, !value3) outs(%o0 : !out3) -> !out3
  %out = tensor.expand_shape %out3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 8] : !out3 into !out
  return %out : !out
}

// The projections' layout: [batch, position, heads * headDim], and back.
// CHECK-LABEL: @heads_split_from_hidden
// CHECK: attn.attention
func.func @heads_split_from_hidden(%q: !hidden, %k: !hiddenKey, %v: !hiddenValue) -> !hiddenOut {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qs = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [2, 5, 3, 4] : !hidden into !querySHD
  %empty_query = tensor.empty() : !query
  %qh = linalg.transpose ins(%qs : !querySHD) outs(%empty_query : !query) permutation = [0, 2, 1, 3]
  %ks = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [2, 7, 3, 4] : !hiddenKey into !keySHD
  %empty_key = tensor.empty() : !key
  %kh = linalg.transpose ins(%ks : !keySHD) outs(%empty_key : !key) permutation = [0, 2, 1, 3]
  %vs = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 7, 3, 8] : !hiddenValue into !valueSHD
  %empty_value = tensor.empty() : !value
  %vh = linalg.transpose ins(%vs : !valueSHD) outs(%empty_value : !value) permutation = [0, 2, 1, 3]
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%qh, %kh : !query, !key) outs(%s0 : !scores) {
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
  %o = linalg.generic #pv ins(%p, %vh : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_outSHD = tensor.empty() : !outSHD
  %os = linalg.transpose ins(%o : !out) outs(%empty_outSHD : !outSHD) permutation = [0, 2, 1, 3]
  %out = tensor.collapse_shape %os [[0], [1], [2, 3]] : !outSHD into !hiddenOut
  return %out : !hiddenOut
}

// CHECK-LABEL: @output_as_one_matrix
// CHECK: attn.attention
func.func @output_as_one_matrix(%q: !hidden, %k: !hiddenKey, %v: !hiddenValue) -> !flat {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %qs = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [2, 5, 3, 4] : !hidden into !querySHD
  %empty_query = tensor.empty() : !query
  %qh = linalg.transpose ins(%qs : !querySHD) outs(%empty_query : !query) permutation = [0, 2, 1, 3]
  %ks = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [2, 7, 3, 4] : !hiddenKey into !keySHD
  %empty_key = tensor.empty() : !key
  %kh = linalg.transpose ins(%ks : !keySHD) outs(%empty_key : !key) permutation = [0, 2, 1, 3]
  %vs = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 7, 3, 8] : !hiddenValue into !valueSHD
  %empty_value = tensor.empty() : !value
  %vh = linalg.transpose ins(%vs : !valueSHD) outs(%empty_value : !value) permutation = [0, 2, 1, 3]
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%qh, %kh : !query, !key) outs(%s0 : !scores) {
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
  %o = linalg.generic #pv ins(%p, %vh : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_outSHD = tensor.empty() : !outSHD
  %os = linalg.transpose ins(%o : !out) outs(%empty_outSHD : !outSHD) permutation = [0, 2, 1, 3]
  %out = tensor.collapse_shape %os [[0, 1], [2, 3]] : !outSHD into !flat
  return %out : !flat
}
