// A mask drops scores, not the reading of K and V: where these are not finite at a dropped key, what a batch entry and kv
// head give is unspecified. The check leaves exactly these results out, and says so.
// RUN: attn-run %s --function=causal --fill=2:list:1:2:3:4:5:6:7:8:9:1:2:3:inf:1:2:3:4:5:6:7:8:9:1:2:3:4:5:6 --check | FileCheck %s
// RUN: attn-run %s --function=causal --fill=1:list:1:2:3:4:5:6:nan:7:8:9:1:2:3:4 --check | FileCheck %s
// CHECK: check: PASS result 0: 1x2x7x2xf32, max error {{[^;]+}}; 14 elements are unspecified, since dropped keys or values are not finite, and left out
// CHECK: check: PASS result 1: 1x2x7xf32, max error {{[^;]+}}; 7 elements are unspecified,

// Nothing is left out where all rows keep what is not finite, or none reads it.
// RUN: attn-run %s --function=full --fill=2:list:1:2:3:4:5:6:inf:7:8:9:1:2:3:4 --check | FileCheck %s --check-prefix=ALL
// RUN: attn-run %s --function=lengths --fill=1:list:1:2:3:4:5:6:nan --fill=2:list:1:2:3:4:5:6:inf --fill=3:value:3 --check | FileCheck %s --check-prefix=ALL
// ALL: check: PASS result 0
// ALL-NOT: unspecified

!t = tensor<1x2x7x2xf32>
!l = tensor<1x2x7xf32>
!k = tensor<1x2x7x1xf32>

// What is not finite is at the last key of the first head, which all queries but the last drop.
func.func @causal(%q: !k, %k: !k, %v: !t) -> (!t, !l) {
  %s = arith.constant 1.0 : f32
  %o = tensor.empty() : !t
  %lse = tensor.empty() : !l
  %r:2 = attn.attention %q, %k, %v scale(%s) masks(causal) : !k, !k, !t outs(%o : !t) lse(%lse : !l) -> !t, !l
  return %r#0, %r#1 : !t, !l
}

func.func @full(%q: !k, %k: !k, %v: !t) -> !t {
  %s = arith.constant 1.0 : f32
  %o = tensor.empty() : !t
  %r = attn.attention %q, %k, %v scale(%s) : !k, !k, !t outs(%o : !t) -> !t
  return %r : !t
}

func.func @lengths(%q: !k, %k: !k, %v: !t, %n: tensor<1xi32>) -> !t {
  %s = arith.constant 1.0 : f32
  %o = tensor.empty() : !t
  %r = attn.attention %q, %k, %v scale(%s) kv_lengths(%n : tensor<1xi32>) : !k, !k, !t outs(%o : !t) -> !t
  return %r : !t
}
