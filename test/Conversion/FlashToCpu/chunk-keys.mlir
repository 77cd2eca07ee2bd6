// RUN: attn-opt %s --flash-chunk-keys=target=x86-64-v3 --convert-flash-to-cpu="target=x86-64-v3" --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --flash-chunk-keys=target=x86-64-v3 | FileCheck %s --check-prefix=STEPS
// The keys that a chunk of rows may keep: found once for a tile, looked up by the three steps.

// STEPS-LABEL: func.func @bounds
// STEPS: %[[RANGES:.+]] = memref.alloc() {{.*}}: memref<4x2xindex>
// STEPS: scf.for
// STEPS: flash.scores {{.+}} chunk_keys %[[RANGES]] : memref<4x2xindex> where
// STEPS: flash.weights {{.+}} chunk_keys %[[RANGES]] : memref<4x2xindex> :
// STEPS: flash.accumulate {{.+}} chunk_keys %[[RANGES]] : memref<4x2xindex> :
// STEPS-LABEL: func.func @no_bounds
// STEPS-NOT: chunk_keys

// Rows i0 to i0 + 63 in chunks of 16, keys up to the row: of 64 keys from j0 a chunk keeps those in front of
// i0 + lane + 16.
// CHECK-LABEL: func.func @bounds
// CHECK-SAME: %[[I0:[^:,]+]]: index, %[[J0:[^:,]+]]: index, %[[ROWS:[^:,]+]]: index, %[[KEYS:[^:,]+]]: index
// CHECK: %[[RANGES:.+]] = memref.alloc() {{.*}}: memref<4x2xindex>
// CHECK: scf.for %[[LANE:.+]] = %c0 to %[[ROWS]] step %c16 {
// CHECK:   %[[NEXT:.+]] = arith.addi %[[LANE]], %c16
// CHECK:   %[[END:.+]] = arith.minsi %[[NEXT]], %[[ROWS]]
// CHECK:   %[[LAST:.+]] = arith.subi %[[END]], %c1
// CHECK:   %[[I1:.+]] = arith.addi %[[I0]], %[[LAST]]
// CHECK:   memref.store %c0, %[[RANGES]][%{{.+}}, %c0]
// CHECK:   %[[BEHIND:.+]] = arith.addi %[[I1]], %c1
// CHECK:   %[[KEY:.+]] = arith.subi %[[BEHIND]], %[[J0]]
// CHECK:   %[[POSITIVE:.+]] = arith.maxsi %[[KEY]], %c0
// CHECK:   %[[KEPT:.+]] = arith.minsi %[[POSITIVE]], %[[KEYS]]
// CHECK:   memref.store %[[KEPT]], %[[RANGES]][%{{.+}}, %c1]
// Scores: blocks that no row of the chunk keeps are left out.
// CHECK: memref.load %[[RANGES]]
// CHECK: scf.if
// CHECK: vector.fma
// Weights, then values: loops over the kept keys.
// CHECK: %[[FIRST:.+]] = memref.load %[[RANGES]][%{{.+}}, %c0]
// CHECK: %[[LIMIT:.+]] = memref.load %[[RANGES]][%{{.+}}, %c1]
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %[[LIMIT]]
// CHECK: %[[FIRST:.+]] = memref.load %[[RANGES]][%{{.+}}, %c0]
// CHECK: %[[LIMIT:.+]] = memref.load %[[RANGES]][%{{.+}}, %c1]
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %[[LIMIT]]
// CHECK-LABEL: func.func @no_bounds
// CHECK-NOT: xindex>
// CHECK-LABEL: func.func @one_chunk
// CHECK-NOT: xindex>
func.func @bounds(%i0: index, %j0: index, %rows: index, %keys: index, %q: memref<1x1x99x8xf32>, %k: memref<1x1x99x8xf32>,
                  %o: memref<1x1x99x8xf32>) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x99x8xf32> -> !flash.query<64 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<64, f32>, !flash.rows<64, f32>, !flash.acc<64 x 8, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : !flash.query<64 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %n, %r = flash.update_max %max, %m : !flash.rows<64, f32>
  %w, %t = flash.weights %s, %n, %sum, %r rows %rows keys %keys : !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %a = flash.accumulate %acc, %r, %w, %k[%c0, %c0, %j0] rows %rows keys %keys
      : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 64, f32>, memref<1x1x99x8xf32>
  flash.store %a, %t, %o[%c0, %c0, %i0] rows %rows : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, memref<1x1x99x8xf32>
  return
}

// A mask on data has no bounds.
func.func @no_bounds(%i0: index, %j0: index, %rows: index, %keys: index, %q: memref<1x1x99x8xf32>,
                     %k: memref<1x1x99x8xf32>, %o: memref<1x1x99x8xf32>, %mask: memref<99x99xi1>) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x99x8xf32> -> !flash.query<64 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<64, f32>, !flash.rows<64, f32>, !flash.acc<64 x 8, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys where(%b, %h, %i, %j) {
    %keep = memref.load %mask[%i, %j] : memref<99x99xi1>
    attn.yield %keep : i1
  } : !flash.query<64 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %n, %r = flash.update_max %max, %m : !flash.rows<64, f32>
  %w, %t = flash.weights %s, %n, %sum, %r rows %rows keys %keys : !flash.scores<64 x 64, f32>, !flash.rows<64, f32>
  %a = flash.accumulate %acc, %r, %w, %k[%c0, %c0, %j0] rows %rows keys %keys
      : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 64, f32>, memref<1x1x99x8xf32>
  flash.store %a, %t, %o[%c0, %c0, %i0] rows %rows : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, memref<1x1x99x8xf32>
  return
}

// The loop over tiles has done it where there is one chunk.
func.func @one_chunk(%i0: index, %j0: index, %rows: index, %keys: index, %q: memref<1x1x99x8xf32>,
                     %k: memref<1x1x99x8xf32>, %o: memref<1x1x99x8xf32>) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x99x8xf32> -> !flash.query<16 x 8, f32>
  %max, %sum, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : !flash.query<16 x 8, f32>, memref<1x1x99x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %n, %r = flash.update_max %max, %m : !flash.rows<16, f32>
  %w, %t = flash.weights %s, %n, %sum, %r rows %rows keys %keys : !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  %a = flash.accumulate %acc, %r, %w, %k[%c0, %c0, %j0] rows %rows keys %keys
      : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, !flash.scores<16 x 64, f32>, memref<1x1x99x8xf32>
  flash.store %a, %t, %o[%c0, %c0, %i0] rows %rows : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x1x99x8xf32>
  return
}
