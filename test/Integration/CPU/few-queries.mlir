// Few queries, many keys: query heads that share a kv head share a tile. Every dimension has a size of its own.
// RUN: attn-run %s --check --function=one_query --threads=2 | FileCheck %s
// RUN: attn-run %s --check --function=three_queries_of_seven_heads | FileCheck %s
// RUN: attn-run %s --check --function=one_kv_head_for_all | FileCheck %s
// RUN: attn-run %s --check --function=more_heads_than_rows | FileCheck %s
// RUN: attn-run %s --check --function=score_depends_on_the_head | FileCheck %s
// RUN: attn-run %s --check --function=mask_depends_on_the_head | FileCheck %s
// RUN: attn-run %s --check --function=sinks | FileCheck %s
// RUN: attn-run %s --check --function=lse_and_weights_of_documents --fill=3:range:0:3 --fill=4:range:0:3 \
// RUN:   | FileCheck %s
// RUN: attn-run %s --check --function=lengths --fill=3:range:0:130 | FileCheck %s
// RUN: attn-run %s --check --function=bf16 | FileCheck %s
// RUN: attn-run %s --check --function=f64 | FileCheck %s
// RUN: attn-run %s --check --function=dynamic_keys --shape=1:2x3x77x9 --shape=2:2x3x77x5 | FileCheck %s
// RUN: attn-run %s --check --function=dynamic_keys --shape=1:2x3x0x9 --shape=2:2x3x0x5 | FileCheck %s
// RUN: attn-run %s --check --function=no_query | FileCheck %s
// The tile options say how many rows there are: with fewer than the heads need they are apart again.
// RUN: attn-run %s --check --function=one_query --tile-q=4 --tile-kv=7 | FileCheck %s
// RUN: attn-run %s --check --function=one_query --tile-q=2 | FileCheck %s
// RUN: attn-run %s --check --function=three_queries_of_seven_heads --tile-q=32 --block-rows=3 | FileCheck %s
// Keys in segments, which are computed in parallel and merged.
// RUN: attn-run %s --check --function=one_query --tile-kv=16 --segment-keys=32 --threads=2 | FileCheck %s
// RUN: attn-run %s --check --function=more_heads_than_rows --tile-kv=16 --segment-keys=1 --threads=2 | FileCheck %s
// RUN: attn-run %s --check --function=score_depends_on_the_head --tile-kv=16 --segment-keys=32 | FileCheck %s
// RUN: attn-run %s --check --function=mask_depends_on_the_head --tile-kv=16 --segment-keys=32 | FileCheck %s
// RUN: attn-run %s --check --function=lengths --fill=3:range:0:130 --tile-kv=16 --segment-keys=32 | FileCheck %s
// CHECK: PASS result 0
// CHECK-NOT: FAIL

func.func @one_query(%q: tensor<3x8x1x40xf32>, %k: tensor<3x2x131x40xf32>, %v: tensor<3x2x131x24xf32>)
    -> tensor<3x8x1x24xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<3x8x1x24xf32>
  %r = attn.attention %q, %k, %v scale(%s) masks(causal<bottom_right>)
      : tensor<3x8x1x40xf32>, tensor<3x2x131x40xf32>, tensor<3x2x131x24xf32>
        outs(%init : tensor<3x8x1x24xf32>) -> tensor<3x8x1x24xf32>
  return %r : tensor<3x8x1x24xf32>
}

// 21 rows in a tile of 32; the last query sees all keys, the first two fewer.
func.func @three_queries_of_seven_heads(%q: tensor<2x28x3x16xf32>, %k: tensor<2x4x70x16xf32>, %v: tensor<2x4x70x8xf32>)
    -> tensor<2x28x3x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x28x3x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) masks(window<left = 50, right = 0, bottom_right>)
      : tensor<2x28x3x16xf32>, tensor<2x4x70x16xf32>, tensor<2x4x70x8xf32>
        outs(%init : tensor<2x28x3x8xf32>) -> tensor<2x28x3x8xf32>
  return %r : tensor<2x28x3x8xf32>
}

func.func @one_kv_head_for_all(%q: tensor<2x48x1x16xf32>, %k: tensor<2x1x70x16xf32>, %v: tensor<2x1x70x8xf32>)
    -> tensor<2x48x1x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x48x1x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) : tensor<2x48x1x16xf32>, tensor<2x1x70x16xf32>, tensor<2x1x70x8xf32>
        outs(%init : tensor<2x48x1x8xf32>) -> tensor<2x48x1x8xf32>
  return %r : tensor<2x48x1x8xf32>
}

func.func @more_heads_than_rows(%q: tensor<1x130x2x16xf32>, %k: tensor<1x1x70x16xf32>, %v: tensor<1x1x70x8xf32>)
    -> tensor<1x130x2x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<1x130x2x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) : tensor<1x130x2x16xf32>, tensor<1x1x70x16xf32>, tensor<1x1x70x8xf32>
        outs(%init : tensor<1x130x2x8xf32>) -> tensor<1x130x2x8xf32>
  return %r : tensor<1x130x2x8xf32>
}

func.func @score_depends_on_the_head(%q: tensor<2x6x2x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x8xf32>,
                                     %slopes: tensor<6xf32>, %bias: tensor<6x2x70xf32>) -> tensor<2x6x2x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x6x2x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) scores(alibi<bottom_right>(%slopes : tensor<6xf32>))
      score(%x, %b, %h, %i, %j) {
        %t = tensor.extract %bias[%h, %i, %j] : tensor<6x2x70xf32>
        %y = arith.addf %x, %t : f32
        attn.yield %y : f32
      } : tensor<2x6x2x16xf32>, tensor<2x2x70x16xf32>, tensor<2x2x70x8xf32>
        outs(%init : tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
  return %r : tensor<2x6x2x8xf32>
}

func.func @mask_depends_on_the_head(%q: tensor<2x6x2x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x8xf32>)
    -> tensor<2x6x2x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x6x2x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
        %c11 = arith.constant 11 : index
        %n = arith.muli %h, %c11 : index
        %keep = arith.cmpi sge, %j, %n : index
        attn.yield %keep : i1
      } : tensor<2x6x2x16xf32>, tensor<2x2x70x16xf32>, tensor<2x2x70x8xf32>
        outs(%init : tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
  return %r : tensor<2x6x2x8xf32>
}

func.func @sinks(%q: tensor<2x6x2x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x8xf32>, %sink: tensor<6xf32>)
    -> tensor<2x6x2x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x6x2x8xf32>
  %r = attn.attention %q, %k, %v scale(%s) sink(%sink : tensor<6xf32>)
      : tensor<2x6x2x16xf32>, tensor<2x2x70x16xf32>, tensor<2x2x70x8xf32>
        outs(%init : tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
  return %r : tensor<2x6x2x8xf32>
}

func.func @lse_and_weights_of_documents(%q: tensor<2x6x3x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x8xf32>,
                                        %mine: tensor<3xi32>, %ids: tensor<70xi32>)
    -> (tensor<2x6x3x8xf32>, tensor<2x6x3xf32>, tensor<2x6x3x70xf32>) {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x6x3x8xf32>
  %initLse = tensor.empty() : tensor<2x6x3xf32>
  %initWeights = tensor.empty() : tensor<2x6x3x70xf32>
  %r:3 = attn.attention %q, %k, %v scale(%s) masks(document(%mine : tensor<3xi32>, %ids : tensor<70xi32>))
      : tensor<2x6x3x16xf32>, tensor<2x2x70x16xf32>, tensor<2x2x70x8xf32>
        outs(%init : tensor<2x6x3x8xf32>) lse(%initLse : tensor<2x6x3xf32>) weights(%initWeights : tensor<2x6x3x70xf32>)
        -> tensor<2x6x3x8xf32>, tensor<2x6x3xf32>, tensor<2x6x3x70xf32>
  return %r#0, %r#1, %r#2 : tensor<2x6x3x8xf32>, tensor<2x6x3xf32>, tensor<2x6x3x70xf32>
}

// Stored [batch, position, head, size].
func.func @lengths(%q: tensor<5x1x6x16xf32>, %k: tensor<5x130x2x16xf32>, %v: tensor<5x130x2x8xf32>, %n: tensor<5xi32>)
    -> tensor<5x1x6x8xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<5x1x6x8xf32>
  %r = attn.attention %q, %k, %v scale(%s)
      layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e)) kv_lengths(%n : tensor<5xi32>)
      : tensor<5x1x6x16xf32>, tensor<5x130x2x16xf32>, tensor<5x130x2x8xf32>
        outs(%init : tensor<5x1x6x8xf32>) -> tensor<5x1x6x8xf32>
  return %r : tensor<5x1x6x8xf32>
}

func.func @bf16(%q: tensor<2x6x1x40xbf16>, %k: tensor<2x2x70x40xbf16>, %v: tensor<2x2x70x24xbf16>)
    -> tensor<2x6x1x24xbf16> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x6x1x24xbf16>
  %r = attn.attention %q, %k, %v scale(%s) : tensor<2x6x1x40xbf16>, tensor<2x2x70x40xbf16>, tensor<2x2x70x24xbf16>
        outs(%init : tensor<2x6x1x24xbf16>) -> tensor<2x6x1x24xbf16>
  return %r : tensor<2x6x1x24xbf16>
}

func.func @f64(%q: tensor<2x6x1x40xf64>, %k: tensor<2x2x70x40xf64>, %v: tensor<2x2x70x24xf64>) -> tensor<2x6x1x24xf64> {
  %s = arith.constant 0.25 : f64
  %init = tensor.empty() : tensor<2x6x1x24xf64>
  %r = attn.attention %q, %k, %v scale(%s : f64) : tensor<2x6x1x40xf64>, tensor<2x2x70x40xf64>, tensor<2x2x70x24xf64>
        outs(%init : tensor<2x6x1x24xf64>) -> tensor<2x6x1x24xf64>
  return %r : tensor<2x6x1x24xf64>
}

func.func @dynamic_keys(%q: tensor<2x9x1x9xf32>, %k: tensor<2x3x?x9xf32>, %v: tensor<2x3x?x5xf32>) -> tensor<2x9x1x5xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x9x1x5xf32>
  %r = attn.attention %q, %k, %v scale(%s) : tensor<2x9x1x9xf32>, tensor<2x3x?x9xf32>, tensor<2x3x?x5xf32>
        outs(%init : tensor<2x9x1x5xf32>) -> tensor<2x9x1x5xf32>
  return %r : tensor<2x9x1x5xf32>
}

func.func @no_query(%q: tensor<2x9x0x9xf32>, %k: tensor<2x3x7x9xf32>, %v: tensor<2x3x7x5xf32>) -> tensor<2x9x0x5xf32> {
  %s = arith.constant 0.25 : f32
  %init = tensor.empty() : tensor<2x9x0x5xf32>
  %r = attn.attention %q, %k, %v scale(%s) : tensor<2x9x0x9xf32>, tensor<2x3x7x9xf32>, tensor<2x3x7x5xf32>
        outs(%init : tensor<2x9x0x5xf32>) -> tensor<2x9x0x5xf32>
  return %r : tensor<2x9x0x5xf32>
}
