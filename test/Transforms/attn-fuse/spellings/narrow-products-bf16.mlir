// Spelling 15: products of 16-bit operands around a softmax in f32.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!queryB = tensor<2x3x5x4xbf16>
!keyB = tensor<2x3x7x4xbf16>
!valueB = tensor<2x3x7x8xbf16>
!scoresB = tensor<2x3x5x7xbf16>
!outB = tensor<2x3x5x8xbf16>

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

// CHECK-LABEL: @bf16_products_f32_softmax
// CHECK: attn.attention
func.func @bf16_products_f32_softmax(%q: !queryB, %k: !keyB, %v: !valueB) -> !outB {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !queryB, !keyB) outs(%s0 : !scores) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xw = arith.extf %x : bf16 to f32  %yw = arith.extf %y : bf16 to f32  %xy = arith.mulf %xw, %yw : f32
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
  %empty_scoresB = tensor.empty() : !scoresB
  %pn = linalg.generic #each ins(%p : !scores) outs(%empty_scoresB : !scoresB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !scoresB
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %ow = linalg.generic #pv ins(%pn, %v : !scoresB, !valueB) outs(%o0 : !out) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xw = arith.extf %x : bf16 to f32  %yw = arith.extf %y : bf16 to f32  %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_outB = tensor.empty() : !outB
  %out = linalg.generic #out ins(%ow : !out) outs(%empty_outB : !outB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !outB
  return %out : !outB
}

// The scores are rounded to bf16 between product and softmax; the op does not round them.
// CHECK-LABEL: @bf16_scores_rounded
// CHECK: attn.attention
func.func @bf16_scores_rounded(%q: !queryB, %k: !keyB, %v: !valueB) -> !outB {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %sw = linalg.generic #qk ins(%q, %k : !queryB, !keyB) outs(%s0 : !scores) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xw = arith.extf %x : bf16 to f32  %yw = arith.extf %y : bf16 to f32  %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %empty_scoresB = tensor.empty() : !scoresB
  %sn = linalg.generic #each ins(%sw : !scores) outs(%empty_scoresB : !scoresB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !scoresB
  %s = linalg.generic #each ins(%sn : !scoresB) outs(%e : !scores) {
  ^bb0(%x: bf16, %o: f32): %y = arith.extf %x : bf16 to f32  linalg.yield %y : f32
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
  %pn = linalg.generic #each ins(%p : !scores) outs(%empty_scoresB : !scoresB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !scoresB
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %ow = linalg.generic #pv ins(%pn, %v : !scoresB, !valueB) outs(%o0 : !out) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %xw = arith.extf %x : bf16 to f32  %yw = arith.extf %y : bf16 to f32  %xy = arith.mulf %xw, %yw : f32
    %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  %empty_outB = tensor.empty() : !outB
  %out = linalg.generic #out ins(%ow : !out) outs(%empty_outB : !outB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !outB
  return %out : !outB
}

// CHECK-LABEL: @bf16_products_in_bf16
// CHECK: attn.attention
func.func @bf16_products_in_bf16(%q: !queryB, %k: !keyB, %v: !valueB) -> !outB {
  %c_sn0 = arith.constant 0.0 : bf16
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c_out0 = arith.constant 0.0 : bf16
  %empty_scoresB = tensor.empty() : !scoresB
  %sn0 = linalg.fill ins(%c_sn0 : bf16) outs(%empty_scoresB : !scoresB) -> !scoresB
  %sn = linalg.generic #qk ins(%q, %k : !queryB, !keyB) outs(%sn0 : !scoresB) {
  ^bb0(%x: bf16, %y: bf16, %acc: bf16):
    %xy = arith.mulf %x, %y : bf16  %sum = arith.addf %acc, %xy : bf16  linalg.yield %sum : bf16
  } -> !scoresB
  %e = tensor.empty() : !scores
  %s = linalg.generic #each ins(%sn : !scoresB) outs(%e : !scores) {
  ^bb0(%x: bf16, %o: f32): %y = arith.extf %x : bf16 to f32  linalg.yield %y : f32
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
  %pn = linalg.generic #each ins(%p : !scores) outs(%empty_scoresB : !scoresB) {
  ^bb0(%x: f32, %o: bf16): %y = arith.truncf %x : f32 to bf16  linalg.yield %y : bf16
  } -> !scoresB
  %empty_outB = tensor.empty() : !outB
  %out0 = linalg.fill ins(%c_out0 : bf16) outs(%empty_outB : !outB) -> !outB
  %out = linalg.generic #pv ins(%pn, %v : !scoresB, !valueB) outs(%out0 : !outB) {
  ^bb0(%x: bf16, %y: bf16, %acc: bf16):
    %xy = arith.mulf %x, %y : bf16  %sum = arith.addf %acc, %xy : bf16  linalg.yield %sum : bf16
  } -> !outB
  return %out : !outB
}
