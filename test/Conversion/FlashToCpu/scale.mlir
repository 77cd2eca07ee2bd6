// RUN: attn-opt %s --convert-flash-to-cpu="block-rows=1 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// A scale that only the run knows, or one above 1, could overflow in the packed query: it multiplies the dot products.
// CHECK-LABEL: func.func @run_time_scale
// CHECK-SAME: %[[SCALE:[^:,]+]]: f32
// Scores count in base 2: log2(e) is a part of the scale.
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant 1.44269502 : f32
// CHECK: %[[FACTOR:.+]] = arith.mulf %[[SCALE]], %[[LOG2E]] : f32
// CHECK-NOT: arith.mulf
// CHECK: vector.fma
// CHECK: %[[S:.+]] = vector.broadcast %[[FACTOR]] : f32 to vector<16xf32>
// CHECK: arith.mulf %{{.+}}, %[[S]] : vector<16xf32>
func.func @run_time_scale(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 scale %scale : f32 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// 16-bit inputs are widened: queries as they are packed, keys a tile at a time (kv-tile.mlir).
// CHECK-LABEL: func.func @bf16_inputs
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant dense<1.44269502> : vector<8xf32>
// CHECK: %[[Q:.+]] = vector.load %{{.+}} : memref<1x1x16x8xbf16>, vector<8xbf16>
// CHECK: %[[QW:.+]] = arith.extf %[[Q]] : vector<8xbf16> to vector<8xf32>
// CHECK: arith.mulf %[[QW]], %[[LOG2E]]
// CHECK: %[[K:.+]] = vector.load %{{.+}} : memref<?x8xbf16, {{.+}}>, vector<8xbf16>
// CHECK: arith.extf %[[K]] : vector<8xbf16> to vector<8xf32>
// CHECK: %[[KW:.+]] = memref.load %{{.+}} : memref<64x8xf32>
// CHECK: vector.broadcast %[[KW]] : f32 to vector<16xf32>
func.func @bf16_inputs(%q: memref<1x1x16x8xbf16>, %k: memref<1x1x64x8xbf16>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xbf16> -> !flash.query<16 x 8, bf16>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys : !flash.query<16 x 8, bf16>, memref<1x1x64x8xbf16> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// A score region sees the scores as they are, and may yield the lowest number, which has no log2(e) times: e^x then.
// CHECK-LABEL: func.func @natural
// CHECK-NOT: 1.44269502 : f32
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant dense<1.44269502> : vector<16xf32>
// CHECK-DAG: %[[SCALE:.+]] = arith.constant dense<2.500000e-01> : vector<8xf32>
// CHECK: %[[Q:.+]] = vector.load %{{.+}} : memref<1x1x16x8xf32>, vector<8xf32>
// CHECK: arith.mulf %[[Q]], %[[SCALE]]
// CHECK: arith.subf
// CHECK: vector.fma %{{.+}}, %[[LOG2E]], %{{.+}} : vector<16xf32>
func.func @natural(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %lse: memref<1x1x16xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 scale %scale : f32 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys score(%x, %b, %h, %i, %j) {
    attn.yield %x : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %max, %m : !flash.rows<16, f32>
  flash.store_lse %new, %rescale, %lse[%c0, %c0, %c0] rows %c16 : !flash.rows<16, f32>, memref<1x1x16xf32>
  return
}
