// Parts of a mask, a bias or sinks that have no elements in this call: fusion reads the parts in place of the whole, each
// where the whole has it, and of an empty part nothing.
// DEFINE: %{target} = x86-64-v3
// DEFINE: %{run} = attn-run %s --target=%{target} --check
// RUN: %{run} --function=inserted --shape=3:2x3x5 --shape=4:0x5 | FileCheck %s
// RUN: %{run} --function=inserted --shape=3:2x3x5 --shape=4:1x0 | FileCheck %s
// RUN: %{run} --function=inserted --shape=3:2x3x5 --shape=4:1x5 | FileCheck %s
// RUN: %{run} --function=inserted --shape=3:2x3x5 --shape=4:0x5 --check-bounds | FileCheck %s
// RUN: %{run} --function=padded --shape=3:0 --scalar=4:5 | FileCheck %s
// RUN: %{run} --function=padded --shape=3:5 --scalar=4:0 --check-bounds | FileCheck %s
// RUN: %{run} --function=joined --shape=3:0 --shape=4:5 --shape=5:0 | FileCheck %s
// RUN: %{run} --function=joined --shape=3:2 --shape=4:0 --shape=5:3 --check-bounds | FileCheck %s
// RUN: %{run} --function=finite --shape=3:0 --shape=4:300 --check-bounds | FileCheck %s
// RUN: %{run} --function=finite --shape=3:120 --shape=4:180 | FileCheck %s
// RUN: %{run} --function=sinks --shape=3:0 --shape=4:2 --check-bounds | FileCheck %s
// RUN: %{run} --function=sinks --shape=3:1 --shape=4:1 | FileCheck %s
// REDEFINE: %{target} = emulator:sm_80
// RUN: %{run} --function=inserted --shape=3:2x3x5 --shape=4:0x5 | FileCheck %s
// RUN: %{run} --function=joined --shape=3:2 --shape=4:0 --shape=5:3 | FileCheck %s
// RUN: %{run} --function=sinks --shape=3:0 --shape=4:2 | FileCheck %s
// REDEFINE: %{target} = emulator:sm_90a
// RUN: %{run} --function=padded --shape=3:0 --scalar=4:5 | FileCheck %s
// RUN: %{run} --function=finite --shape=3:0 --shape=4:300 | FileCheck %s
// RUN: attn-opt %s --attn-fuse=verify | FileCheck %s --check-prefix=FUSED
// RUN: attn-opt %s --attn-compile="to=tiled target=x86-64-v3" | FileCheck %s --check-prefix=TILED
// CHECK: check: PASS

!q = tensor<2x3x4xf32>
!k = tensor<2x5x4xf32>
!v = tensor<2x5x6xf32>
!scores = tensor<2x3x5xf32>
!many_k = tensor<2x300x4xf32>
!many_v = tensor<2x300x6xf32>
!many_scores = tensor<2x3x300xf32>
!rows = tensor<2x3xf32>
!out = tensor<2x3x6xf32>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
#key = affine_map<(h, i, j) -> (j)>
#elementwise = {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
#by_key = {indexing_maps = [#id, #key, #id], iterator_types = ["parallel", "parallel", "parallel"]}
#by_row = {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
#by_head = {indexing_maps = [affine_map<(h, i) -> (h, i)>, affine_map<(h, i) -> (h)>, affine_map<(h, i) -> (h, i)>],
            iterator_types = ["parallel", "parallel"]}

// A mask whose rows are neighbours in memory stays one.
// FUSED-LABEL: @inserted
// FUSED: scf.if
// FUSED: attn.attention
// TILED-LABEL: @inserted
// TILED: scf.if {{.*}} -> (memref<?x?xi1, strided<[?, 1], offset: ?>>)
func.func @inserted(%q: !q, %k: !k, %v: !v, %m: tensor<?x?x?xi1>, %part: tensor<?x?xi1>) -> !out {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %part, %c0 : tensor<?x?xi1>
  %o = tensor.dim %part, %c1 : tensor<?x?xi1>
  %mask = tensor.insert_slice %part into %m[1, 2, 0] [1, %n, %o] [1, 1, 1] : tensor<?x?xi1> into tensor<?x?x?xi1>
  %out = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : !q, !k outs(%e : !scores) -> !scores
  %t = linalg.generic #elementwise ins(%s, %mask : !scores, tensor<?x?x?xi1>) outs(%e : !scores) {
  ^bb0(%x: f32, %b: i1, %o1: f32):
    %y = arith.select %b, %x, %out : f32
    linalg.yield %y : f32
  } -> !scores
  %p = attn.softmax %t axis(2) : !scores outs(%e : !scores) -> !scores
  %f = tensor.empty() : !out
  %r = attn.matmul %p, %v : !scores, !v outs(%f : !out) -> !out
  return %r : !out
}

func.func private @biased(%q: !q, %k: !k, %v: !v, %bias: tensor<?xf32>) -> !out {
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : !q, !k outs(%e : !scores) -> !scores
  %t = linalg.generic #by_key ins(%s, %bias : !scores, tensor<?xf32>) outs(%e : !scores) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %y = arith.addf %x, %b : f32
    linalg.yield %y : f32
  } -> !scores
  %p = attn.softmax %t axis(2) : !scores outs(%e : !scores) -> !scores
  %f = tensor.empty() : !out
  %r = attn.matmul %p, %v : !scores, !v outs(%f : !out) -> !out
  return %r : !out
}

func.func @padded(%q: !q, %k: !k, %v: !v, %part: tensor<?xf32>, %low: index) -> !out {
  %one = arith.constant 1.0 : f32
  %bias = tensor.pad %part low[%low] high[0] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<?xf32> to tensor<?xf32>
  %r = func.call @biased(%q, %k, %v, %bias) : (!q, !k, !v, tensor<?xf32>) -> !out
  return %r : !out
}

func.func @joined(%q: !q, %k: !k, %v: !v, %a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> !out {
  %bias = tensor.concat dim(0) %a, %b, %c : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = func.call @biased(%q, %k, %v, %bias) : (!q, !k, !v, tensor<?xf32>) -> !out
  return %r : !out
}

// The rows that keep a key are found in front of the attention, where nothing is clamped.
// FUSED-LABEL: @finite
// FUSED: linalg.generic {{.*}} iterator_types = ["reduction"]
// FUSED: attn.attention
func.func @finite(%q: !q, %k: !many_k, %v: !many_v, %a: tensor<?xi1>, %b: tensor<?xi1>) -> !out {
  %mask = tensor.concat dim(0) %a, %b : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
  %out = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !many_scores
  %s = attn.matmul %q, %k transpose_rhs : !q, !many_k outs(%e : !many_scores) -> !many_scores
  %t = linalg.generic #by_key ins(%s, %mask : !many_scores, tensor<?xi1>) outs(%e : !many_scores) {
  ^bb0(%x: f32, %b1: i1, %o: f32):
    %y = arith.select %b1, %x, %out : f32
    linalg.yield %y : f32
  } -> !many_scores
  %p = attn.softmax %t axis(2) : !many_scores outs(%e : !many_scores) -> !many_scores
  %f = tensor.empty() : !out
  %r = attn.matmul %p, %v : !many_scores, !many_v outs(%f : !out) -> !out
  return %r : !out
}

// FUSED-LABEL: @sinks
// FUSED: linalg.generic
// FUSED: attn.attention {{.*}} sink(
func.func @sinks(%q: !q, %k: !k, %v: !v, %a: tensor<?xf32>, %b: tensor<?xf32>) -> !out {
  %inf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %sinks = tensor.concat dim(0) %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : !q, !k outs(%e : !scores) -> !scores
  %r0 = tensor.empty() : !rows
  %m0 = linalg.fill ins(%inf : f32) outs(%r0 : !rows) -> !rows
  %m1 = linalg.reduce { arith.maximumf } ins(%s : !scores) outs(%m0 : !rows) dimensions = [2]
  %m = linalg.generic #by_head ins(%m1, %sinks : !rows, tensor<?xf32>) outs(%r0 : !rows) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> !rows
  %p = linalg.generic #by_row ins(%s, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %z = math.exp %d : f32
    linalg.yield %z : f32
  } -> !scores
  %es = linalg.generic #by_head ins(%m, %sinks : !rows, tensor<?xf32>) outs(%r0 : !rows) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %y, %x : f32
    %z = math.exp %d : f32
    linalg.yield %z : f32
  } -> !rows
  %l0 = linalg.fill ins(%zero : f32) outs(%r0 : !rows) -> !rows
  %l1 = linalg.reduce { arith.addf } ins(%p : !scores) outs(%l0 : !rows) dimensions = [2]
  %l = linalg.add ins(%l1, %es : !rows, !rows) outs(%r0 : !rows) -> !rows
  %w = linalg.generic #by_row ins(%p, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.divf %x, %y : f32
    linalg.yield %z : f32
  } -> !scores
  %f = tensor.empty() : !out
  %r = attn.matmul %w, %v : !scores, !v outs(%f : !out) -> !out
  return %r : !out
}
