// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// attn.classify_tiles, attn.tile_classes_size and `tiles` of attn.attention.

// CHECK-LABEL: @size
// CHECK: attn.tile_classes_size 64 x 120 sizes(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {note = 1 : i32}
func.func @size(%b: index, %h: index, %n: index, %m: index) -> index {
  %words = attn.tile_classes_size 64 x 120 sizes(%b, %h, %n, %m) {note = 1 : i32}
  return %words : index
}

// CHECK-LABEL: @named_masks
// CHECK-SAME: %[[IDS:.+]]: tensor<?xi32>
// CHECK: %[[ONE:.+]] = arith.constant 1
// CHECK: %[[LEN:.+]] = tensor.dim
// CHECK: attn.classify_tiles 64 x 120 sizes(%[[ONE]], %[[ONE]], %[[LEN]], %[[LEN]]) masks(document(%[[IDS]] : tensor<?xi32>, %[[IDS]] : tensor<?xi32>), causal<top_left>) : outs(%{{.*}} : tensor<?xi32>) -> tensor<?xi32>
func.func @named_masks(%ids: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : index
  %len = tensor.dim %ids, %c0 : tensor<?xi32>
  %n = attn.tile_classes_size 64 x 120 sizes(%one, %one, %len, %len)
  %o = tensor.empty(%n) : tensor<?xi32>
  %classes = attn.classify_tiles 64 x 120 sizes(%one, %one, %len, %len)
      masks(document(%ids : tensor<?xi32>, %ids : tensor<?xi32>), causal<top_left>)
      : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %classes : tensor<?xi32>
}

// CHECK-LABEL: @region_and_lengths
// CHECK: attn.classify_tiles 1 x 7 sizes({{.*}}) where(%[[B:.+]], %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK: arith.cmpi sle, %[[J]], %[[I]]
// CHECK: } kv_lengths(%{{.*}} : memref<3xi64>) : outs(%{{.*}} : memref<?xi32>)
// CHECK-NOT: ->
func.func @region_and_lengths(%b: index, %h: index, %n: index, %m: index, %l: memref<3xi64>, %o: memref<?xi32>) {
  attn.classify_tiles 1 x 7 sizes(%b, %h, %n, %m) where(%bb, %hh, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } kv_lengths(%l : memref<3xi64>) : outs(%o : memref<?xi32>)
  return
}

// CHECK-LABEL: @no_mask
// CHECK: attn.classify_tiles 16 x 16 sizes({{.*}}) : outs
func.func @no_mask(%b: index, %o: tensor<10xi32>) -> tensor<10xi32> {
  %r = attn.classify_tiles 16 x 16 sizes(%b, %b, %b, %b) : outs(%o : tensor<10xi32>) -> tensor<10xi32>
  return %r : tensor<10xi32>
}

// CHECK-LABEL: @attention_with_tiles
// CHECK: attn.attention {{.*}} masks(causal<top_left>) tiles(%{{.*}} : tensor<?xi32> of 32 x 48) : tensor
func.func @attention_with_tiles(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>,
                                %t: tensor<?xi32>, %o: tensor<1x2x3x6xf32>) -> tensor<1x2x3x6xf32> {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %v scale(%s) masks(causal<top_left>) tiles(%t : tensor<?xi32> of 32 x 48)
      : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>
        outs(%o : tensor<1x2x3x6xf32>) -> tensor<1x2x3x6xf32>
  return %r : tensor<1x2x3x6xf32>
}
