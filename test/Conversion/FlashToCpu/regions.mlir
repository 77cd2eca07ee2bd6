// RUN: attn-opt %s --convert-flash-to-cpu="block-rows=1 target=x86-64-v3" --canonicalize --cse --split-input-file | FileCheck %s

// What depends on j, b and h alone stays scalar; index lanes are i32 where 32 bits are proved to hold them.
// CHECK-LABEL: func.func @uniform_stays_scalar
// CHECK: %[[T:.+]] = memref.load %[[TABLE:.+]][%{{.+}}] : memref<64xf32>
// CHECK: %[[SQ:.+]] = arith.mulf %[[T]], %[[T]] : f32
// CHECK: %[[WIDE:.+]] = vector.broadcast %[[SQ]] : f32 to vector<16xf32>
// CHECK: arith.addf %{{.+}}, %[[WIDE]] : vector<16xf32>
// CHECK: arith.cmpi sle, %{{.+}}, %{{.+}} : vector<16xi32>
func.func @uniform_stays_scalar(%q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>, %table: memref<64xf32>,
                                %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys score(%x, %b, %h, %i, %j) {
    %t = memref.load %table[%j] : memref<64xf32>
    %sq = arith.mulf %t, %t : f32
    %y = arith.addf %x, %sq : f32
    attn.yield %y : f32
  } where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// i * i may be 2^60: 64-bit lanes.
// CHECK-LABEL: func.func @wide_products
// CHECK: arith.extsi %{{.+}} : vector<16xi32> to vector<16xi64>
// CHECK: arith.muli %{{.+}}, %{{.+}} : vector<16xi64>
// CHECK: arith.cmpi sge, %{{.+}}, %{{.+}} : vector<16xi64>
func.func @wide_products(%q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>, %i0: index, %j0: index, %rows: index,
                         %keys: index) {
  %c0 = arith.constant 0 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys where(%b, %h, %i, %j) {
    %square = arith.muli %i, %i : index
    %keep = arith.cmpi sge, %square, %j : index
    attn.yield %keep : i1
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// A load at i is a gather; lanes behind the end read the last valid row.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[ROWS:[^:,]+]]: index, %{{.+}}: index, %[[T:[^:,]+]]: memref<9x7xf32>
// CHECK: %[[LAST:.+]] = arith.addi %[[ROWS]], %{{.+}} : index
// CHECK: arith.minsi %{{.+}}, %{{.+}} : vector<16xi32>
// CHECK: vector.gather
func.func @gather(%q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>, %i0: index, %j0: index, %rows: index,
                  %keys: index, %t: memref<9x7xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys score(%x, %b, %h, %i, %j) {
    %y = memref.load %t[%i, %c3] : memref<9x7xf32>
    attn.yield %y : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}
