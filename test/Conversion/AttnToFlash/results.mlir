// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=4 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// The weights need a second pass over all keys, with the final maximum and sum.
// CHECK-LABEL: func.func @lse_weights_sink
// CHECK-SAME: %[[SINK:[^:,]+]]: memref<3xf32>
// CHECK: scf.forall (%{{.+}}, %[[H:.+]]) in (2, 3)
// CHECK: %[[S:.+]] = memref.load %[[SINK]][%[[H]]]
// CHECK: flash.init sink %[[S]] : f32
// CHECK: %[[R:.+]]:3 = scf.for
// CHECK: flash.accumulate
// CHECK: flash.store %[[R]]#2, %[[R]]#1
// CHECK: flash.store_lse %[[R]]#0, %[[R]]#1
// CHECK: scf.for
// CHECK: %[[T:.+]], %{{.+}} = flash.scores
// CHECK-NOT: flash.accumulate
// CHECK: flash.store_weights %[[T]], %[[R]]#0, %[[R]]#1
func.func @lse_weights_sink(%q: memref<2x3x5x7xf32>, %k: memref<2x3x9x7xf32>, %v: memref<2x3x9x8xf32>,
                            %o: memref<2x3x5x8xf32>, %s: f32, %sink: memref<3xf32>, %lse: memref<2x3x5xf32>,
                            %w: memref<2x3x5x9xf32>) {
  attn.attention %q, %k, %v scale(%s) sink(%sink : memref<3xf32>)
    : memref<2x3x5x7xf32>, memref<2x3x9x7xf32>, memref<2x3x9x8xf32>
      outs(%o : memref<2x3x5x8xf32>) lse(%lse : memref<2x3x5xf32>) weights(%w : memref<2x3x5x9xf32>)
  return
}

// Scores are f32 for 16-bit inputs, f64 for f64.
// CHECK-LABEL: func.func @bf16
// CHECK: flash.load_query {{.*}} -> !flash.query<16 x 7, bf16>
// CHECK: flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
func.func @bf16(%q: memref<2x3x5x7xbf16>, %k: memref<2x3x9x7xbf16>, %v: memref<2x3x9x8xbf16>, %o: memref<2x3x5x8xbf16>,
                %s: f32) {
  attn.attention %q, %k, %v scale(%s)
    : memref<2x3x5x7xbf16>, memref<2x3x9x7xbf16>, memref<2x3x9x8xbf16> outs(%o : memref<2x3x5x8xbf16>)
  return
}
// CHECK-LABEL: func.func @f64
// CHECK: flash.init : !flash.rows<16, f64>, !flash.rows<16, f64>, !flash.acc<16 x 8, f64>
func.func @f64(%q: memref<2x3x5x7xf64>, %k: memref<2x3x9x7xf64>, %v: memref<2x3x9x8xf64>, %o: memref<2x3x5x8xf64>,
               %s: f64) {
  attn.attention %q, %k, %v scale(%s : f64)
    : memref<2x3x5x7xf64>, memref<2x3x9x7xf64>, memref<2x3x9x8xf64> outs(%o : memref<2x3x5x8xf64>)
  return
}
