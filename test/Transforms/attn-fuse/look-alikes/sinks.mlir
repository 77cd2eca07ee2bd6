// What joins the sum beside the keys is no sink.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REASON
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not="= attn.attention"
// RUN: %check_functions %s

!query = tensor<3x5x4xf32>
!key = tensor<3x7x4xf32>
!value = tensor<3x7x8xf32>
!scores = tensor<3x5x7xf32>
!rows = tensor<3x5xf32>
!out = tensor<3x5x8xf32>
!joint = tensor<3x5x8xf32>
!column = tensor<3x5x1xf32>
!sinks = tensor<3xf32>

#qk = {indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                        affine_map<(h, i, j, d) -> (h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>,
                        affine_map<(h, i, e, j) -> (h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                           affine_map<(h, i, j) -> (h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
#spread = {indexing_maps = [affine_map<(h, i, u) -> (h)>, affine_map<(h, i, u) -> (h, i, u)>],
           iterator_types = ["parallel", "parallel", "parallel"]}
#rowsOfHead = {indexing_maps = [affine_map<(h, i) -> (h, i)>, affine_map<(h, i) -> (h)>, affine_map<(h, i) -> (h, i)>],
               iterator_types = ["parallel", "parallel"]}

// CHECK-LABEL: @column_of_each_query
// REASON: not fused: {{.*}}varies along a batch or query axis
func.func @column_of_each_query(%q: !query, %k: !key, %v: !value, %column: !column) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %joined = tensor.concat dim(2) %scaled, %column : (!scores, !column) -> !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty() : !joint
  %w = linalg.generic #byRow ins(%joined, %m : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !joint
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !joint) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %all = linalg.generic #byRow ins(%w, %l : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !joint
  %p = tensor.extract_slice %all[0, 0, 0] [3, 5, 7] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// CHECK-LABEL: @exponential_without_the_maximum
// REASON: not fused: {{.*}}not shifted by the maximum
func.func @exponential_without_the_maximum(%q: !query, %k: !key, %v: !value, %sinks: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l10 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l1 = linalg.generic #reduce ins(%w : !scores) outs(%l10 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %l = linalg.generic #rowsOfHead ins(%l1, %sinks : !rows, !sinks) outs(%empty_rows : !rows) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %one = math.exp %y : f32  %z = arith.addf %x, %one : f32  linalg.yield %z : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// Weights of a row are 0 over 0 where the other sink is far above the scores.
// CHECK-LABEL: @maximum_of_another_sink
// REASON: not fused: {{.*}}not the maximum of the same scores
func.func @maximum_of_another_sink(%q: !query, %k: !key, %v: !value, %sinks: !sinks, %others: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %column_empty = tensor.empty() : !column
  %column = linalg.generic #spread ins(%sinks : !sinks) outs(%column_empty : !column) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !column
  %column2_empty = tensor.empty() : !column
  %column2 = linalg.generic #spread ins(%others : !sinks) outs(%column2_empty : !column) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !column
  %joined = tensor.concat dim(2) %scaled, %column : (!scores, !column) -> !joint
  %joined2 = tensor.concat dim(2) %scaled, %column2 : (!scores, !column) -> !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined2 : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty() : !joint
  %w = linalg.generic #byRow ins(%joined, %m : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !joint
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !joint) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %all = linalg.generic #byRow ins(%w, %l : !joint, !rows) outs(%ej : !joint) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !joint
  %p = tensor.extract_slice %all[0, 0, 0] [3, 5, 7] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// The sink itself is added.
// CHECK-LABEL: @columns_that_are_no_exponentials
// REASON: not fused: {{.*}}divisor is not the sum
func.func @columns_that_are_no_exponentials(%q: !query, %k: !key, %v: !value, %sinks: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l10 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l1 = linalg.generic #reduce ins(%w : !scores) outs(%l10 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %l = linalg.generic #rowsOfHead ins(%l1, %sinks : !rows, !sinks) outs(%empty_rows : !rows) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.addf %x, %y : f32  linalg.yield %z : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
