// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise | FileCheck %s
// RUN: attn-run %s --function=score_function --check

#query = affine_map<(b, i, e, d, j) -> (b, i, d)>
#key = affine_map<(b, i, e, d, j) -> (b, j, d)>
#value = affine_map<(b, i, e, d, j) -> (b, j, e)>
#scale = affine_map<(b, i, e, d, j) -> ()>
#mask = affine_map<(b, i, e, d, j) -> (b, i, j)>
#out = affine_map<(b, i, e, d, j) -> (b, i, e)>

// CHECK-LABEL: func @identity_and_boolean_mask
// CHECK-SAME: %[[S:[^:]+]]: f32
// CHECK: attn.attention {{.*}} scale(%[[S]])
// CHECK-SAME: layout(query(h, i, d), key(h, j, d), value(h, j, e), out(h, i, e)) masks(boolean(
// CHECK-NOT: score(
func.func @identity_and_boolean_mask(%q: tensor<6x7x4xf32>, %k: tensor<6x9x4xf32>, %v: tensor<6x9x5xf32>, %s: f32,
                                     %m: tensor<6x7x9xi1>, %o: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  %r = "iree_linalg_ext.attention"(%q, %k, %v, %s, %m, %o)
      <{indexing_maps = [#query, #key, #value, #scale, #mask, #out]}> ({
  ^bb0(%x: f32):
    "iree_linalg_ext.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7x4xf32>, tensor<6x9x4xf32>, tensor<6x9x5xf32>, f32, tensor<6x7x9xi1>, tensor<6x7x5xf32>)
      -> tensor<6x7x5xf32>
  return %r : tensor<6x7x5xf32>
}

// The mask is added after the function.
// CHECK-LABEL: func @score_function
// CHECK-SAME: %[[M:[^:]+]]: tensor<6x7x9xf32>
// CHECK: attn.attention
// CHECK: score(%[[X:.+]], %[[B:.+]], %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[T:.+]] = math.tanh %[[X]] : f32
// CHECK-NEXT: %[[A:.+]] = tensor.extract %[[M]][%[[H]], %[[I]], %[[J]]] : tensor<6x7x9xf32>
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[T]], %[[A]] : f32
// CHECK-NEXT: attn.yield %[[SUM]] : f32
func.func @score_function(%q: tensor<6x7x4xf32>, %k: tensor<6x9x4xf32>, %v: tensor<6x9x5xf32>,
                          %m: tensor<6x7x9xf32>, %o: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  %s = arith.constant 0.75 : f32
  %r = "iree_linalg_ext.attention"(%q, %k, %v, %s, %m, %o)
      <{indexing_maps = [#query, #key, #value, #scale, #mask, #out]}> ({
  ^bb0(%x: f32):
    %t = math.tanh %x : f32
    "iree_linalg_ext.yield"(%t) : (f32) -> ()
  }) : (tensor<6x7x4xf32>, tensor<6x9x4xf32>, tensor<6x9x5xf32>, f32, tensor<6x7x9xf32>, tensor<6x7x5xf32>)
      -> tensor<6x7x5xf32>
  return %r : tensor<6x7x5xf32>
}

// Batch and heads, a transposed key, BSHD query, f16 scale, a mask over (b, i, j) that skips the heads.
// CHECK-LABEL: func @layouts
// CHECK-SAME: %[[S:[^:]+]]: f16, %[[M:[^:]+]]: tensor<2x7x9xi1>
// CHECK: %[[SCALE:.+]] = arith.extf %[[S]] : f16 to f32
// CHECK: attn.attention {{.*}} scale(%[[SCALE]]) layout(query(b, i, h, d), key(b, h, d, j))
// CHECK-SAME: where(%[[B:.+]], %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[KEEP:.+]] = tensor.extract %[[M]][%[[B]], %[[I]], %[[J]]] : tensor<2x7x9xi1>
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @layouts(%q: tensor<2x7x3x4xf16>, %k: tensor<2x3x4x9xf16>, %v: tensor<2x3x9x5xf16>, %s: f16,
                   %m: tensor<2x7x9xi1>, %o: tensor<2x3x7x5xf32>) -> tensor<2x3x7x5xf32> {
  %r = "iree_linalg_ext.attention"(%q, %k, %v, %s, %m, %o)
      <{indexing_maps = [affine_map<(b, h, i, e, d, j) -> (b, i, h, d)>, affine_map<(b, h, i, e, d, j) -> (b, h, d, j)>,
                         affine_map<(b, h, i, e, d, j) -> (b, h, j, e)>, affine_map<(b, h, i, e, d, j) -> ()>,
                         affine_map<(b, h, i, e, d, j) -> (b, i, j)>, affine_map<(b, h, i, e, d, j) -> (b, h, i, e)>]}> ({
  ^bb0(%x: f32):
    "iree_linalg_ext.yield"(%x) : (f32) -> ()
  }) : (tensor<2x7x3x4xf16>, tensor<2x3x4x9xf16>, tensor<2x3x9x5xf16>, f16, tensor<2x7x9xi1>, tensor<2x3x7x5xf32>)
      -> tensor<2x3x7x5xf32>
  return %r : tensor<2x3x7x5xf32>
}
