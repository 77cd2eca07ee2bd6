// Attention in the bodies of branches and loops; what it replaces may stand in front of a branch, but not of a loop.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.fused
// RUN: %check_functions %s

!query = tensor<6x5x4xf32>
!key = tensor<6x4x7xf32>
!value = tensor<6x7x8xf32>
!scores = tensor<6x5x7xf32>
!out = tensor<6x5x8xf32>

// OPTIONS @in_a_branch: --scalar=0:1
// OPTIONS @in_a_branch: --scalar=0:0
// CHECK-LABEL: @in_a_branch
// CHECK: scf.if
// CHECK-NOT: softmax
// CHECK: attn.attention
// REMARK: fused into attention
func.func @in_a_branch(%c: i1, %q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %r = scf.if %c -> !out {
    %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
    %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
    %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
    scf.yield %out : !out
  } else {
    scf.yield %outZeros : !out
  }
  return %r : !out
}

// The product of queries and keys is only for the one branch.
// OPTIONS @scores_in_front_of_a_branch: --scalar=0:1
// OPTIONS @scores_in_front_of_a_branch: --scalar=0:0
// CHECK-LABEL: @scores_in_front_of_a_branch
// CHECK-NOT: linalg.batch_matmul
// CHECK: scf.if
// CHECK: attn.attention
// CHECK-NOT: linalg.batch_matmul
// REMARK: fused into attention
func.func @scores_in_front_of_a_branch(%c: i1, %q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %r = scf.if %c -> !out {
    %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
    %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
    scf.yield %out : !out
  } else {
    scf.yield %outZeros : !out
  }
  return %r : !out
}

// OPTIONS @scores_for_both_branches: --scalar=0:1
// CHECK-LABEL: @scores_for_both_branches
// CHECK-NOT: attn.attention
// REMARK: not fused: the scores have another user, 'scf.yield'
func.func @scores_for_both_branches(%c: i1, %q: !query, %k: !key, %v: tensor<6x7x7xf32>) -> !scores {
  %zeros = arith.constant dense<0.0> : !scores
  %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %r = scf.if %c -> !scores {
    %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
    %out = linalg.batch_matmul ins(%w, %v : !scores, tensor<6x7x7xf32>) outs(%zeros : !scores) -> !scores
    scf.yield %out : !scores
  } else {
    scf.yield %s : !scores
  }
  return %r : !scores
}

// OPTIONS @weights_in_front_of_a_branch: --scalar=0:1
// CHECK-LABEL: @weights_in_front_of_a_branch
// CHECK-NOT: attn.attention
// REMARK: not fused: the weights have another user, outside of the branch or loop that they are multiplied in
func.func @weights_in_front_of_a_branch(%c: i1, %q: !query, %k: !key, %v: !value) -> (!out, !scores) {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
  %r = scf.if %c -> !out {
    %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
    scf.yield %out : !out
  } else {
    scf.yield %outZeros : !out
  }
  return %r, %w : !out, !scores
}

// Layers in a loop: the queries of one are the result of the one in front. The keys are transposed in front of the loop.
// CHECK-LABEL: @in_a_loop
// CHECK: scf.for
// CHECK: attn.attention
// CHECK-NOT: softmax
// CHECK: scf.yield
// REMARK: fused into attention
func.func @in_a_loop(%q: !query, %k: tensor<6x7x4xf32>, %v: tensor<6x7x4xf32>) -> !query {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !query
  %empty = tensor.empty() : !key
  %kt = linalg.transpose ins(%k : tensor<6x7x4xf32>) outs(%empty : !key) permutation = [0, 2, 1]
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%x = %q) -> !query {
    %s = linalg.batch_matmul ins(%x, %kt : !query, !key) outs(%zeros : !scores) -> !scores
    %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
    %out = linalg.batch_matmul ins(%w, %v : !scores, tensor<6x7x4xf32>) outs(%outZeros : !query) -> !query
    scf.yield %out : !query
  }
  return %r : !query
}

// It would be computed three times.
// CHECK-LABEL: @scores_in_front_of_a_loop
// CHECK: linalg.batch_matmul
// CHECK: scf.for
// CHECK-NOT: attn.attention
// CHECK: scf.yield
// REMARK: not fused: the scores are computed outside of the loop that uses them
func.func @scores_in_front_of_a_loop(%q: !query, %k: !key, %v: !value) -> !out {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%x = %outZeros) -> !out {
    %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
    %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
    %sum = arith.addf %x, %out : !out
    scf.yield %sum : !out
  }
  return %r : !out
}

// A branch in a loop: the scores are of the loop's body.
// CHECK-LABEL: @branch_in_a_loop
// CHECK: scf.for
// CHECK-NOT: linalg.batch_matmul
// CHECK: scf.if
// CHECK: attn.attention
// REMARK: fused into attention
func.func @branch_in_a_loop(%q: !query, %k: !key, %v: !value) -> !out {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%x = %outZeros) -> !out {
    %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
    %isFirst = arith.cmpi eq, %n, %c0 : index
    %y = scf.if %isFirst -> !out {
      %w = linalg.softmax dimension(2) ins(%s : !scores) outs(%zeros : !scores) -> !scores
      %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
      scf.yield %out : !out
    } else {
      scf.yield %x : !out
    }
    scf.yield %y : !out
  }
  return %r : !out
}

// Sizes that the run knows, asked for inside: a softmax has those of its input.
// OPTIONS @dynamic_sizes_in_a_branch: --scalar=0:1 --shape=1:5x4 --shape=2:7x4 --shape=3:7x8 --out-shape=0:5x8
// CHECK-LABEL: @dynamic_sizes_in_a_branch
// CHECK: scf.if
// CHECK: attn.attention
// CHECK-NOT: softmax
// CHECK: scf.yield
// REMARK: fused into attention
func.func @dynamic_sizes_in_a_branch(%c: i1, %q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c0 : tensor<?x4xf32>
  %m = tensor.dim %k, %c0 : tensor<?x4xf32>
  %outEmpty = tensor.empty(%n) : tensor<?x8xf32>
  %outZeros = linalg.fill ins(%zero : f32) outs(%outEmpty : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = scf.if %c -> tensor<?x8xf32> {
    %e = tensor.empty(%n, %m) : tensor<?x?xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>,
                                        affine_map<(i, j, d) -> (i, j)>]
        ins(%q, %k : tensor<?x4xf32>, tensor<?x4xf32>) outs(%s0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %w = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %rows = tensor.dim %w, %c0 : tensor<?x?xf32>
    %keys = tensor.dim %w, %c1 : tensor<?x?xf32>
    %values = tensor.extract_slice %v[0, 0] [%keys, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %o = tensor.empty(%rows) : tensor<?x8xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
    %out = linalg.matmul ins(%w, %values : tensor<?x?xf32>, tensor<?x8xf32>) outs(%o0 : tensor<?x8xf32>)
        -> tensor<?x8xf32>
    scf.yield %out : tensor<?x8xf32>
  } else {
    scf.yield %outZeros : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
