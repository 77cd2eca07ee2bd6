// RUN: attn-opt %s --flash-fold-scale --convert-flash-to-cpu="block-rows=1 target=x86-64-v3" --canonicalize --cse --split-input-file | FileCheck %s

// A constant scale up to 1 stays out of scores that nobody looks at: queries are copied as they are, dot products are
// scores, and the exponent of a weight has the scale in its constants, behind the difference to the maximum.
// CHECK-LABEL: func.func @scale_in_the_exponent
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant dense<0.360673755> : vector<16xf32>
// CHECK-DAG: %[[UNIT:.+]] = arith.constant dense<2.500000e-01> : vector<16xf32>
// CHECK: vector.load %{{.+}} : memref<1x1x16x8xf32>, vector<8xf32>
// CHECK-NOT: arith.mulf
// CHECK: vector.fma
// CHECK-NOT: arith.mulf
// CHECK: %[[D:.+]] = arith.subf
// CHECK: arith.cmpf ogt, %{{.+}}, %[[D]]
// CHECK: vector.fma %{{.+}}, %[[LOG2E]], %{{.+}} : vector<16xf32>
// CHECK: %[[LOG:.+]] = math.log
// CHECK: vector.fma %{{.+}}, %[[UNIT]], %[[LOG]]
func.func @scale_in_the_exponent(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %lse: memref<1x1x16xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %max, %m : !flash.rows<16, f32>
  flash.store_lse %new, %rescale, %lse[%c0, %c0, %c0] rows %c16 : !flash.rows<16, f32>, memref<1x1x16xf32>
  return
}

// -----

// A score region sees natural units: dot products are multiplied, the exponent has log2(e) alone.
// CHECK-LABEL: func.func @score_region
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant dense<1.44269502> : vector<16xf32>
// CHECK-DAG: %[[SCALE:.+]] = arith.constant dense<2.500000e-01> : vector<16xf32>
// CHECK: vector.load %{{.+}} : memref<1x1x16x8xf32>, vector<8xf32>
// CHECK-NOT: arith.mulf
// CHECK: arith.mulf %{{.+}}, %[[SCALE]] : vector<16xf32>
// CHECK: arith.subf
// CHECK: vector.fma %{{.+}}, %[[LOG2E]], %{{.+}} : vector<16xf32>
func.func @score_region(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 score(%x, %b, %h, %i, %j) {
    attn.yield %x : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %max, %m : !flash.rows<16, f32>
  return
}

// -----

// So does a sink.
// CHECK-LABEL: func.func @sink
// CHECK-DAG: %[[SCALE:.+]] = arith.constant dense<2.500000e-01> : vector<16xf32>
// CHECK: arith.mulf %{{.+}}, %[[SCALE]] : vector<16xf32>
func.func @sink(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index, %sink: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 0.25 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init sink %sink : f32 : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %max, %m : !flash.rows<16, f32>
  return
}

// -----

// A scale that only the run knows may be negative, or overflow what is finite. Its tiles stay copies.
// CHECK-LABEL: func.func @run_time_scale
// CHECK-SAME: %[[SCALE:[^:,]+]]: f32
// CHECK-NOT: arith.mulf
// CHECK: %[[DOT:.+]] = scf.for {{.+}} -> (vector<16xf32>)
// CHECK: vector.fma
// CHECK: %[[S:.+]] = vector.broadcast %[[SCALE]] : f32 to vector<16xf32>
// CHECK: arith.mulf %[[DOT]], %[[S]] : vector<16xf32>
func.func @run_time_scale(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// Nor are these folded: the largest score would be the smallest; what is finite could overflow; weights of differences
// that overflow would not be 0. And 1 is nothing to multiply by.
// CHECK-LABEL: func.func @negative
// CHECK: arith.mulf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK-LABEL: func.func @above_one
// CHECK: arith.mulf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK-LABEL: func.func @small
// CHECK: arith.mulf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK-LABEL: func.func @one
// CHECK-NOT: arith.mulf
func.func @negative(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant -0.25 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}
func.func @above_one(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 1.5 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}
func.func @small(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 1.0e-5 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}
func.func @one(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %scale = arith.constant 1.0 : f32
  %qt = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s, %m = flash.scores %qt, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %scale : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// One softmax has one unit: two scales are multiplied in.
// CHECK-LABEL: func.func @two_scales
// CHECK-DAG: %[[HALF:.+]] = arith.constant dense<5.000000e-01> : vector<16xf32>
// CHECK-DAG: %[[QUARTER:.+]] = arith.constant dense<2.500000e-01> : vector<16xf32>
// CHECK: arith.mulf %{{.+}}, %[[QUARTER]]
// CHECK: arith.mulf %{{.+}}, %[[HALF]]
func.func @two_scales(%q: memref<1x1x16x8xf32>, %k: memref<1x1x64x8xf32>, %keys: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %quarter = arith.constant 0.25 : f32
  %half = arith.constant 0.5 : f32
  %q0 = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s0, %m0 = flash.scores %q0, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %quarter : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %q1 = flash.load_query %q[%c0, %c0, %c0] rows %c16 : memref<1x1x16x8xf32> -> !flash.query<16 x 8, f32>
  %s1, %m1 = flash.scores %q1, %k at(%c0, %c0 : %c0, %c0, %c0) rows %c16 keys %keys scale %half : f32 : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %new, %rescale = flash.update_max %m0, %m1 : !flash.rows<16, f32>
  return
}

// -----

// 16-bit inputs are widened: queries as they are packed, keys a tile at a time (kv-tile.mlir).
// CHECK-LABEL: func.func @bf16_inputs
// CHECK: %[[Q:.+]] = vector.load %{{.+}} : memref<1x1x16x8xbf16>, vector<8xbf16>
// CHECK: arith.extf %[[Q]] : vector<8xbf16> to vector<8xf32>
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
