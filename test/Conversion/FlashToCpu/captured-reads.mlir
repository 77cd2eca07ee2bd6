// RUN: attn-opt %s --convert-flash-to-cpu="block-rows=2 target=x86-64-v3" --canonicalize --cse --split-input-file | FileCheck %s

// The part of a captured matrix that a chunk of queries and a tile of keys need is copied at once, blocks of 8 x 8
// turned in registers; what depends on the query alone is built once a chunk, in front of the loop over keys. The region
// has a loop of its own behind the dot products.
// CHECK-LABEL: func.func @matrix
// CHECK-SAME: %[[M:[^:,]+]]: memref<64x64xf32>, %[[T:[^:,]+]]: memref<64xf32>
// CHECK: %[[COPY:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x64x16xf32>
// CHECK: vector.fma
// CHECK: vector.load %[[M]][{{.+}}] : memref<64x64xf32>, vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.store %{{.+}}, %[[COPY]]
// CHECK: %[[BY_QUERY:.+]] = vector.gather
// CHECK: scf.for
// CHECK: %[[READ:.+]] = vector.load %[[COPY]][{{.+}}] : memref<1x64x16xf32>, vector<16xf32>
// CHECK: %[[SUM:.+]] = arith.addf %{{.+}}, %[[READ]]
// CHECK: arith.mulf %[[SUM]], %[[BY_QUERY]]
// CHECK-NOT: vector.gather
func.func @matrix(%m: memref<64x64xf32>, %t: memref<64xf32>, %q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>,
                  %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %max = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys score(%x, %b, %h, %i, %j) {
    %u = memref.load %m[%i, %j] : memref<64x64xf32>
    %w = memref.load %t[%i] : memref<64xf32>
    %y = arith.addf %x, %u : f32
    %z = arith.mulf %y, %w : f32
    attn.yield %z : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// Flags are copied as bytes: vectors of i1 have bits. A mask alone is applied where the dot products leave the registers.
// CHECK-LABEL: func.func @flags
// CHECK-SAME: %[[M:[^:,]+]]: memref<64x64xi1>
// CHECK: %[[COPY:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x64x16xi8>
// CHECK: %[[FLAG:.+]] = memref.load %[[M]]
// CHECK: %[[BYTE:.+]] = arith.extui %[[FLAG]] : i1 to i8
// CHECK: memref.store %[[BYTE]], %[[COPY]]
// CHECK: vector.fma
// CHECK: %[[READ:.+]] = vector.load %[[COPY]][{{.+}}] : memref<1x64x16xi8>, vector<16xi8>
// CHECK: %[[KEEP:.+]] = arith.trunci %[[READ]] : vector<16xi8> to vector<16xi1>
// CHECK: arith.select %[[KEEP]]
func.func @flags(%m: memref<64x64xi1>, %q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>, %i0: index, %j0: index,
                 %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %max = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys where(%b, %h, %i, %j) {
    %keep = memref.load %m[%i, %j] : memref<64x64xi1>
    attn.yield %keep : i1
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// Neighbours along the keys must be neighbours in memory: twice j, j in front of i, and -j are gathered.
// CHECK-LABEL: func.func @gathered
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-3: vector.gather
// CHECK-NOT: vector.shuffle
func.func @gathered(%m: memref<64x64xf32>, %t: memref<256xf32>, %q: memref<1x1x64x8xf32>, %k: memref<1x1x64x8xf32>,
                    %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %max = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys score(%x, %b, %h, %i, %j) {
    %twice = arith.muli %j, %c2 : index
    %far = arith.addi %twice, %i : index
    %u = memref.load %t[%far] : memref<256xf32>
    %v = memref.load %m[%j, %i] : memref<64x64xf32>
    %back = arith.subi %i, %j : index
    %at = arith.addi %back, %c64 : index
    %w = memref.load %t[%at] : memref<256xf32>
    %y = arith.addf %u, %v : f32
    %z = arith.addf %y, %w : f32
    attn.yield %z : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}

// -----

// An index that is held inside of the tensor, as those of dynamic sizes are, is looked at for each chunk and tile: where
// no bound matters the block is turned, elsewhere its elements are read one by one.
// CHECK-LABEL: func.func @clamped
// CHECK-SAME: %[[M:[^:,]+]]: memref<?x?xf32
// CHECK: %[[COPY:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x64x16xf32>
// CHECK: vector.fma
// CHECK: %[[ALL:.+]] = scf.for {{.+}} -> (i1) {
// CHECK: %[[FIRST:.+]] = arith.minsi
// CHECK: %[[LAST:.+]] = arith.minsi
// CHECK: %[[DISTANCE:.+]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: arith.cmpi eq, %[[DISTANCE]], %{{.+}}
// CHECK: scf.if %[[ALL]] {
// CHECK: vector.load %[[M]]
// CHECK-COUNT-24: vector.shuffle
// CHECK: } else {
// CHECK-NOT: vector.load
// CHECK: memref.load %[[M]]
// CHECK: memref.store %{{.+}}, %[[COPY]]
// CHECK-NOT: vector.gather
func.func @clamped(%m: memref<?x?xf32, strided<[?, 1], offset: ?>>, %last: index, %q: memref<1x1x64x8xf32>,
                   %k: memref<1x1x64x8xf32>, %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %qt = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x1x64x8xf32> -> !flash.query<16 x 8, f32>
  %s, %max = flash.scores %qt, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys score(%x, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : index
    %at = arith.minsi %last, %d : index
    %u = memref.load %m[%i, %at] : memref<?x?xf32, strided<[?, 1], offset: ?>>
    %y = arith.addf %x, %u : f32
    attn.yield %y : f32
  } : !flash.query<16 x 8, f32>, memref<1x1x64x8xf32> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return
}
