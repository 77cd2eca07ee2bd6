// Sinks beside keys of which only the run knows how many there are.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<3x5x4xf32>
!key = tensor<3x?x4xf32>
!value = tensor<3x?x8xf32>
!scores = tensor<3x5x?xf32>
!rows = tensor<3x5xf32>
!out = tensor<3x5x8xf32>
!joint = tensor<3x5x?xf32>
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

// OPTIONS @sink_behind: --shape=1:3x7x4 --shape=2:3x7x8
// OPTIONS @sink_behind: --shape=1:3x1x4 --shape=2:3x1x8
// OPTIONS @sink_behind: --shape=1:3x0x4 --shape=2:3x0x8
// CHECK-LABEL: @sink_behind
// CHECK: attn.attention
func.func @sink_behind(%q: !query, %k: !key, %v: !value, %sinks: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : !key
  %e = tensor.empty(%n) : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %c_more = arith.constant 1 : index
  %n1 = arith.addi %n, %c_more : index
  %column_empty = tensor.empty() : !column
  %column = linalg.generic #spread ins(%sinks : !sinks) outs(%column_empty : !column) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !column
  %joined = tensor.concat dim(2) %scaled, %column : (!scores, !column) -> !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty(%n1) : !joint
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
  %p = tensor.extract_slice %all[0, 0, 0] [3, 5, %n] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// OPTIONS @sink_in_front: --shape=1:3x7x4 --shape=2:3x7x8
// OPTIONS @sink_in_front: --shape=1:3x1x4 --shape=2:3x1x8
// OPTIONS @sink_in_front: --shape=1:3x0x4 --shape=2:3x0x8
// CHECK-LABEL: @sink_in_front
// CHECK: attn.attention
func.func @sink_in_front(%q: !query, %k: !key, %v: !value, %sinks: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : !key
  %e = tensor.empty(%n) : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %c_more = arith.constant 1 : index
  %n1 = arith.addi %n, %c_more : index
  %column_empty = tensor.empty() : !column
  %column = linalg.generic #spread ins(%sinks : !sinks) outs(%column_empty : !column) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !column
  %joined = tensor.concat dim(2) %column, %scaled : (!column, !scores) -> !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty(%n1) : !joint
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
  %p = tensor.extract_slice %all[0, 0, 1] [3, 5, %n] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// What exporters make of a concatenation.
// OPTIONS @sink_inserted: --shape=1:3x7x4 --shape=2:3x7x8
// OPTIONS @sink_inserted: --shape=1:3x1x4 --shape=2:3x1x8
// OPTIONS @sink_inserted: --shape=1:3x0x4 --shape=2:3x0x8
// CHECK-LABEL: @sink_inserted
// CHECK: attn.attention
func.func @sink_inserted(%q: !query, %k: !key, %v: !value, %sinks: !sinks) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : !key
  %e = tensor.empty(%n) : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %c_more = arith.constant 1 : index
  %n1 = arith.addi %n, %c_more : index
  %column_empty = tensor.empty() : !column
  %column = linalg.generic #spread ins(%sinks : !sinks) outs(%column_empty : !column) {
  ^bb0(%x: f32, %o: f32): linalg.yield %x : f32
  } -> !column
  %e0 = tensor.empty(%n1) : !joint
  %j0 = tensor.insert_slice %scaled into %e0[0, 0, 0] [3, 5, %n] [1, 1, 1] : !scores into !joint
  %joined = tensor.insert_slice %column into %j0[0, 0, %n] [3, 5, 1] [1, 1, 1] : !column into !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty(%n1) : !joint
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
  %p = tensor.extract_slice %all[0, 0, 0] [3, 5, %n] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// A column of zeros: one is added to the denominator.
// OPTIONS @sink_of_zero_padded: --shape=1:3x7x4 --shape=2:3x7x8
// OPTIONS @sink_of_zero_padded: --shape=1:3x1x4 --shape=2:3x1x8
// OPTIONS @sink_of_zero_padded: --shape=1:3x0x4 --shape=2:3x0x8
// CHECK-LABEL: @sink_of_zero_padded
// CHECK: attn.attention
func.func @sink_of_zero_padded(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : !key
  %e = tensor.empty(%n) : !scores
  %empty_rows = tensor.empty() : !rows
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %c_more = arith.constant 1 : index
  %n1 = arith.addi %n, %c_more : index
  %joined = tensor.pad %scaled low[0, 0, 1] high[0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index): tensor.yield %zero : f32
  } : !scores to !joint
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%joined : !joint) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %ej = tensor.empty(%n1) : !joint
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
  %p = tensor.extract_slice %all[0, 0, 1] [3, 5, %n] [1, 1, 1] : !joint to !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
