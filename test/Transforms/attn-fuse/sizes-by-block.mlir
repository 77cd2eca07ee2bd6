// What an op requires of sizes is known where it runs: in its block and in the regions of that block's ops.
// RUN: attn-opt %s --attn-fuse --cse | FileCheck %s
// RUN: %check_functions %s

!query = tensor<5x4xf32>
!key = tensor<?x4xf32>
!value = tensor<?x8xf32>
!scores = tensor<5x?xf32>
!out = tensor<5x8xf32>

#add = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}

// The branch adds biases of the first keys to numbers of all keys, and is taken where that is the same: biases end
// there, and keys behind them are dropped.
// OPTIONS @required_by_a_branch: --shape=1:7x4 --shape=2:7x8 --shape=3:3 --scalar=4:0 --out-shape=1:3
// OPTIONS @required_by_a_branch: --shape=1:7x4 --shape=2:7x8 --shape=3:7 --scalar=4:1 --out-shape=1:7
// CHECK-LABEL: @required_by_a_branch
// CHECK: %[[KEPT:.+]] = tensor.dim %arg3
// CHECK: attn.attention
// CHECK: where(%{{.+}}, %{{.+}}, %{{.+}}, %[[J:.+]]) {
// CHECK: arith.cmpi slt, %[[J]], %[[KEPT]]
func.func @required_by_a_branch(%q: !query, %k: !key, %v: !value, %bias: tensor<?xf32>, %adds: i1)
    -> (!out, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %n = tensor.dim %k, %c0 : !key
  %m = tensor.dim %bias, %c0 : tensor<?xf32>
  %sums = scf.if %adds -> (tensor<?xf32>) {
    %keys = tensor.empty(%n) : tensor<?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%keys : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.add ins(%bias, %zeros : tensor<?xf32>, tensor<?xf32>) outs(%keys : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %sum : tensor<?xf32>
  } else {
    scf.yield %bias : tensor<?xf32>
  }
  %dropped = arith.subi %n, %m : index
  %padded = tensor.pad %bias low[0] high[%dropped] {
  ^bb0(%j: index): tensor.yield %negInf : f32
  } : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>,
                                      affine_map<(i, j, d) -> (i, j)>]
    ins(%q, %k : !query, !key) outs(%s0 : !scores) -> !scores
  %biased = linalg.generic #add ins(%s, %padded : !scores, tensor<?xf32>) outs(%e : !scores) {
  ^bb0(%x: f32, %b: f32, %o: f32): %y = arith.addf %x, %b : f32  linalg.yield %y : f32
  } -> !scores
  %p = linalg.softmax dimension(1) ins(%biased : !scores) outs(%e : !scores) -> !scores
  %out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%out : !out) -> !out
  %o = linalg.matmul ins(%p, %v : !scores, !value) outs(%o0 : !out) -> !out
  return %o, %sums : !out, tensor<?xf32>
}

// The loop's argument has as many elements as there are keys: outside, that is the number of keys.
// OPTIONS @required_by_a_loop: --shape=1:7x4 --shape=2:7x8 --shape=3:7 --shape=4:7 --out-shape=1:7
// CHECK-LABEL: @required_by_a_loop
// CHECK: attn.attention
func.func @required_by_a_loop(%q: !query, %k: !key, %v: !value, %x: tensor<?xf32>, %bias: tensor<?xf32>)
    -> (!out, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %last = scf.for %t = %c0 to %c3 step %c1 iter_args(%so_far = %x) -> tensor<?xf32> {
    %next = linalg.add ins(%so_far, %bias : tensor<?xf32>, tensor<?xf32>) outs(%so_far : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  %n = tensor.dim %bias, %c0 : tensor<?xf32>
  %first = arith.subi %n, %c3 : index
  %e = tensor.empty(%n) : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>,
                                      affine_map<(i, j, d) -> (i, j)>]
    ins(%q, %k : !query, !key) outs(%s0 : !scores) -> !scores
  %biased = linalg.generic #add ins(%s, %bias : !scores, tensor<?xf32>) outs(%e : !scores) {
  ^bb0(%y: f32, %b: f32, %o: f32):
    %z = arith.addf %y, %b : f32
    %j = linalg.index 1 : index
    %keep = arith.cmpi sge, %j, %first : index
    %masked = arith.select %keep, %z, %negInf : f32
    linalg.yield %masked : f32
  } -> !scores
  %p = linalg.softmax dimension(1) ins(%biased : !scores) outs(%e : !scores) -> !scores
  %out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%out : !out) -> !out
  %o = linalg.matmul ins(%p, %v : !scores, !value) outs(%o0 : !out) -> !out
  return %o, %last : !out, tensor<?xf32>
}
