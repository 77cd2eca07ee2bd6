// An exponential over itself that is no softmax over one key, or not the weights of one.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REASON
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not="= attn.attention"
// RUN: %check_functions %s

!query = tensor<6x1x4xf32>
!key = tensor<6x4x1xf32>
!value = tensor<6x1x8xf32>
!scores = tensor<6x1x1xf32>
!out = tensor<6x1x8xf32>

// CHECK-LABEL: @subtracted_argument
// REASON: not fused: what is subtracted is not the maximum of the same scores over the key axis
func.func @subtracted_argument(%q: !query, %k: !key, %v: !value, %y: !scores) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %y : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// CHECK-LABEL: @nothing_subtracted
// REASON: not fused: no maximum is subtracted
func.func @nothing_subtracted(%q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %e = math.exp %x : !scores
  %w = arith.divf %e, %e : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// The row of weights has one key, the values have seven: the weight is that of each.
// CHECK-LABEL: @one_weight_for_seven_values
// REASON: not fused: the softmax is over one key, the product with the values over more
func.func @one_weight_for_seven_values(%q: !query, %k: !key, %v: tensor<6x7x8xf32>) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %empty = tensor.empty() : tensor<6x1x7xf32>
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %each = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, 0)>, affine_map<(h, i, j) -> (h, i, j)>],
                          iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : !scores) outs(%empty : tensor<6x1x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6x1x7xf32>
  %out = linalg.batch_matmul ins(%each, %v : tensor<6x1x7xf32>, tensor<6x7x8xf32>) outs(%outZeros : !out) -> !out
  return %out : !out
}

// CHECK-LABEL: @scale_after_softmax
// REASON: not fused: 'arith.mulf' stands between the softmax and the product with the values
func.func @scale_after_softmax(%q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %half = arith.constant dense<0.5> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %h = arith.mulf %w, %half : !scores
  %out = linalg.batch_matmul ins(%h, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// CHECK-LABEL: @no_products
// REASON: not fused: the scores hold no product of queries and keys
func.func @no_products(%x: !scores, %v: !value) -> !out {
  %outZeros = arith.constant dense<0.0> : !out
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// No quotient of one exponential.
// CHECK-LABEL: @another_exponential
// REASON-NOT: fused
func.func @another_exponential(%q: !query, %k: !key, %v: !value, %y: !scores) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %d2 = arith.subf %y, %y : !scores
  %e2 = math.exp %d2 : !scores
  %w = arith.divf %e, %e2 : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}
