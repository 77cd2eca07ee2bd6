// Sinks of 16 bits in front of the keys, of grouped heads: one for each query head, or one that a group shares.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<3x2x5x4xf16>
!key = tensor<3x7x4xf16>
!value = tensor<3x7x8xf16>
!scores = tensor<3x2x5x7xf32>
!joint = tensor<3x2x5x8xf32>
!rows = tensor<3x2x5xf32>
!out = tensor<3x2x5x8xf32>

#qk = {indexing_maps = [affine_map<(h, g, i, j, d) -> (h, g, i, d)>, affine_map<(h, g, i, j, d) -> (h, j, d)>,
                        affine_map<(h, g, i, j, d) -> (h, g, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(h, g, i, e, j) -> (h, g, i, j)>, affine_map<(h, g, i, e, j) -> (h, j, e)>,
                        affine_map<(h, g, i, e, j) -> (h, g, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#reduce = {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (h, g, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (h, g, i)>,
                           affine_map<(h, g, i, j) -> (h, g, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#spread = {indexing_maps = [affine_map<(h, g, i, u) -> (h)>, affine_map<(h, g, i, u) -> (h, g, i, u)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#spread2 = {indexing_maps = [affine_map<(h, g, i, u) -> (g, h)>, affine_map<(h, g, i, u) -> (h, g, i, u)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// CHECK-LABEL: @one_of_each_key_head
// CHECK: attn.attention {{.*}}sink(%{{.+}} : tensor<6xf32>)
func.func @one_of_each_key_head(%q: !query, %k: !key, %v: !value, %sinks: tensor<3xf16>) -> !out {
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f16, %y: f16, %acc: f32): %a = arith.extf %x : f16 to f32  %b = arith.extf %y : f16 to f32
    %xy = arith.mulf %a, %b : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %ec = tensor.empty() : tensor<3x2x5x1xf32>
  %col = linalg.generic #spread ins(%sinks : tensor<3xf16>) outs(%ec : tensor<3x2x5x1xf32>) {
  ^bb0(%x: f16, %o: f32):
    %a = arith.extf %x : f16 to f32  linalg.yield %a : f32
  } -> tensor<3x2x5x1xf32>
  %joined = tensor.concat dim(3) %col, %s : (tensor<3x2x5x1xf32>, !scores) -> !joint
  %er = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty() : !joint
  %w = linalg.generic #byRow ins(%joined, %m : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !joint
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !joint) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %all = linalg.generic #byRow ins(%w, %l : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !joint
  %p = tensor.extract_slice %all[0, 0, 0, 1] [3, 2, 5, 7] [1, 1, 1, 1] : !joint to !scores
  %eo = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f16, %acc: f32): %b = arith.extf %y : f16 to f32
    %xy = arith.mulf %x, %b : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// CHECK-LABEL: @one_of_each_query_head
// CHECK: attn.attention {{.*}}sink(%{{.+}} : tensor<6xf32>)
func.func @one_of_each_query_head(%q: !query, %k: !key, %v: !value, %sinks: tensor<2x3xf16>) -> !out {
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f16, %y: f16, %acc: f32): %a = arith.extf %x : f16 to f32  %b = arith.extf %y : f16 to f32
    %xy = arith.mulf %a, %b : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %ec = tensor.empty() : tensor<3x2x5x1xf32>
  %col = linalg.generic #spread2 ins(%sinks : tensor<2x3xf16>) outs(%ec : tensor<3x2x5x1xf32>) {
  ^bb0(%x: f16, %o: f32):
    %a = arith.extf %x : f16 to f32  linalg.yield %a : f32
  } -> tensor<3x2x5x1xf32>
  %joined = tensor.concat dim(3) %col, %s : (tensor<3x2x5x1xf32>, !scores) -> !joint
  %er = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty() : !joint
  %w = linalg.generic #byRow ins(%joined, %m : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !joint
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !joint) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %all = linalg.generic #byRow ins(%w, %l : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !joint
  %p = tensor.extract_slice %all[0, 0, 0, 1] [3, 2, 5, 7] [1, 1, 1, 1] : !joint to !scores
  %eo = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f16, %acc: f32): %b = arith.extf %y : f16 to f32
    %xy = arith.mulf %x, %b : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
