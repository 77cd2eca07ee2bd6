// RUN: attn-opt %s --attn-expand-named --split-input-file | FileCheck %s

// Named scores in written order, then the region, which goes on from their result.
// CHECK-LABEL: func @scores_come_first_in_written_order(
// CHECK-SAME: %[[SLOPES:[^:]+]]: tensor<4xf32>
// CHECK: score(%[[X:.+]], %{{.+}}, %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[CAP:.+]] = arith.constant 3.000000e+01 : f32
// CHECK-DAG: %[[INVERSE:.+]] = arith.constant 0.0333333351 : f32
// CHECK: %[[R:.+]] = arith.mulf %[[X]], %[[INVERSE]] : f32
// CHECK: %[[T:.+]] = math.tanh %[[R]] : f32
// CHECK: %[[CAPPED:.+]] = arith.mulf %[[CAP]], %[[T]] : f32
// CHECK: %[[SLOPE:.+]] = tensor.extract %[[SLOPES]][%[[H]]] : tensor<4xf32>
// CHECK: %[[D:.+]] = arith.subi %[[J]], %[[I]] : index
// CHECK: %[[W:.+]] = arith.index_cast %[[D]] : index to i64
// CHECK: %[[F:.+]] = arith.sitofp %[[W]] : i64 to f32
// CHECK: %[[P:.+]] = arith.mulf %[[SLOPE]], %[[F]] : f32
// CHECK: %[[NAMED:.+]] = arith.addf %[[CAPPED]], %[[P]] : f32
// CHECK-NEXT: %[[Y:.+]] = arith.mulf %[[NAMED]], %[[NAMED]] : f32
// CHECK-NEXT: attn.yield %[[Y]] : f32
func.func @scores_come_first_in_written_order(
    %q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>,
    %slopes: tensor<4xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<30.0>, alibi<top_left>(%slopes : tensor<4xf32>))
      score(%x, %b, %h, %i, %j) {
        %y = arith.mulf %x, %x : f32
        attn.yield %y : f32
      }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// The distance is one of integers, from the query's position: the offset never meets a float.
// CHECK-LABEL: func @alibi_of_the_other_diagonal(
// CHECK: %[[OFFSET:.+]] = arith.subi %{{.+}}, %{{.+}} : index
// CHECK: score(%[[X:.+]], %{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: %[[POSITION:.+]] = arith.addi %[[I]], %[[OFFSET]] : index
// CHECK-NEXT: %[[D:.+]] = arith.subi %[[J]], %[[POSITION]] : index
// CHECK-NEXT: arith.index_cast %[[D]] : index to i64
// CHECK: }
func.func @alibi_of_the_other_diagonal(
    %q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>, %o: tensor<2x4x?x6xf32>,
    %slopes: tensor<4xf32>, %s: f32) -> tensor<2x4x?x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi<bottom_right>(%slopes : tensor<4xf32>))
      : tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>
        outs(%o : tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32>
  return %0 : tensor<2x4x?x6xf32>
}

// -----

// A region that ignores its score ignores the named ones too: they are dropped.
// CHECK-LABEL: func @region_that_ignores_the_score(
// CHECK: score(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK-NEXT: attn.yield %{{.+}} : f32
func.func @region_that_ignores_the_score(
    %q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<30.0>) score(%x, %b, %h, %i, %j) { attn.yield %s : f32 }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// Masks are anded with one another and with the region.
// CHECK-LABEL: func @masks_and_region_are_anded(
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[CAUSAL:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-NEXT: %[[M:.+]] = tensor.extract %{{.+}}[%[[J]]] : tensor<7xi1>
// CHECK-NEXT: %[[NAMED:.+]] = arith.andi %[[CAUSAL]], %[[M]] : i1
// CHECK-NEXT: %[[OWN:.+]] = arith.cmpi ne, %[[I]], %[[J]] : index
// CHECK-NEXT: %[[KEEP:.+]] = arith.andi %[[NAMED]], %[[OWN]] : i1
// CHECK-NEXT: attn.yield %[[KEEP]] : i1
func.func @masks_and_region_are_anded(%m: tensor<7xi1>, %y: tensor<2x4x5x7xf16>)
    -> tensor<2x4x5x7xf16> {
  %0 = attn.mask %y masks(causal<top_left>, boolean(%m : tensor<7xi1>)) where(%b, %h, %i, %j) {
    %c = arith.cmpi ne, %i, %j : index
    attn.yield %c : i1
  } : tensor<2x4x5x7xf16> outs(%y : tensor<2x4x5x7xf16>) -> tensor<2x4x5x7xf16>
  return %0 : tensor<2x4x5x7xf16>
}

// -----

// On memrefs, f64: sizes by memref.dim, captured operands by memref.load.
// CHECK-LABEL: func @memrefs(
// CHECK: %[[N:.+]] = memref.dim %{{.+}}, %{{.+}} : memref<2x4x?x8xf64>
// CHECK: score(%[[X:.+]]: f64, %{{.+}}, %{{.+}}, %[[I:.+]], %{{.+}}) {
// CHECK: %[[B:.+]] = memref.load %{{.+}}[%[[I]], %{{.+}}] : memref<5x1xf16>
// CHECK: %[[W:.+]] = arith.extf %[[B]] : f16 to f64
// CHECK: arith.addf %[[X]], %[[W]] : f64
// CHECK: where(
func.func @memrefs(%q: memref<2x4x?x8xf64>, %k: memref<2x2x7x8xf64>, %v: memref<2x2x7x6xf64>, %o: memref<2x4x?x6xf64>,
                   %bias: memref<5x1xf16>, %s: f64) {
  attn.attention %q, %k, %v scale(%s : f64) scores(bias(%bias : memref<5x1xf16>)) masks(causal<bottom_right>)
      : memref<2x4x?x8xf64>, memref<2x2x7x8xf64>, memref<2x2x7x6xf64> outs(%o : memref<2x4x?x6xf64>)
  return
}
