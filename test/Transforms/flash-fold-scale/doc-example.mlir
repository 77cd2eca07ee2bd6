// RUN: attn-opt %s --flash-fold-scale --split-input-file | FileCheck %s
// RUN: attn-opt %s --flash-fold-scale --flash-fold-scale --split-input-file | FileCheck %s

// Nobody but the softmax looks at the scores: they stay dot products, and what exp and the logarithm need in natural
// units has the scale as its unit.
// CHECK-LABEL: func.func @loop
// CHECK: flash.scores %{{.+}} rows %{{.+}} keys %{{.+}} : !flash.query
// CHECK: flash.update_max %{{.+}}, %{{.+}} unit 1.250000e-01 :
// CHECK: flash.weights {{.+}} keys %{{.+}} unit 1.250000e-01 :
// CHECK: flash.store_lse {{.+}} rows %{{.+}} unit 1.250000e-01 :
func.func @loop(%query: memref<1x1x16x64xf32>, %key: memref<1x1x?x64xf32>, %value: memref<1x1x?x64xf32>,
                %out: memref<1x1x16x64xf32>, %lse: memref<1x1x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.125 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x64xf32> -> !flash.query<16 x 64, f32>
  %m0, %l0, %o0 = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 64, f32>
  %r:3 = scf.for %j = %c0 to %n step %c16 iter_args(%m = %m0, %l = %l0, %o = %o0)
      -> (!flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 64, f32>) {
    %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %j) rows %c16 keys %c16 scale %scale : f32
      : !flash.query<16 x 64, f32>, memref<1x1x?x64xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %m1, %a = flash.update_max %m, %t : !flash.rows<16, f32>
    %w, %l1 = flash.weights %s, %m1, %l, %a rows %c16 keys %c16 : !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
    %o1 = flash.accumulate %o, %a, %w, %value[%c0, %c0, %j] rows %c16 keys %c16
      : !flash.acc<16 x 64, f32>, !flash.rows<16, f32>, !flash.scores<16 x 16, f32>, memref<1x1x?x64xf32>
    scf.yield %m1, %l1, %o1 : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 64, f32>
  }
  flash.store %r#2, %r#1, %out[%c0, %c0, %c0] rows %c16 : !flash.acc<16 x 64, f32>, !flash.rows<16, f32>, memref<1x1x16x64xf32>
  flash.store_lse %r#0, %r#1, %lse[%c0, %c0, %c0] rows %c16 : !flash.rows<16, f32>, memref<1x1x16xf32>
  return
}

// -----

// Maxima go through memory from the softmax of a segment to the merge of segments: both count in the same unit.
// CHECK-LABEL: func.func @segments
// CHECK: flash.scores %{{.+}} keys %{{.+}} : !flash.query
// CHECK: flash.update_max %{{.+}}, %{{.+}} unit 2.500000e-01 :
// CHECK: flash.merge({{.+}} rows %{{.+}} unit 2.500000e-01 :
func.func @segments(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>, %maxima: memref<1x1x16xf32>,
                    %sums: memref<1x1x16xf32>, %accs: memref<1x1x16x8xf32>, %out: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m0, %l0, %o0 = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %m1, %a = flash.update_max %m0, %t : !flash.rows<16, f32>
  flash.store_partial %m1, %a, %o0, %maxima, %sums, %accs[%c0, %c0, %c0] rows %c16
    : !flash.rows<16, f32>, !flash.acc<16 x 8, f32>, memref<1x1x16xf32>, memref<1x1x16x8xf32>
  %m2, %l2, %o2 = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %pm, %pl, %po = flash.load_partial %maxima, %sums, %accs[%c0, %c0, %c0] rows %c16
    : memref<1x1x16xf32>, memref<1x1x16x8xf32> -> !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %m3, %l3, %o3 = flash.merge(%m2, %l2, %o2), (%pm, %pl, %po) rows %c16 : !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  flash.store %o3, %l3, %out[%c0, %c0, %c0] rows %c16 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x1x16x8xf32>
  return
}

// -----

// Each softmax has its own unit.
// CHECK-LABEL: func.func @two
// CHECK: flash.scores {{.+}} keys %{{[^ ]+}} : !flash.query
// CHECK: flash.update_max %{{.+}}, %{{.+}} unit 5.000000e-01 :
// CHECK: flash.scores {{.+}} keys %{{[^ ]+}} : !flash.query
// CHECK: flash.update_max %{{.+}}, %{{.+}} unit 2.500000e-01 :
func.func @two(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>, %m: !flash.rows<16, f32>,
               %n: !flash.rows<16, f32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %half = arith.constant 0.5 : f32
  %quarter = arith.constant 0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %half : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %m1, %a = flash.update_max %t, %t : !flash.rows<16, f32>
  %q1 = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s1, %t1 = flash.scores %q1, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %quarter : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %m2, %b = flash.update_max %t1, %t1 : !flash.rows<16, f32>
  return
}
