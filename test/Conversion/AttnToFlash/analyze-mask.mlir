// RUN: attn-opt %s --attn-expand-named --attn-analyze-mask="tile-q=16 tile-kv=16" --remarks-filter=attn \
// RUN:   --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s
// The ops stay as they are.
// RUN: attn-opt %s --attn-expand-named | diff %t.mlir -
// RUN: not attn-opt %s --attn-analyze-mask 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: 'attn.attention' op expects no named masks in attn-analyze-mask; run attn-expand-named first

!q = tensor<1x2x32x8xf32>
!k = tensor<1x2x64x8xf32>
!dq = tensor<1x2x?x8xf32>

// Of the 2 x 4 tiles of 16 x 16, query tile 0 keeps one and tile 1 keeps two.
// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}rows i0 to i1 visit keys [-inf, i1 + 1); 62.5 % of the 16 x 16 tiles are skipped; every row keeps a key
func.func @causal(%q: !q, %k: !k, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) masks(causal<top_left>) : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// Row 0 keeps keys 27 to 32: rows 0 to 15 visit tiles 1 and 2 of keys, rows 16 to 31 tiles 2 and 3.
// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}rows i0 to i1 visit keys [i0 + {{.*}}, i1 + {{.*}}); 50.0 % of the 16 x 16 tiles are skipped; every row keeps a key
func.func @window(%q: !q, %k: !k, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) masks(window<left = 5, right = 0, bottom_right>) : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// 64 queries on the diagonal of the last 32: the first 32 of them are in front of every key.
// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}32 of 64 rows keep no key
func.func @dead_rows(%q: !q, %k: !k, %o: !k) -> !k {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %k, %q, %q scale(%s) masks(causal<bottom_right>) : !k, !q, !q outs(%o : !k) -> !k
  return %r : !k
}

// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}visit keys [-inf, i1 + 1); every row keeps a key, if there is one
func.func @dynamic_top_left(%q: !dq, %o: !dq) -> !dq {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %q, %q scale(%s) masks(causal<top_left>) : !dq, !dq, !dq outs(%o : !dq) -> !dq
  return %r : !dq
}

// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}visit keys [-inf, {{.*}}n0{{.*}}); rows may keep no key
func.func @dynamic_bottom_right(%q: !dq, %k: !dq, %o: !dq) -> !dq {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) masks(causal<bottom_right>) : !dq, !dq, !dq outs(%o : !dq) -> !dq
  return %r : !dq
}

// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}tiles are classified once per call: 'tensor.extract' does not compare positions; rows may keep no key
func.func @table(%q: !q, %k: !k, %o: !q, %m: tensor<32x64xi1>) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) where(%b, %h, %i, %j) {
    %keep = tensor.extract %m[%i, %j] : tensor<32x64xi1>
    attn.yield %keep : i1
  } : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// CHECK: analyze-mask.mlir:[[# @LINE + 3]]:{{.*}}tiles are classified by its operand
func.func @kept(%q: !q, %k: !k, %o: !q, %t: tensor<?xi32>) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) masks(causal<top_left>) tiles(%t : tensor<?xi32> of 16 x 16)
      : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// CHECK-NOT: remark
func.func @no_mask(%q: !q, %k: !k, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}
