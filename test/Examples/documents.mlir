// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-run %s --check --shape=0:1x8x300x64 --shape=1:1x8x300x64 --shape=2:1x8x300x64 --shape=3:300 \
// RUN:   --fill=3:range:0:2 | FileCheck %s
// CHECK: PASS result 0

// Packed documents: the tiles are classified once, and every layer uses them.
func.func @two_layers(%q: tensor<1x8x?x64xf32>, %k: tensor<1x8x?x64xf32>, %v: tensor<1x8x?x64xf32>,
                      %ids: tensor<?xi32>) -> tensor<1x8x?x64xf32> {
  %one = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %scale = arith.constant 0.125 : f32
  %length = tensor.dim %q, %c2 : tensor<1x8x?x64xf32>
  %words = attn.tile_classes_size 64 x 120 sizes(%one, %one, %length, %length)
  %record = tensor.empty(%words) : tensor<?xi32>
  %tiles = attn.classify_tiles 64 x 120 sizes(%one, %one, %length, %length)
      masks(document(%ids : tensor<?xi32>, %ids : tensor<?xi32>), causal<top_left>)
      : outs(%record : tensor<?xi32>) -> tensor<?xi32>
  %init = tensor.empty(%length) : tensor<1x8x?x64xf32>
  %first = attn.attention %q, %k, %v scale(%scale)
      masks(document(%ids : tensor<?xi32>, %ids : tensor<?xi32>), causal<top_left>)
      tiles(%tiles : tensor<?xi32> of 64 x 120)
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
        outs(%init : tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32>
  %second = attn.attention %first, %k, %v scale(%scale)
      masks(document(%ids : tensor<?xi32>, %ids : tensor<?xi32>), causal<top_left>)
      tiles(%tiles : tensor<?xi32> of 64 x 120)
      : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
        outs(%init : tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32>
  return %second : tensor<1x8x?x64xf32>
}
