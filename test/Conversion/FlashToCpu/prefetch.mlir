// RUN: attn-opt %s --flash-prefetch=target=x86-64-v3 | FileCheck %s

// The values go with the keys. 64 rows are work enough to ask for a tile at once; 16 rows are two vectors of eight, and
// ask in each step of the product. Scores whose weights meet no values have nothing to ask for.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %{{[^:]+}}: memref<1x1x99x8xf32>, %[[K:[^:]+]]: memref<1x1x99x8xf32>, %[[V:[^:]+]]: memref<1x1x99x8xf32>
// CHECK: flash.scores %{{.+}}, %[[K]] at{{.+}} keys %{{[^ ]+}} prefetch %[[V]] : memref<1x1x99x8xf32> : !flash.query<64 x 8, f32>
// CHECK: flash.scores %{{.+}}, %[[K]] at{{.+}} keys %{{[^ ]+}} prefetch %[[V]] : memref<1x1x99x8xf32> each_step : !flash.query<16 x 8, f32>
// CHECK: flash.scores %{{.+}}, %[[K]] at{{.+}} keys %{{[^ ]+}} : !flash.query<64 x 8, f32>
func.func @tiles(%q: memref<1x1x99x8xf32>, %k: memref<1x1x99x8xf32>, %v: memref<1x1x99x8xf32>,
                 %n: index, %out: memref<1x1x99x99xf32>) {
  %c0 = arith.constant 0 : index
  %q0 = flash.load_query %q[%c0, %c0, %c0] rows %n : memref<1x1x99x8xf32> -> !flash.query<64 x 8, f32>
  %m0, %l0, %a0 = flash.init : !flash.rows<64, f32>, !flash.rows<64, f32>, !flash.acc<64 x 8, f32>
  %s0, %t0 = flash.scores %q0, %k at(%c0, %c0 : %c0, %c0, %c0) rows %n keys %n
    : !flash.query<64 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %w0, %ln0 = flash.weights %s0, %t0, %l0, %m0 rows %n keys %n : !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %r0 = flash.accumulate %a0, %m0, %w0, %v[%c0, %c0, %c0] rows %n keys %n
    : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 64, f32>, memref<1x1x99x8xf32>
  %q1 = flash.load_query %q[%c0, %c0, %c0] rows %n : memref<1x1x99x8xf32> -> !flash.query<16 x 8, f32>
  %m1, %l1, %a1 = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s1, %t1 = flash.scores %q1, %k at(%c0, %c0 : %c0, %c0, %c0) rows %n keys %n
    : !flash.query<16 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %w1, %ln1 = flash.weights %s1, %t1, %l1, %m1 rows %n keys %n : !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %r1 = flash.accumulate %a1, %m1, %w1, %v[%c0, %c0, %c0] rows %n keys %n
    : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, !flash.scores<16 x 64, f32>, memref<1x1x99x8xf32>
  %s2, %t2 = flash.scores %q0, %k at(%c0, %c0 : %c0, %c0, %c0) rows %n keys %n
    : !flash.query<64 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  flash.store_weights %s2, %t2, %l0, %out[%c0, %c0, %c0, %c0] rows %n keys %n zeros %n
    : !flash.scores<64 x 64, f32>, !flash.rows<64, f32>, memref<1x1x99x99xf32>
  return
}
