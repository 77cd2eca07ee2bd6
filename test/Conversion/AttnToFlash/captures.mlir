// RUN: attn-opt %s --convert-attn-to-flash="tile-q=16 tile-kv=32 target=x86-64-v3" --canonicalize --cse --split-input-file | FileCheck %s

// An index that is proved in bounds is left alone: h < 3 and j < 9.
// CHECK-LABEL: func.func @proved
// CHECK: flash.scores
// CHECK-SAME: score(%{{.+}}, %{{.+}}, %[[H:.+]], %{{.+}}, %[[J:.+]]) {
// CHECK-NEXT: memref.load %{{.+}}[%[[H]], %[[J]]]
func.func @proved(%q: memref<2x3x5x7xf32>, %k: memref<2x3x9x7xf32>, %v: memref<2x3x9x8xf32>, %o: memref<2x3x5x8xf32>,
                  %s: f32, %table: memref<3x9xf32>) {
  attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = memref.load %table[%h, %j] : memref<3x9xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : memref<2x3x5x7xf32>, memref<2x3x9x7xf32>, memref<2x3x9x8xf32> outs(%o : memref<2x3x5x8xf32>)
  return
}

// -----

// i - j is from -8 to 4: clamped to [0, 8]. i + j is from 0 to 12, the table has 13: left alone.
// CHECK-LABEL: func.func @computed
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK: score(%{{.+}}, %{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: %[[D:.+]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[LOW:.+]] = arith.minsi %[[D]], %[[C8:.+]] : index
// CHECK: %[[AT:.+]] = arith.maxsi %[[LOW]], %{{.+}} : index
// CHECK: memref.load %{{.+}}[%[[AT]]] : memref<9xf32>
// CHECK: %[[SUM:.+]] = arith.addi %[[I]], %[[J]]
// CHECK: memref.load %{{.+}}[%[[SUM]]] : memref<13xf32>
func.func @computed(%q: memref<2x3x5x7xf32>, %k: memref<2x3x9x7xf32>, %v: memref<2x3x9x8xf32>,
                    %o: memref<2x3x5x8xf32>, %s: f32, %short: memref<9xf32>, %long: memref<13xf32>) {
  attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %d = arith.subi %i, %j : index
    %t = memref.load %short[%d] : memref<9xf32>
    %sum = arith.addi %i, %j : index
    %u = memref.load %long[%sum] : memref<13xf32>
    %y = arith.addf %t, %u : f32
    attn.yield %y : f32
  } : memref<2x3x5x7xf32>, memref<2x3x9x7xf32>, memref<2x3x9x8xf32> outs(%o : memref<2x3x5x8xf32>)
  return
}

// -----

// A dynamic table is clamped to its last element, and must have one.
// CHECK-LABEL: func.func @dynamic_table
// CHECK: %[[SIZE:.+]] = memref.dim %[[T:.+]], %{{.+}} : memref<?xf32>
// CHECK: flash.require %{{.+}}, "expected a tensor that a score or mask region reads to have elements"
// CHECK: score(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[J:.+]]) {
// CHECK: %[[LAST:.+]] = arith.subi %[[SIZE]], %{{.+}}
// CHECK: arith.minsi %[[J]], %[[LAST]]
func.func @dynamic_table(%q: memref<2x3x5x7xf32>, %k: memref<2x3x9x7xf32>, %v: memref<2x3x9x8xf32>,
                         %o: memref<2x3x5x8xf32>, %s: f32, %table: memref<?xf32>) {
  attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = memref.load %table[%j] : memref<?xf32>
    attn.yield %t : f32
  } : memref<2x3x5x7xf32>, memref<2x3x9x7xf32>, memref<2x3x9x8xf32> outs(%o : memref<2x3x5x8xf32>)
  return
}
