// RUN: attn-run %s --check --shape=0:3x33x4x8 --shape=1:3x2x65x8 --shape=2:3x2x65x5 --shape=3:3 --fill=3:range:0:65 --threads=2 \
// RUN:   | FileCheck %s --check-prefix=CHECK
// V = 1: each row with a key left is 1, and lengths of 0 give rows of 0.
// RUN: attn-run %s --shape=0:1x2x4x8 --shape=1:1x2x3x8 --shape=2:1x2x3x5 --fill=2:ones --shape=3:1 --fill=3:zeros --print \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// What the compiled code checks: kv_lengths is at most kvLen.
// RUN: not attn-run %s --shape=0:3x33x4x8 --shape=1:3x2x65x8 --shape=2:3x2x65x5 --shape=3:3 --fill=3:value:66 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LENGTH

// CHECK: check: PASS result 0: 3x33x4x5xf32
// EMPTY: result 0: 1x2x4x5xf32
// EMPTY-COUNT-8: {{^}}  [0, {{[01]}}, {{[0-3]}}] 0 0 0 0 0{{$}}
// LENGTH: error: @ragged: {{.*}}66
func.func @ragged(%q: tensor<?x?x4x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x5xf32>, %lengths: tensor<?xi32>)
    -> tensor<?x?x4x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %scale = arith.constant 0.5 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x4x8xf32>
  %queries = tensor.dim %q, %c1 : tensor<?x?x4x8xf32>
  %init = tensor.empty(%batch, %queries) : tensor<?x?x4x5xf32>
  %out = attn.attention %q, %k, %v scale(%scale) layout(query(b, i, h, d), out(b, i, h, e)) masks(causal<bottom_right>)
      kv_lengths(%lengths : tensor<?xi32>)
      : tensor<?x?x4x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x5xf32> outs(%init : tensor<?x?x4x5xf32>) -> tensor<?x?x4x5xf32>
  return %out : tensor<?x?x4x5xf32>
}
