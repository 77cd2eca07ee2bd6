// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func @trivial_regions_are_dropped(
// CHECK: attn.attention %{{.+}} scale(%{{.+}}) : tensor<2x4x5x8xf32>
func.func @trivial_regions_are_dropped(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                       %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %unused = arith.addf %x, %x : f32
    attn.yield %x : f32
  } where(%b, %h, %i, %j) {
    %t = arith.constant true
    %same = arith.ori %t, %t : i1
    attn.yield %same : i1
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// A region that drops every key, one that yields another index, and constants stay where they are.
// CHECK-LABEL: func @other_regions_stay(
// CHECK-NOT: arith.constant
// CHECK: score(%[[X:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK-NEXT: %[[C:.+]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: arith.mulf %[[X]], %[[C]] : f32
// CHECK: where(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK-NEXT: arith.constant false
func.func @other_regions_stay(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                              %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %two = arith.constant 2.0 : f32
    %y = arith.mulf %x, %two : f32
    attn.yield %y : f32
  } where(%b, %h, %i, %j) {
    %f = arith.constant false
    attn.yield %f : i1
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// Captured operands keep to their masks: the same name with another operand is another mask.
// CHECK-LABEL: func @redundant_masks(
// CHECK-SAME: %[[M0:[^:]+]]: tensor<7xi1>, %[[M1:[^:]+]]: tensor<5x1xi1>
// CHECK: masks(boolean(%[[M0]] : tensor<7xi1>), causal<top_left>, boolean(%[[M1]] : tensor<5x1xi1>), causal<bottom_right>) :
func.func @redundant_masks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                           %o: tensor<2x4x5x6xf32>, %s: f32, %m0: tensor<7xi1>, %m1: tensor<5x1xi1>)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      masks(window<top_left>, boolean(%m0 : tensor<7xi1>), causal<top_left>, boolean(%m1 : tensor<5x1xi1>),
            causal<bottom_right>, causal<top_left>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// CHECK-LABEL: func @unlimited_window_is_no_mask(
// CHECK: attn.attention %{{.+}} scale(%{{.+}}) : tensor<2x4x5x8xf32>
func.func @unlimited_window_is_no_mask(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                       %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(window<bottom_right>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// CHECK-LABEL: func @default_layouts_are_not_written(
// CHECK: layout(out(b, i, h, e)) : tensor<2x4x5x8xf32>
func.func @default_layouts_are_not_written(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                           %o: tensor<2x5x4x6xf32>, %s: f32) -> tensor<2x5x4x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) layout(query(b, h, i, d), value(b, h, j, e), out(b, i, h, e))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %0 : tensor<2x5x4x6xf32>
}

// -----

// The weights take the place of the lse among the results; attributes, masks, captures and regions stay.
// CHECK-LABEL: func @unused_lse_is_dropped(
// CHECK: %[[R:.+]]:2 = attn.attention {{.*}} masks(boolean(%{{.+}} : tensor<7xi1>)) score({{.*}}) {
// CHECK-NEXT: %{{.+}} = arith.negf
// CHECK: } sink(%{{.+}} : tensor<4xf32>) {note = "kept"}
// CHECK-SAME: weights(%{{[^:]+}} : tensor<2x4x5x7xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x5x7xf32>
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @unused_lse_is_dropped(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                 %o: tensor<2x4x5x6xf32>, %l: tensor<2x4x5xf32>, %w: tensor<2x4x5x7xf32>,
                                 %m: tensor<7xi1>, %sink: tensor<4xf32>, %s: f32)
    -> (tensor<2x4x5x6xf32>, tensor<2x4x5x7xf32>) {
  %0:3 = attn.attention %q, %k, %v scale(%s) masks(boolean(%m : tensor<7xi1>)) score(%x, %b, %h, %i, %j) {
    %y = arith.negf %x : f32
    attn.yield %y : f32
  } sink(%sink : tensor<4xf32>) {note = "kept"}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5xf32>) weights(%w : tensor<2x4x5x7xf32>)
        -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>
  return %0#0, %0#2 : tensor<2x4x5x6xf32>, tensor<2x4x5x7xf32>
}

// -----

// CHECK-LABEL: func @unused_weights_are_dropped(
// CHECK: %[[R:.+]]:2 = attn.attention {{.*}} lse(%{{[^:]+}} : tensor<2x4x5xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
// CHECK: return %[[R]]#1
func.func @unused_weights_are_dropped(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                      %o: tensor<2x4x5x6xf32>, %l: tensor<2x4x5xf32>, %w: tensor<2x4x5x7xf32>,
                                      %s: f32) -> tensor<2x4x5xf32> {
  %0:3 = attn.attention %q, %k, %v scale(%s) : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5xf32>) weights(%w : tensor<2x4x5x7xf32>)
        -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>
  return %0#1 : tensor<2x4x5xf32>
}

// -----

// Casts that hide sizes go, from ops without regions and with them.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: %[[Q:.+]]: tensor<1x2x5x8xf32>, %[[K:.+]]: tensor<1x2x7x8xf32>, %[[S:.+]]: tensor<1x2x5x7xf32>
// CHECK-NOT: tensor.cast
// CHECK: attn.attention %[[Q]], %[[K]], %[[K]]
// CHECK-NOT: tensor.cast
// CHECK: attn.mask %[[S]]
// CHECK-NOT: tensor.cast
// CHECK: return
func.func @casts(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x7x8xf32>, %s: tensor<1x2x5x7xf32>)
    -> (tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>) {
  %scale = arith.constant 0.5 : f32
  %kc = tensor.cast %k : tensor<1x2x7x8xf32> to tensor<1x2x?x8xf32>
  %e = tensor.empty() : tensor<1x2x5x8xf32>
  %o = attn.attention %q, %kc, %kc scale(%scale)
      : tensor<1x2x5x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> outs(%e : tensor<1x2x5x8xf32>)
      -> tensor<1x2x5x8xf32>
  %sc = tensor.cast %s : tensor<1x2x5x7xf32> to tensor<1x2x5x?xf32>
  %ec = tensor.cast %s : tensor<1x2x5x7xf32> to tensor<1x2x5x?xf32>
  %m = attn.mask %sc masks(causal<top_left>) : tensor<1x2x5x?xf32> outs(%ec : tensor<1x2x5x?xf32>)
      -> tensor<1x2x5x?xf32>
  %mc = tensor.cast %m : tensor<1x2x5x?xf32> to tensor<1x2x5x7xf32>
  return %o, %mc : tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>
}
