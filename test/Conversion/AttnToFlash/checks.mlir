// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 target=x86-64-v3" --canonicalize --cse | FileCheck %s

// What only the run knows is checked in front of the loop, one check for each relation.

// CHECK-LABEL: func.func @dynamic_sizes
// CHECK-DAG: flash.require %{{.+}}, "expected key and query to share batch, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected value and query to share batch, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected value and key to share kvHeads, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected value and key to share kvLen, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected key and query to share headDim, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected out to have the inputs' batch, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected out to have the inputs' heads, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected out to have the inputs' queryLen, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected out to have the inputs' valueDim, but got {0} and {1}"
// CHECK-DAG: flash.require %{{.+}}, "expected kvHeads to divide heads, but got {0} and {1}"
// CHECK: scf.forall
// CHECK: flash.load_query {{.*}} -> !flash.query<16 x ?, f32>
// CHECK: flash.init value_dim %{{.+}} : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
func.func @dynamic_sizes(%q: memref<?x?x?x?xf32>, %k: memref<?x?x?x?xf32>, %v: memref<?x?x?x?xf32>,
                         %o: memref<?x?x?x?xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s)
    : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>, memref<?x?x?x?xf32> outs(%o : memref<?x?x?x?xf32>)
  return
}

// CHECK-LABEL: func.func @lengths
// CHECK-SAME: %[[LEN:[^:]+]]: memref<2xi32>)
// CHECK: scf.for %[[B:.+]] = %{{.+}} to %{{.+}} step
// CHECK: %[[L:.+]] = memref.load %[[LEN]][%[[B]]]
// CHECK: %[[X:.+]] = arith.index_cast %[[L]] : i32 to index
// CHECK: %[[OK:.+]] = arith.cmpi ule, %[[X]], %[[C9:.+]] : index
// CHECK: flash.require %[[OK]], "expected each of kv_lengths in 0 to kvLen = {1}, but got {0}"(%[[X]], %[[C9]])
// The kv loop ends at the length of its batch entry.
// CHECK: scf.forall (%[[BB:.+]], %{{.+}}) in (2, 3)
// CHECK: %[[L2:.+]] = memref.load %[[LEN]][%[[BB]]]
// CHECK: %[[END:.+]] = arith.index_cast %[[L2]]
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[END]] step
func.func @lengths(%q: memref<2x3x5x7xf32>, %k: memref<2x3x9x7xf32>, %v: memref<2x3x9x8xf32>, %o: memref<2x3x5x8xf32>,
                   %s: f32, %len: memref<2xi32>) {
  attn.attention %q, %k, %v scale(%s) kv_lengths(%len : memref<2xi32>)
    : memref<2x3x5x7xf32>, memref<2x3x9x7xf32>, memref<2x3x9x8xf32> outs(%o : memref<2x3x5x8xf32>)
  return
}
