// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 target=x86-64-v3" --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 segment-keys=64 target=x86-64-v3" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=SEGMENTS

// What an item of the parallel loop is told to take, and which comes first.

// Of sizes that the run knows: min(queryLen, 16) rows x kvLen keys x (24 + 8 + 16), of f64 twice; no size counts for
// more than 2^20.
// CHECK-LABEL: func.func @work_of_dynamic_sizes
// CHECK-SAME: %[[Q:[^:]+]]: memref<2x6x?x24xf64>, %[[K:[^:]+]]: memref<2x6x?x24xf64>
// CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
// CHECK-DAG: %[[C96:.+]] = arith.constant 96 : index
// CHECK-DAG: %[[LARGE:.+]] = arith.constant 1048576 : index
// CHECK-DAG: %[[QL:.+]] = memref.dim %[[Q]]
// CHECK-DAG: %[[KL:.+]] = memref.dim %[[K]]
// CHECK-DAG: %[[ROWS:.+]] = arith.minsi %[[QL]], %[[C16]]
// CHECK-DAG: %[[KEYS:.+]] = arith.minsi %[[KL]], %[[LARGE]]
// CHECK-DAG: %[[SCORES:.+]] = arith.muli %[[ROWS]], %[[KEYS]]
// CHECK-DAG: %[[WORK:.+]] = arith.muli %[[SCORES]], %[[C96]]
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[T:.+]]) in
// CHECK-NEXT: flash.item_work %[[WORK]]
// Every tile has all keys: they come as they lie.
// CHECK-NEXT: arith.muli %[[T]], %[[C16]]
func.func @work_of_dynamic_sizes(%q: memref<2x6x?x24xf64>, %k: memref<2x6x?x24xf64>, %v: memref<2x6x?x8xf64>,
                                 %o: memref<2x6x?x8xf64>, %s: f64) {
  attn.attention %q, %k, %v scale(%s : f64)
    : memref<2x6x?x24xf64>, memref<2x6x?x24xf64>, memref<2x6x?x8xf64> outs(%o : memref<2x6x?x8xf64>)
  return
}

// 4 rows (of 4 heads) x 64 keys x 48; then 4 rows x 3 segments x (8 + 16).
// SEGMENTS-LABEL: func.func @work_of_segments
// SEGMENTS-DAG: %[[PART:.+]] = arith.constant 12288 : index
// SEGMENTS-DAG: %[[MERGE:.+]] = arith.constant 288 : index
// SEGMENTS: scf.forall
// SEGMENTS-NEXT: flash.item_work %[[PART]]
// SEGMENTS: scf.forall
// SEGMENTS-NEXT: flash.item_work %[[MERGE]]
func.func @work_of_segments(%q: memref<2x4x1x24xf32>, %k: memref<2x1x190x24xf32>, %v: memref<2x1x190x8xf32>,
                            %o: memref<2x4x1x8xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s)
    : memref<2x4x1x24xf32>, memref<2x1x190x24xf32>, memref<2x1x190x8xf32> outs(%o : memref<2x4x1x8xf32>)
  return
}

// The bounds decide on the order: those of a prefix that the run knows grow, where the diagonal is in front.
// CHECK-LABEL: func.func @prefix
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[T:.+]]) in (2, 6, 5)
// CHECK: %[[N:.+]] = arith.subi %[[C4]], %[[T]]
// CHECK: arith.muli %[[N]],
func.func @prefix(%q: memref<2x6x70x24xf32>, %o: memref<2x6x70x24xf32>, %p: index, %s: f32) {
  attn.attention %q, %q, %q scale(%s) where(%b, %h, %i, %j) {
    %c = arith.cmpi sle, %j, %i : index
    %in = arith.cmpi slt, %j, %p : index
    %keep = arith.ori %c, %in : i1
    attn.yield %keep : i1
  } : memref<2x6x70x24xf32>, memref<2x6x70x24xf32>, memref<2x6x70x24xf32> outs(%o : memref<2x6x70x24xf32>)
  return
}

// A window has as many keys everywhere.
// CHECK-LABEL: func.func @window
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[T:.+]]) in (2, 6, 5)
// CHECK-NEXT: flash.item_work
// CHECK-NEXT: arith.muli %[[T]],
func.func @window(%q: memref<2x6x70x24xf32>, %o: memref<2x6x70x24xf32>, %left: index, %s: f32) {
  attn.attention %q, %q, %q scale(%s) where(%b, %h, %i, %j) {
    %first = arith.subi %i, %left : index
    %c = arith.cmpi sle, %j, %i : index
    %in = arith.cmpi sge, %j, %first : index
    %keep = arith.andi %c, %in : i1
    attn.yield %keep : i1
  } : memref<2x6x70x24xf32>, memref<2x6x70x24xf32>, memref<2x6x70x24xf32> outs(%o : memref<2x6x70x24xf32>)
  return
}

// 70 points of 16 rows of a mask of two operations, 8 for each and 8 for the rest.
// CHECK-LABEL: func.func @classification
// CHECK-DAG: %[[WORK:.+]] = arith.constant 26880 : index
// CHECK: scf.forall
// CHECK-NEXT: flash.item_work %[[WORK]]
func.func @classification(%out: memref<?xi32>) {
  %one = arith.constant 1 : index
  %n = arith.constant 70 : index
  attn.classify_tiles 16 x 8 sizes(%one, %one, %n, %n) where(%b, %h, %i, %j) {
    %difference = arith.xori %i, %j : index
    %keep = arith.cmpi sle, %difference, %i : index
    attn.yield %keep : i1
  } : outs(%out : memref<?xi32>)
  return
}
