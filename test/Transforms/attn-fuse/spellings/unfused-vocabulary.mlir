// The dialect's own unfused ops, alone and beside linalg: attn.matmul, attn.mask, attn.softmax.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=attn.matmul --implicit-check-not=attn.softmax \
// RUN:   --implicit-check-not=attn.mask
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!out = tensor<2x3x5x8xf32>

// CHECK-LABEL: @matmuls_around_softmax
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(%{{.+}}) : tensor<2x3x5x4xf32>
func.func @matmuls_around_softmax(%q: !query, %k: !key, %v: !value) -> !out {
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : !query, !key outs(%e : !scores) -> !scores
  %w = attn.softmax %s axis(3) : !scores outs(%e : !scores) -> !scores
  %empty = tensor.empty() : !out
  %out = attn.matmul %w, %v : !scores, !value outs(%empty : !out) -> !out
  return %out : !out
}

// CHECK-LABEL: @named_mask
// CHECK: attn.attention
// CHECK-SAME: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: arith.cmpi sle, %[[J]], %[[I]] : index
func.func @named_mask(%q: !query, %k: !key, %v: !value) -> !out {
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : !query, !key outs(%e : !scores) -> !scores
  %m = attn.mask %s masks(causal<top_left>) : !scores outs(%e : !scores) -> !scores
  %w = attn.softmax %m axis(3) : !scores outs(%e : !scores) -> !scores
  %empty = tensor.empty() : !out
  %out = attn.matmul %w, %v : !scores, !value outs(%empty : !out) -> !out
  return %out : !out
}

// A key that is not transposed, a mask region that reads a tensor, a scale by arith on tensors.
// CHECK-LABEL: @mask_region_and_scale
// CHECK: attn.attention
// CHECK-SAME: layout(key(b, h, d, j))
// CHECK-SAME: where(%[[B:.+]], %{{.+}}, %{{.+}}, %[[J:.+]]) {
// CHECK: tensor.extract %{{.+}}[%[[B]], %[[J]]]
func.func @mask_region_and_scale(%q: !query, %k: tensor<2x3x4x7xf32>, %v: !value, %keep: tensor<2x7xi1>) -> !out {
  %scale = arith.constant dense<0.3> : !scores
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k : !query, tensor<2x3x4x7xf32> outs(%e : !scores) -> !scores
  %scaled = arith.mulf %s, %scale : !scores
  %m = attn.mask %scaled where(%b, %h, %i, %j) {
    %kept = tensor.extract %keep[%b, %j] : tensor<2x7xi1>
    attn.yield %kept : i1
  } : !scores outs(%e : !scores) -> !scores
  %w = attn.softmax %m axis(3) : !scores outs(%e : !scores) -> !scores
  %empty = tensor.empty() : !out
  %out = attn.matmul %w, %v : !scores, !value outs(%empty : !out) -> !out
  return %out : !out
}

// 16-bit operands, products in f32.
// CHECK-LABEL: @bf16_products
// CHECK: attn.attention {{.*}} tensor<2x3x5x4xbf16>
func.func @bf16_products(%q: tensor<2x3x5x4xbf16>, %k: tensor<2x3x7x4xbf16>, %v: tensor<2x3x7x8xbf16>) -> !out {
  %e = tensor.empty() : !scores
  %s = attn.matmul %q, %k transpose_rhs : tensor<2x3x5x4xbf16>, tensor<2x3x7x4xbf16> outs(%e : !scores) -> !scores
  %w = attn.softmax %s axis(3) : !scores outs(%e : !scores) -> !scores
  %n = arith.truncf %w : !scores to tensor<2x3x5x7xbf16>
  %empty = tensor.empty() : !out
  %out = attn.matmul %n, %v : tensor<2x3x5x7xbf16>, tensor<2x3x7x8xbf16> outs(%empty : !out) -> !out
  return %out : !out
}
