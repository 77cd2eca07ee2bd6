// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// Layouts become views with the four dimensions in order; nothing is copied.

// A packed projection [batch, length, 3, heads, size]: strides of the length 3 * 2 * 4 = 24, of heads 4; key and value
// start 1 * 8 and 2 * 8 elements further.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[P:[^:]+]]: memref<1x6x3x2x4xf32>
// CHECK-DAG: memref.reinterpret_cast %[[P]] to offset: [0], sizes: [1, 2, 6, 4], strides: [144, 4, 24, 1]
// CHECK-DAG: memref.reinterpret_cast %[[P]] to offset: [8], sizes: [1, 2, 6, 4], strides: [144, 4, 24, 1]
// CHECK-DAG: memref.reinterpret_cast %[[P]] to offset: [16], sizes: [1, 2, 6, 4], strides: [144, 4, 24, 1]
// CHECK-NOT: memref.copy
func.func @packed(%p: memref<1x6x3x2x4xf32>, %o: memref<1x6x2x4xf32>, %s: f32) {
  attn.attention %p, %p, %p scale(%s)
    layout(query(b, i, 0, h, d), key(b, j, 1, h, d), value(b, j, 2, h, e), out(b, i, h, e))
    : memref<1x6x3x2x4xf32>, memref<1x6x3x2x4xf32>, memref<1x6x3x2x4xf32> outs(%o : memref<1x6x2x4xf32>)
  return
}

// A transposed key [size, length], shared by all heads: absent letters have size 1 and stride 0.
// CHECK-LABEL: func.func @transposed_key
// CHECK-SAME: %{{[^:]+}}: memref<3x5x7xf32>, %[[K:[^:]+]]: memref<7x9xf32>
// CHECK: memref.reinterpret_cast %[[K]] to offset: [0], sizes: [1, 1, 9, 7], strides: [0, 0, 1, 9]
func.func @transposed_key(%q: memref<3x5x7xf32>, %k: memref<7x9xf32>, %v: memref<9x8xf32>, %o: memref<3x5x8xf32>,
                          %s: f32) {
  attn.attention %q, %k, %v scale(%s) layout(query(h, i, d), key(d, j), value(j, e), out(h, i, e))
    : memref<3x5x7xf32>, memref<7x9xf32>, memref<9x8xf32> outs(%o : memref<3x5x8xf32>)
  return
}
