// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// The example of attn.attention's description.
// CHECK-LABEL: func @attention(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x?x8x64xf32>, %[[K:[^:]+]]: tensor<2x4x?x64xf32>, %[[V:[^:]+]]: tensor<2x4x?x80xf32>
// CHECK: %[[R:.+]]:2 = attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[S:.+]]) layout(query(b, i, h, d))
// CHECK-SAME: scores(softcap<3.000000e+01>) masks(causal<bottom_right>)
// CHECK-SAME: score(%[[X:.+]], %{{.+}}, %[[H:.+]], %{{.+}}, %[[J:.+]]) {
// CHECK-NEXT: %[[T:.+]] = tensor.extract %{{.+}}[%[[H]], %[[J]]] : tensor<8x?xf32>
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[X]], %[[T]] : f32
// CHECK-NEXT: attn.yield %[[Y]] : f32
// CHECK-NEXT: } : tensor<2x?x8x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x80xf32>
// CHECK-SAME: outs(%{{.+}} : tensor<2x8x?x80xf32>) lse(%{{.+}} : tensor<2x8x?xf32>) -> tensor<2x8x?x80xf32>, tensor<2x8x?xf32>
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @attention(%q: tensor<2x?x8x64xf32>, %k: tensor<2x4x?x64xf32>, %v: tensor<2x4x?x80xf32>,
                     %table: tensor<8x?xf32>, %o: tensor<2x8x?x80xf32>, %l: tensor<2x8x?xf32>, %s: f32)
    -> (tensor<2x8x?x80xf32>, tensor<2x8x?xf32>) {
  %out, %lse = attn.attention %q, %k, %v scale(%s)
      layout(query(b, i, h, d)) scores(softcap<30.0>) masks(causal<bottom_right>)
      score(%x, %b, %h, %i, %j) {
        %t = tensor.extract %table[%h, %j] : tensor<8x?xf32>
        %y = arith.addf %x, %t : f32
        attn.yield %y : f32
      }
      : tensor<2x?x8x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x80xf32>
        outs(%o : tensor<2x8x?x80xf32>) lse(%l : tensor<2x8x?xf32>) -> tensor<2x8x?x80xf32>, tensor<2x8x?xf32>
  return %out, %lse : tensor<2x8x?x80xf32>, tensor<2x8x?xf32>
}

// CHECK-LABEL: func @plain(
// CHECK: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(%{{.+}}) : tensor<2x4x5x8xf16>
// CHECK-SAME: outs(%{{.+}} : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
func.func @plain(%q: tensor<2x4x5x8xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf16>, %o: tensor<2x4x5x6xf32>,
                 %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) : tensor<2x4x5x8xf16>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf16>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @f64_is_written_out(
// CHECK: scale(%{{.+}} : f64) score(%{{.+}}: f64, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
func.func @f64_is_written_out(%q: tensor<2x4x5x8xf64>, %k: tensor<2x2x7x8xf64>, %v: tensor<2x2x7x6xf64>,
                              %o: tensor<2x4x5x6xf64>, %s: f64) -> tensor<2x4x5x6xf64> {
  %0 = attn.attention %q, %k, %v scale(%s : f64) score(%x: f64, %b, %h, %i, %j) {
    %y = arith.negf %x : f64
    attn.yield %y : f64
  } : tensor<2x4x5x8xf64>, tensor<2x2x7x8xf64>, tensor<2x2x7x6xf64>
      outs(%o : tensor<2x4x5x6xf64>) -> tensor<2x4x5x6xf64>
  return %0 : tensor<2x4x5x6xf64>
}

// CHECK-LABEL: func @every_named_mask(
// CHECK: masks(causal<top_left>, window<left = 3, right = 0, bottom_right>, window<left = 0, top_left>,
// CHECK-SAME: window<top_left>, prefix<bottom_right>(%[[P:[^ ]+]] : tensor<2xi32>), boolean(%[[M:[^ ]+]] : tensor<4x1x7xi1>))
// CHECK-SAME: where(%[[B:.+]], %{{.+}}, %[[I:.+]], %{{.+}}) {
// CHECK: arith.cmpi ne, %[[B]], %[[I]] : index
func.func @every_named_mask(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                            %o: tensor<2x4x5x6xf32>, %s: f32, %p: tensor<2xi32>, %m: tensor<4x1x7xi1>)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      masks(causal<top_left>, window<bottom_right, right = 0, left = 3>, window<left = 0, top_left>, window<top_left>,
            prefix<bottom_right>(%p : tensor<2xi32>), boolean(%m : tensor<4x1x7xi1>))
      where(%b, %h, %i, %j) {
        %c = arith.cmpi ne, %b, %i : index
        attn.yield %c : i1
      }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @implied_diagonal(
// CHECK: scores(alibi(%{{.+}} : tensor<4xf32>)) masks(causal, window<left = 2>, window, prefix(%{{.+}} : tensor<2xindex>))
func.func @implied_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>,
                            %o: tensor<2x4x5x6xf32>, %s: f32, %slopes: tensor<4xf32>, %p: tensor<2xindex>)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi(%slopes : tensor<4xf32>))
      masks(causal, window<left = 2>, window, prefix(%p : tensor<2xindex>))
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @every_named_score(
// CHECK: scores(alibi<bottom_right>(%{{.+}} : tensor<4xf32>), softcap<5.000000e-01>, bias(%{{.+}} : tensor<1x4x5x7xf16>),
// CHECK-SAME: additive(%{{.+}} : tensor<f32>))
func.func @every_named_score(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                             %o: tensor<2x4x5x6xf32>, %s: f32, %slopes: tensor<4xf32>, %bias: tensor<1x4x5x7xf16>,
                             %one: tensor<f32>) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      scores(alibi<bottom_right>(%slopes : tensor<4xf32>), softcap<0.5>, bias(%bias : tensor<1x4x5x7xf16>),
             additive(%one : tensor<f32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @sink_lengths_and_every_result(
// CHECK: sink(%{{.+}} : tensor<4xf32>) kv_lengths(%{{.+}} : tensor<2xi64>) {note = "kept"} : tensor<2x4x5x8xbf16>
// CHECK-SAME: outs(%{{.+}} : tensor<2x4x5x6xbf16>) lse(%{{.+}} : tensor<2x4x5xf32>) weights(%{{.+}} : tensor<2x4x5x7xf32>)
// CHECK-SAME: -> tensor<2x4x5x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>
func.func @sink_lengths_and_every_result(
    %q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>, %v: tensor<2x2x7x6xbf16>, %o: tensor<2x4x5x6xbf16>,
    %l: tensor<2x4x5xf32>, %w: tensor<2x4x5x7xf32>, %sink: tensor<4xf32>, %lengths: tensor<2xi64>, %s: f32)
    -> (tensor<2x4x5x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>) {
  %0:3 = attn.attention %q, %k, %v scale(%s) sink(%sink : tensor<4xf32>) kv_lengths(%lengths : tensor<2xi64>)
      {note = "kept"}
      : tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x6xbf16>
        outs(%o : tensor<2x4x5x6xbf16>) lse(%l : tensor<2x4x5xf32>) weights(%w : tensor<2x4x5x7xf32>)
        -> tensor<2x4x5x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>
  return %0#0, %0#1, %0#2 : tensor<2x4x5x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>
}
