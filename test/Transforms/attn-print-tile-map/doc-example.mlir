// RUN: attn-opt %s --attn-print-tile-map="tile-q=16 tile-kv=24 target=x86-64-v3" -o /dev/null | FileCheck %s --match-full-lines --strict-whitespace
// The module itself stays as it is.
// RUN: attn-opt %s --attn-print-tile-map="tile-q=16 tile-kv=24 target=x86-64-v3" -o - | FileCheck %s --check-prefix=SAME
// SAME: masks(causal)

//      CHECK:causal at doc-example.mlir:26:10: causal
// CHECK-NEXT:batch 2, heads 8, queryLen 64, kvLen 64; tiles of 16 queries x 24 keys
// CHECK-NEXT:- rows i0 to i1 visit keys [-inf, i1 + 1)
// CHECK-NEXT:- the mask is so cheap that full tiles evaluate it, too
// CHECK-EMPTY:
// CHECK-NEXT:every batch entry and head: 4 of 12 tiles skipped (33.3 %), 3 full, 5 partial; 37.5 % of the scores saved
// CHECK-NEXT:query  key
// CHECK-NEXT:       0
// CHECK-NEXT:    0  /..
// CHECK-NEXT:   16  //.
// CHECK-NEXT:   32  #/.
// CHECK-NEXT:   48  ##/
// CHECK-EMPTY:
// CHECK-NEXT:. skipped   # full: needs no mask   / partial: the mask is evaluated   ? decided at run time
!heads = tensor<2x8x64x32xf32>

func.func @causal(%q: !heads, %k: !heads, %v: !heads) -> !heads {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !heads

  %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !heads, !heads, !heads outs(%init : !heads) -> !heads
  return %out : !heads
}
