// RUN: attn-opt %s --allow-unregistered-dialect --flash-outline-parallel --split-input-file | FileCheck %s

// 5 f32 are 20 bytes, so the second buffer starts at 64; 9 bytes of it end below 128.
// CHECK-LABEL: func.func @static_sizes
// CHECK: %[[BYTES:.+]] = arith.constant 128 : index
// CHECK: scratch_bytes %[[BYTES]]
// CHECK-LABEL: func.func private @static_sizes_parallel_0
// CHECK: %[[C0:.+]] = arith.constant 0 : index
// CHECK: memref.view %{{.+}}[%[[C0]]][] : memref<?xi8> to memref<5xf32>
// CHECK: %[[C64:.+]] = arith.constant 64 : index
// CHECK: memref.view %{{.+}}[%[[C64]]][] : memref<?xi8> to memref<9xi8>
func.func @static_sizes(%n: index) {
  scf.forall (%i) in (%n) {
    %a = memref.alloc() {alignment = 64 : i64} : memref<5xf32>
    %b = memref.alloca() : memref<9xi8>
    "test.use"(%a, %b) : (memref<5xf32>, memref<9xi8>) -> ()
  }
  return
}

// -----

// The size is computed in front of the loop, from what the body computed it from.
// CHECK-LABEL: func.func @dynamic_size
// CHECK-SAME: %[[A:.+]]: memref<?xf32>
// CHECK: %[[N:.+]] = memref.dim %[[A]]
// CHECK: %[[TWICE:.+]] = arith.addi %[[N]], %[[N]]
// CHECK: %[[BYTES:.+]], %[[HIGH:.+]] = arith.mului_extended %{{.+}}, %[[TWICE]]
// CHECK: arith.cmpi ne, %[[HIGH]]
// CHECK: arith.cmpi slt, %[[BYTES]]
// CHECK: flash.require %{{.+}}, "the scratch memory of a parallel loop expects fewer than 2^63 bytes; use smaller sizes"
// CHECK: flash.parallel_for @dynamic_size_parallel_0 {{.*}}(%[[TWICE]] : index)
// CHECK-LABEL: func.func private @dynamic_size_parallel_0
// CHECK-SAME: %[[SIZE:[^ ]+]]: index)
// CHECK: memref.view %{{.+}}[%{{.+}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
func.func @dynamic_size(%a: memref<?xf32>) {
  scf.forall (%i) in (3) {
    %c0 = arith.constant 0 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %twice = arith.addi %n, %n : index
    %b = memref.alloc(%twice) : memref<?xf32>
    "test.use"(%b) : (memref<?xf32>) -> ()
  }
  return
}
