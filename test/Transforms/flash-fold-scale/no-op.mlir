// RUN: attn-opt %s --flash-fold-scale | FileCheck %s

// A score region sees natural units.
// CHECK-LABEL: func.func @score_region
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @score_region(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32 score(%x, %b, %h, %i, %j) {
    attn.yield %x : f32
  }
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// A sink is compared with scores.
// CHECK-LABEL: func.func @sink
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @sink(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>, %sink: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init sink %sink : f32 : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// What only the run knows may be negative, or overflow what is finite.
// CHECK-LABEL: func.func @run_time_scale
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @run_time_scale(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// The largest score would be the smallest.
// CHECK-LABEL: func.func @negative
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @negative(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant -0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// What is finite could overflow.
// CHECK-LABEL: func.func @above_one
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @above_one(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 1.5 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// Weights of differences that overflow would not be 0.
// CHECK-LABEL: func.func @small
// CHECK: flash.scores {{.+}} scale %
// CHECK: flash.update_max %{{.+}}, %{{[^ ]+}} :
func.func @small(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 1.0e-5 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m, %t : !flash.rows<16, f32>
  return
}

// The maxima go where another function may read them.
// CHECK-LABEL: func.func @kept
// CHECK: flash.scores {{.+}} scale %
func.func @kept(%query: memref<1x1x16x8xf32>, %key: memref<1x1x16x8xf32>, %maxima: memref<1x1x16xf32>,
                %sums: memref<1x1x16xf32>, %accs: memref<1x1x16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %q = flash.load_query %query[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %m, %l, %o = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %t = flash.scores %q, %key at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %c16 scale %scale : f32
    : !flash.query<16 x 8, f32>, memref<1x1x16x8xf32> -> !flash.scores<16 x 16, f32>, !flash.rows<16, f32>
  flash.store_partial %t, %l, %o, %maxima, %sums, %accs[%c0, %c0, %c0] rows %c16
    : !flash.rows<16, f32>, !flash.acc<16 x 8, f32>, memref<1x1x16xf32>, memref<1x1x16x8xf32>
  return
}
