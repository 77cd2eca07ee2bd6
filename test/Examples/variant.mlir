// RUN: attn-run %s --check --shape=0:2x33x8x64 --shape=1:2x65x4x64 --shape=2:2x65x4x80 --shape=3:8x65 --shape=4:2 \
// RUN:   --fill=4:range:0:65 | FileCheck %s
// CHECK: check: PASS result 0: 2x33x8x80xbf16
// CHECK: check: PASS result 1: 2x8x33xf32

// Two query heads a kv head, stored [batch, position, head, size]; batch and lengths are known when it runs.
func.func @variant(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x4x64xbf16>, %v: tensor<?x?x4x80xbf16>,
                   %table: tensor<8x?xf32>, %lengths: tensor<?xi32>)
    -> (tensor<?x?x8x80xbf16>, tensor<?x8x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %scale = arith.constant 0.125 : f32
  %batch = tensor.dim %q, %c0 : tensor<?x?x8x64xbf16>
  %queries = tensor.dim %q, %c1 : tensor<?x?x8x64xbf16>
  %init = tensor.empty(%batch, %queries) : tensor<?x?x8x80xbf16>
  %initLse = tensor.empty(%batch, %queries) : tensor<?x8x?xf32>
  %out, %lse = attn.attention %q, %k, %v scale(%scale)
      layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e))
      scores(softcap<30.0>) masks(window<left = 15, right = 0, bottom_right>)
      score(%x, %b, %h, %i, %j) {
        %t = tensor.extract %table[%h, %j] : tensor<8x?xf32>
        %y = arith.addf %x, %t : f32
        attn.yield %y : f32
      }
      kv_lengths(%lengths : tensor<?xi32>)
      : tensor<?x?x8x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x4x80xbf16>
        outs(%init : tensor<?x?x8x80xbf16>) lse(%initLse : tensor<?x8x?xf32>)
        -> tensor<?x?x8x80xbf16>, tensor<?x8x?xf32>
  return %out, %lse : tensor<?x?x8x80xbf16>, tensor<?x8x?xf32>
}
