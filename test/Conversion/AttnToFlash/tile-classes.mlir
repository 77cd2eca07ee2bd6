// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=8 target=x86-64-v3" --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=8 skip-tiles=false target=x86-64-v3" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=ALL

// A mask on data: runs are written in front, one row for all heads, and the loop goes over the runs. What the mask reads
// at each element is left out of full tiles.
// CHECK-LABEL: func.func @pre_pass
// CHECK: %[[ROWS:.+]] = memref.alloc() : memref<1x1x3x15xi32>
// CHECK: scf.forall (%[[T:.+]]) in (3) {
// CHECK:   scf.for
// CHECK:     %[[CLASS:.+]] = flash.classify_tile
// CHECK:   memref.store %{{.+}}, %[[ROWS]][%{{.+}}, %{{.+}}, %[[T]], %{{.+}}]
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[T:.+]]) in (2, 3, 3) {
// CHECK:   %[[COUNT:.+]] = memref.load %[[ROWS]][%{{.+}}, %{{.+}}, %[[T]], %{{.+}}]
// CHECK:   scf.for
// CHECK:     scf.if
// CHECK:       scf.for
// CHECK:         flash.scores
// CHECK-NOT:     where
// CHECK:     else
// CHECK:       scf.for
// CHECK:         flash.scores
// CHECK-SAME:      where
// CHECK: memref.dealloc %[[ROWS]]
// ALL-LABEL: func.func @pre_pass
// ALL-NOT: classify_tile
func.func @pre_pass(%q: memref<2x3x40x4xf32>, %k: memref<2x3x50x4xf32>, %v: memref<2x3x50x6xf32>,
                    %keep: memref<40x50xi1>, %o: memref<2x3x40x6xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %x = memref.load %keep[%i, %j] : memref<40x50xi1>
    attn.yield %x : i1
  } : memref<2x3x40x4xf32>, memref<2x3x50x4xf32>, memref<2x3x50x6xf32> outs(%o : memref<2x3x40x6xf32>)
  return
}

// A kept record is compared with the op, and used also where the mask has bounds. The tiles are those of the record.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: %[[RECORD:[^:,]+]]: memref<?xi32>
// CHECK-NOT: flash.classify_tile
// CHECK: flash.require %{{.+}}, "expected tiles to be a record of at least {1} words, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be a record of attn.classify_tiles, which starts with {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for a query tile of {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for a kv tile of {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for queryLen {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for kvLen {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for batch {1} or 1, but got {0}"
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for heads {1}, but got {0}"
// CHECK: flash.require %{{.+}}, "expected a record of tile classes of {1} words, but got {0}"
// CHECK: memref.reinterpret_cast %[[RECORD]]
// CHECK: flash.require %{{.+}}, "expected tiles to be classified for kv_lengths of {1}, but got {0}"
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %{{.+}}) in (2, 3, 2) {
// CHECK: flash.load_query {{.*}} -> !flash.query<32 x 4, f32>
// CHECK: flash.scores
// CHECK: -> !flash.scores<32 x 24, f32>
// ALL-LABEL: func.func @kept
// ALL: flash.require %{{.+}}, "expected tiles to be classified for a query tile of {1}, but got {0}"
func.func @kept(%record: memref<?xi32>, %q: memref<2x3x40x4xf32>, %k: memref<2x3x50x4xf32>, %v: memref<2x3x50x6xf32>,
                %o: memref<2x3x40x6xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %last = arith.addi %i, %h : index
    %x = arith.cmpi sle, %j, %last : index
    attn.yield %x : i1
  } tiles(%record : memref<?xi32> of 32 x 24)
    : memref<2x3x40x4xf32>, memref<2x3x50x4xf32>, memref<2x3x50x6xf32> outs(%o : memref<2x3x40x6xf32>)
  return
}

// CHECK-LABEL: func.func @classify
// CHECK-SAME: %[[OUT:[^:,]+]]: memref<?xi32>
// CHECK: flash.require %{{.+}}, "expected a record of tile classes of {1} words, but got {0}"
// CHECK: memref.store %c1096045635_i32, %[[OUT]][%c0]
// CHECK: scf.forall
// CHECK: flash.classify_tile {{.*}} of 16 keys
func.func @classify(%out: memref<?xi32>, %n: index) {
  attn.classify_tiles 16 x 8 sizes(%n, %n, %n, %n) : outs(%out : memref<?xi32>)
  return
}
