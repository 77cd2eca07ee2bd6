// Spelling 15: products of 16-bit operands around a softmax in f32.
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
!query16 = tensor<2x3x5x4xf16>
!key16 = tensor<2x3x7x4xf16>
!value16 = tensor<2x3x7x8xf16>
!scores16 = tensor<2x3x5x7xf16>
!out16 = tensor<2x3x5x8xf16>

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
#out = {indexing_maps = [affine_map<(b, h, i, e) -> (b, h, i, e)>, affine_map<(b, h, i, e) -> (b, h, i, e)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// CHECK-LABEL: @f16_products_f32_softmax
// CHECK: attn.attention
func.func @f16_products_f32_softmax(%q: !query16, %k: !key16, %v: !value16) -> !out16 {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query16, !key16) outs(%s0 : !scores) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32  %yw = arith.extf %y : f16 to f32  %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
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
  %empty_scores16 = tensor.empty() : !scores16
  %pn = linalg.generic #each ins(%p : !scores) outs(%empty_scores16 : !scores16) {
  ^bb0(%x: f32, %o: f16): %y = arith.truncf %x : f32 to f16  linalg.yield %y : f16
  } -> !scores16
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %ow = linalg.generic #pv ins(%pn, %v : !scores16, !value16) outs(%o0 : !out) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32  %yw = arith.extf %y : f16 to f32  %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_out16 = tensor.empty() : !out16
  %out = linalg.generic #out ins(%ow : !out) outs(%empty_out16 : !out16) {
  ^bb0(%x: f32, %o: f16): %y = arith.truncf %x : f32 to f16  linalg.yield %y : f16
  } -> !out16
  return %out : !out16
}

// CHECK-LABEL: @f16_cast_before_products
// CHECK: attn.attention
func.func @f16_cast_before_products(%q: !query16, %k: !key16, %v: !value16) -> !out16 {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_query = tensor.empty() : !query
  %qw = linalg.generic #each ins(%q : !query16) outs(%empty_query : !query) {
  ^bb0(%x: f16, %o: f32): %y = arith.extf %x : f16 to f32  linalg.yield %y : f32
  } -> !query
  %empty_key = tensor.empty() : !key
  %kw = linalg.generic #each ins(%k : !key16) outs(%empty_key : !key) {
  ^bb0(%x: f16, %o: f32): %y = arith.extf %x : f16 to f32  linalg.yield %y : f32
  } -> !key
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%qw, %kw : !query, !key) outs(%s0 : !scores) {
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
  %empty_value = tensor.empty() : !value
  %vw = linalg.generic #each ins(%v : !value16) outs(%empty_value : !value) {
  ^bb0(%x: f16, %o: f32): %y = arith.extf %x : f16 to f32  linalg.yield %y : f32
  } -> !value
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %ow = linalg.generic #pv ins(%p, %vw : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_out16 = tensor.empty() : !out16
  %out = linalg.generic #out ins(%ow : !out) outs(%empty_out16 : !out16) {
  ^bb0(%x: f32, %o: f16): %y = arith.truncf %x : f32 to f16  linalg.yield %y : f16
  } -> !out16
  return %out : !out16
}

// Sums rounded to f16 after each term: the op's f32 sums are more exact.
// CHECK-LABEL: @f16_products_in_f16
// CHECK: attn.attention
func.func @f16_products_in_f16(%q: !query16, %k: !key16, %v: !value16) -> !out16 {
  %c_sn0 = arith.constant 0.0 : f16
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c_out0 = arith.constant 0.0 : f16
  %empty_scores16 = tensor.empty() : !scores16
  %sn0 = linalg.fill ins(%c_sn0 : f16) outs(%empty_scores16 : !scores16) -> !scores16
  %sn = linalg.generic #qk ins(%q, %k : !query16, !key16) outs(%sn0 : !scores16) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %xy = arith.mulf %x, %y : f16  %sum = arith.addf %acc, %xy : f16  linalg.yield %sum : f16
  } -> !scores16
  %e = tensor.empty() : !scores
  %s = linalg.generic #each ins(%sn : !scores16) outs(%e : !scores) {
  ^bb0(%x: f16, %o: f32): %y = arith.extf %x : f16 to f32  linalg.yield %y : f32
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
  %pn = linalg.generic #each ins(%p : !scores) outs(%empty_scores16 : !scores16) {
  ^bb0(%x: f32, %o: f16): %y = arith.truncf %x : f32 to f16  linalg.yield %y : f16
  } -> !scores16
  %empty_out16 = tensor.empty() : !out16
  %out0 = linalg.fill ins(%c_out0 : f16) outs(%empty_out16 : !out16) -> !out16
  %out = linalg.generic #pv ins(%pn, %v : !scores16, !value16) outs(%out0 : !out16) {
  ^bb0(%x: f16, %y: f16, %acc: f16):
    %xy = arith.mulf %x, %y : f16  %sum = arith.addf %acc, %xy : f16  linalg.yield %sum : f16
  } -> !out16
  return %out : !out16
}
