// Attention over one key: the maximum and the sum over it are folded away, and an exponential over itself is left.
// RUN: attn-opt %s --attn-raise --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<6x1x4xf32>
!key = tensor<6x4x1xf32>
!value = tensor<6x1x8xf32>
!scores = tensor<6x1x1xf32>
!out = tensor<6x1x8xf32>

// What tosa becomes: its reductions over an axis of size 1 fold.
// CHECK-LABEL: @tosa
// CHECK: attn.attention
func.func @tosa(%q: !query, %k: !key, %v: !value) -> !out {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.matmul %q, %k, %z, %z : (!query, !key, tensor<1xf32>, tensor<1xf32>) -> !scores
  %m = tosa.reduce_max %s {axis = 2 : i32} : (!scores) -> !scores
  %d = tosa.sub %s, %m : (!scores, !scores) -> !scores
  %e = tosa.exp %d : (!scores) -> !scores
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (!scores) -> !scores
  %r = tosa.reciprocal %l : (!scores) -> !scores
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tosa.mul %e, %r, %shift : (!scores, !scores, tensor<1xi8>) -> !scores
  %out = tosa.matmul %w, %v, %z, %z : (!scores, !value, tensor<1xf32>, tensor<1xf32>) -> !out
  return %out : !out
}

// CHECK-LABEL: @quotient_with_scale
// CHECK: attn.attention {{.*}} scale(%{{.*}})
func.func @quotient_with_scale(%q: !query, %k: !key, %v: !value) -> !out {
  %half = arith.constant dense<0.5> : !scores
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %s = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %x = arith.mulf %s, %half : !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// CHECK-LABEL: @log_sum_exp
// CHECK: attn.attention
func.func @log_sum_exp(%q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %log = math.log %e : !scores
  %lse = arith.addf %x, %log : !scores
  %shifted = arith.subf %x, %lse : !scores
  %w = math.exp %shifted : !scores
  %out = linalg.batch_matmul ins(%w, %v : !scores, !value) outs(%outZeros : !out) -> !out
  return %out : !out
}

// The product with the values is no sum any more, either.
// CHECK-LABEL: @product_folded
// CHECK: attn.attention
func.func @product_folded(%q: !query, %k: !key, %v: !value) -> !out {
  %zeros = arith.constant dense<0.0> : !scores
  %empty = tensor.empty() : !out
  %x = linalg.batch_matmul ins(%q, %k : !query, !key) outs(%zeros : !scores) -> !scores
  %d = arith.subf %x, %x : !scores
  %e = math.exp %d : !scores
  %w = arith.divf %e, %e : !scores
  %out = linalg.generic {indexing_maps = [affine_map<(h, i, e) -> (h, i, 0)>, affine_map<(h, i, e) -> (h, i, e)>,
                                          affine_map<(h, i, e) -> (h, i, e)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %v : !scores, !value) outs(%empty : !out) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.mulf %a, %b : f32
    linalg.yield %y : f32
  } -> !out
  return %out : !out
}

// The keys come first in the product of the scores, and three query heads share each of two.
// CHECK-LABEL: @grouped_heads_keys_first
// CHECK: attn.attention
func.func @grouped_heads_keys_first(%q: tensor<2x3x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x8xf32>)
    -> tensor<2x3x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<2x3xf32>
  %outZeros = arith.constant dense<0.0> : tensor<2x3x8xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, g, d) -> (h, d)>, affine_map<(h, g, d) -> (h, g, d)>,
                                        affine_map<(h, g, d) -> (h, g)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%k, %q : tensor<2x4xf32>, tensor<2x3x4xf32>) outs(%zeros : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %ab = arith.mulf %a, %b : f32
    %sum = arith.addf %acc, %ab : f32
    linalg.yield %sum : f32
  } -> tensor<2x3xf32>
  %d = arith.subf %x, %x : tensor<2x3xf32>
  %e = math.exp %d : tensor<2x3xf32>
  %w = arith.divf %e, %e : tensor<2x3xf32>
  %row = tensor.expand_shape %w [[0], [1, 2]] output_shape [2, 3, 1] : tensor<2x3xf32> into tensor<2x3x1xf32>
  %values = tensor.expand_shape %v [[0], [1, 2]] output_shape [2, 1, 8] : tensor<2x8xf32> into tensor<2x1x8xf32>
  %out = linalg.batch_matmul ins(%row, %values : tensor<2x3x1xf32>, tensor<2x1x8xf32>)
      outs(%outZeros : tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// In one body, and rounded to bf16 there.
// CHECK-LABEL: @weights_in_bf16
// CHECK: attn.attention
func.func @weights_in_bf16(%q: tensor<6x1x4xbf16>, %k: tensor<6x4x1xbf16>, %v: tensor<6x1x8xbf16>)
    -> tensor<6x1x8xf32> {
  %zeros = arith.constant dense<0.0> : !scores
  %outZeros = arith.constant dense<0.0> : tensor<6x1x8xf32>
  %empty = tensor.empty() : tensor<6x1x1xbf16>
  %x = linalg.batch_matmul ins(%q, %k : tensor<6x1x4xbf16>, tensor<6x4x1xbf16>) outs(%zeros : !scores) -> !scores
  %w = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : !scores) outs(%empty : tensor<6x1x1xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %d = arith.subf %a, %a : f32
    %e = math.exp %d : f32
    %p = arith.divf %e, %e : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<6x1x1xbf16>
  %out = linalg.batch_matmul ins(%w, %v : tensor<6x1x1xbf16>, tensor<6x1x8xbf16>)
      outs(%outZeros : tensor<6x1x8xf32>) -> tensor<6x1x8xf32>
  return %out : tensor<6x1x8xf32>
}
