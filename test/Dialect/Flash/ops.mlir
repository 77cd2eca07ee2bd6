// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// One query tile of the FlashAttention loop, with every extent that may be dynamic so.
// CHECK-LABEL: func @loop(
// CHECK: %[[Q:.+]] = flash.load_query %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} : memref<2x4x?x?xf16> -> !flash.query<16 x ?, f32>
// CHECK: %{{.+}}, %{{.+}}, %{{.+}} = flash.init value_dim %{{.+}} : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
// CHECK: %[[S:.+]], %[[TM:.+]] = flash.scores %[[Q]], %{{.+}} at(%{{.+}}, %{{.+}} : %{{.+}}, %{{.+}}, %{{.+}}) rows %{{.+}} keys %{{.+}} scale %{{.+}} : f32 score(%[[X:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK: } where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: } : !flash.query<16 x ?, f32>, memref<2x2x?x?xf16> -> !flash.scores<16 x 32, f32>, !flash.rows<16, f32>
// CHECK: %[[M:.+]], %[[A:.+]] = flash.update_max %{{.+}}, %[[TM]] : !flash.rows<16, f32>
// CHECK: %[[W:.+]], %[[L:.+]] = flash.weights %[[S]], %[[M]], %{{.+}}, %[[A]] rows %{{.+}} keys %{{.+}} : !flash.scores<16 x 32, f32>, !flash.rows<16, f32>
// CHECK: %[[ACC:.+]] = flash.accumulate %{{.+}}, %[[A]], %[[W]], %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} keys %{{.+}} : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, !flash.scores<16 x 32, f32>, memref<2x2x?x?xf16>
// CHECK: flash.store %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, memref<2x4x?x?xf16>
// CHECK: flash.store_lse %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} : !flash.rows<16, f32>, memref<2x4x?xf32>
func.func @loop(%query: memref<2x4x?x?xf16>, %key: memref<2x2x?x?xf16>, %value: memref<2x2x?x?xf16>,
                %out: memref<2x4x?x?xf16>, %lse: memref<2x4x?xf32>, %scale: f32, %b: index, %h: index, %hk: index,
                %i0: index, %kvLen: index, %valueDim: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %q = flash.load_query %query[%b, %h, %i0] rows %rows : memref<2x4x?x?xf16> -> !flash.query<16 x ?, f32>
  %m0, %l0, %o0 = flash.init value_dim %valueDim : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
  %r:3 = scf.for %j0 = %c0 to %kvLen step %c32 iter_args(%m = %m0, %l = %l0, %o = %o0)
      -> (!flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>) {
    %left = arith.subi %kvLen, %j0 : index
    %keys = arith.minsi %left, %c32 : index
    %s, %tm = flash.scores %q, %key at(%b, %h : %hk, %i0, %j0) rows %rows keys %keys scale %scale : f32 score(%x, %sb, %sh, %i, %j) {
      %y = arith.negf %x : f32
      attn.yield %y : f32
    } where(%mb, %mh, %i, %j) {
      %keep = arith.cmpi sle, %j, %i : index
      attn.yield %keep : i1
    } : !flash.query<16 x ?, f32>, memref<2x2x?x?xf16> -> !flash.scores<16 x 32, f32>, !flash.rows<16, f32>
    %m1, %a = flash.update_max %m, %tm : !flash.rows<16, f32>
    %w, %l1 = flash.weights %s, %m1, %l, %a rows %rows keys %keys : !flash.scores<16 x 32, f32>, !flash.rows<16, f32>
    %o1 = flash.accumulate %o, %a, %w, %value[%b, %hk, %j0] rows %rows keys %keys
        : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, !flash.scores<16 x 32, f32>, memref<2x2x?x?xf16>
    scf.yield %m1, %l1, %o1 : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
  }
  flash.store %r#2, %r#1, %out[%b, %h, %i0] rows %rows : !flash.acc<16 x ?, f32>, !flash.rows<16, f32>, memref<2x4x?x?xf16>
  flash.store_lse %r#0, %r#1, %lse[%b, %h, %i0] rows %rows : !flash.rows<16, f32>, memref<2x4x?xf32>
  return
}

// CHECK-LABEL: func @other_forms(
// CHECK: flash.load_query %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} : memref<2x4x5x8xf64> -> !flash.query<1 x 8, f64>
// CHECK: flash.init sink %{{.+}} : f64 : !flash.rows<1, f64>, !flash.rows<1, f64>, !flash.acc<1 x 6, f64>
// CHECK: flash.scores %{{.+}}, %{{.+}} at(%{{.+}}, %{{.+}} : %{{.+}}, %{{.+}}, %{{.+}}) rows %{{.+}} keys %{{.+}} : !flash.query<1 x 8, f64>
// CHECK: flash.update_max %{{.+}}, %{{.+}} unit 1.250000e-01 : !flash.rows<1, f64>
// CHECK: flash.scores {{.+}} keys %{{.+}} prefetch %{{.+}} : memref<2x4x5x8xf64> each_step chunk_keys %{{.+}} : memref<1x2xindex> stage %{{.+}} : !flash.query<1 x 8, f64>
// CHECK: flash.store_weights %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} keys %{{.+}} zeros %{{.+}} unit 1.250000e-01 : !flash.scores<1 x 7, f64>, !flash.rows<1, f64>, memref<2x4x5x7xf64>
// CHECK: flash.require %{{.+}}, "kv_lengths is {0}, kvLen {1}"(%{{.+}}, %{{.+}})
// CHECK: flash.require %{{.+}}, "no values"{{$}}
// CHECK: flash.item_work %{{.+}}
// CHECK: flash.parallel_for @body count %{{.+}} work %{{.+}} scratch_bytes %{{.+}}(%{{.+}}, %{{.+}} : memref<2x4x5x8xf64>, f64)
// CHECK: flash.parallel_for @body count %{{.+}} work %{{.+}} scratch_bytes %{{[^(]+$}}
func.func @other_forms(%query: memref<2x4x5x8xf64>, %weights: memref<2x4x5x7xf64>, %sink: f64, %holds: i1, %n: index,
                       %stage: i32) {
  %q = flash.load_query %query[%n, %n, %n] rows %n : memref<2x4x5x8xf64> -> !flash.query<1 x 8, f64>
  %m, %l, %o = flash.init sink %sink : f64 : !flash.rows<1, f64>, !flash.rows<1, f64>, !flash.acc<1 x 6, f64>
  %s, %tm = flash.scores %q, %query at(%n, %n : %n, %n, %n) rows %n keys %n
      : !flash.query<1 x 8, f64>, memref<2x4x5x8xf64> -> !flash.scores<1 x 7, f64>, !flash.rows<1, f64>
  %new, %rescale = flash.update_max %m, %tm unit 0.125 : !flash.rows<1, f64>
  %ranges = memref.alloc() : memref<1x2xindex>
  %s2, %tm2 = flash.scores %q, %query at(%n, %n : %n, %n, %n) rows %n keys %n prefetch %query : memref<2x4x5x8xf64>
      each_step chunk_keys %ranges : memref<1x2xindex> stage %stage
      : !flash.query<1 x 8, f64>, memref<2x4x5x8xf64> -> !flash.scores<1 x 7, f64>, !flash.rows<1, f64>
  flash.store_weights %s, %m, %l, %weights[%n, %n, %n, %n] rows %n keys %n zeros %n unit 0.125
      : !flash.scores<1 x 7, f64>, !flash.rows<1, f64>, memref<2x4x5x7xf64>
  flash.require %holds, "kv_lengths is {0}, kvLen {1}"(%n, %n)
  flash.require %holds, "no values"
  flash.item_work %n
  flash.parallel_for @body count %n work %n scratch_bytes %n(%query, %sink : memref<2x4x5x8xf64>, f64)
  flash.parallel_for @body count %n work %n scratch_bytes %n
  return
}
func.func private @body()

// Rows of several heads.
// CHECK-LABEL: func.func @groups
// CHECK: flash.load_query {{.*}} rows %{{.+}} group 3 : memref
// CHECK: flash.scores {{.*}} rows %{{.+}} keys %{{.+}} group 3 :
// CHECK: flash.store %{{.+}} rows %{{.+}} group 3 :
// CHECK: flash.store_lse {{.*}} rows %{{.+}} group 3 :
func.func @groups(%query: memref<2x12x5x8xf32>, %key: memref<2x4x9x8xf32>, %dest: memref<2x12x5x6xf32>,
                  %lse: memref<2x12x5xf32>, %b: index, %h: index, %hk: index, %n: index) {
  %q = flash.load_query %query[%b, %h, %n] rows %n group 3 : memref<2x12x5x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 6, f32>
  %s, %m = flash.scores %q, %key at(%b, %h : %hk, %n, %n) rows %n keys %n group 3
      : !flash.query<16 x 8, f32>, memref<2x4x9x8xf32> -> !flash.scores<16 x 4, f32>, !flash.rows<16, f32>
  flash.store %acc, %sum, %dest[%b, %h, %n] rows %n group 3
      : !flash.acc<16 x 6, f32>, !flash.rows<16, f32>, memref<2x12x5x6xf32>
  flash.store_lse %max, %sum, %lse[%b, %h, %n] rows %n group 3 : !flash.rows<16, f32>, memref<2x12x5xf32>
  return
}

// Partial results of segments of keys.
// CHECK-LABEL: func.func @partials
// CHECK: flash.store_partial %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>, memref<6x4x5xf32>, memref<6x4x5x?xf32>
// CHECK: %[[M:.+]], %[[L:.+]], %[[A:.+]] = flash.load_partial %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} group 3 : memref<6x4x5xf32>, memref<6x4x5x?xf32> -> !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
// CHECK: %{{.+}}, %{{.+}}, %{{.+}} = flash.merge(%{{.+}}, %{{.+}}, %{{.+}}), (%[[M]], %[[L]], %[[A]]) rows %{{.+}} : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
func.func @partials(%max: memref<6x4x5xf32>, %sum: memref<6x4x5xf32>, %acc: memref<6x4x5x?xf32>, %n: index,
                    %m0: !flash.rows<16, f32>, %l0: !flash.rows<16, f32>, %a0: !flash.acc<16 x ?, f32>,
                    %a1: !flash.acc<16 x ?, f32>) {
  flash.store_partial %m0, %l0, %a0, %max, %sum, %acc[%n, %n, %n] rows %n
    : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>, memref<6x4x5xf32>, memref<6x4x5x?xf32>
  %m, %l, %a = flash.load_partial %max, %sum, %acc[%n, %n, %n] rows %n group 3
    : memref<6x4x5xf32>, memref<6x4x5x?xf32> -> !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
  %r:3 = flash.merge(%m0, %l0, %a1), (%m, %l, %a) rows %n : !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
  return
}

// Products under way.
// CHECK-LABEL: func.func @products
// CHECK: %[[P:.+]] = flash.begin_scores %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] keys %{{.+}} : !flash.query<64 x 8, f16>, memref<1x1x?x8xf16> -> !flash.scores<64 x 16, f32>
// CHECK: %[[S:.+]], %{{.+}} = flash.finish_scores %[[P]] at(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) rows %{{.+}} keys %{{.+}} group 2 score(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK: } where(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK: } : !flash.scores<64 x 16, f32>, !flash.rows<64, f32>
// CHECK: %[[W:.+]] = flash.round_weights %[[S]] : !flash.scores<64 x 16, f32> -> !flash.scores<64 x 16, f16>
// CHECK: %[[B:.+]] = flash.begin_accumulate %{{.+}}, %{{.+}}, %[[W]], %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] keys %{{.+}} : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 16, f16>, memref<1x1x?x8xf16>
// CHECK: flash.finish_accumulate %[[B]] : !flash.acc<64 x 8, f32>
func.func @products(%q: !flash.query<64 x 8, f16>, %k: memref<1x1x?x8xf16>, %a: !flash.acc<64 x 8, f32>, %n: index) {
  %p = flash.begin_scores %q, %k[%n, %n, %n] keys %n
    : !flash.query<64 x 8, f16>, memref<1x1x?x8xf16> -> !flash.scores<64 x 16, f32>
  %s, %r = flash.finish_scores %p at(%n, %n, %n, %n) rows %n keys %n group 2 score(%x, %b, %h, %i, %j) {
    %y = arith.negf %x : f32
    attn.yield %y : f32
  } where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : !flash.scores<64 x 16, f32>, !flash.rows<64, f32>
  %w = flash.round_weights %s : !flash.scores<64 x 16, f32> -> !flash.scores<64 x 16, f16>
  %begun = flash.begin_accumulate %a, %r, %w, %k[%n, %n, %n] keys %n
    : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 16, f16>, memref<1x1x?x8xf16>
  %done = flash.finish_accumulate %begun : !flash.acc<64 x 8, f32>
  return
}
