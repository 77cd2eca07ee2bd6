// RUN: attn-opt %s --convert-linalg-to-cpu=target=x86-64-v3 --canonicalize --split-input-file | FileCheck %s
// REQUIRES: x86-64

// Small: on the caller's thread. 35 = 32 + 3 elements: one wide vector, then three lanes under a mask.
// CHECK-LABEL: @sum_of_two
// CHECK-NOT: scf.forall
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: vector.maskedload {{.*}} vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: vector.maskedstore
func.func @sum_of_two(%x: memref<35xf32>, %y: memref<35xf32>, %z: memref<35xf32>) {
  linalg.add ins(%x, %y : memref<35xf32>, memref<35xf32>) outs(%z : memref<35xf32>)
  return
}

// -----

// A sum a lane, four vectors of them, joined in halves.
// CHECK-LABEL: @row_sums
// CHECK: scf.forall
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: vector.shuffle {{.*}} : vector<32xf32>, vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.shuffle {{.*}} : vector<2xf32>, vector<2xf32>
func.func @row_sums(%x: memref<512x3072xf32>, %s: memref<512xf32>) {
  linalg.reduce ins(%x : memref<512x3072xf32>) outs(%s : memref<512xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %t = arith.addf %a, %o : f32
      linalg.yield %t : f32
    }
  return
}

// -----

// What may end the call runs one by one, in the order of the op.
// CHECK-LABEL: @checked
// CHECK-NOT: linalg
// CHECK: scf.for %[[I:.+]] = %c0{{.*}} to %c5
// CHECK: %[[A:.+]] = memref.load %{{.+}}[%[[I]]]
// CHECK: cf.assert
// CHECK: memref.store %[[A]], %{{.+}}[%[[I]]]
func.func @checked(%x: memref<5xf32>, %y: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<5xf32>) outs(%y : memref<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %holds = arith.cmpf oge, %a, %zero : f32
    cf.assert %holds, "expects no negative numbers"
    linalg.yield %a : f32
  }
  return
}

// -----

// A division by a lane that is none would trap: one by one.
// CHECK-LABEL: @division
// CHECK-NOT: vector
// CHECK: arith.divsi {{.*}} : i32
func.func @division(%x: memref<35xi32>, %y: memref<35xi32>, %z: memref<35xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x, %y : memref<35xi32>, memref<35xi32>) outs(%z : memref<35xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  }
  return
}

// -----

// In somebody else's parallel loop: plain loops.
// CHECK-LABEL: @in_parallel
// CHECK: scf.forall
// CHECK-NOT: linalg.matmul
// CHECK: scf.for %{{.+}} to %c5
// CHECK: scf.for %{{.+}} to %c7
// CHECK: scf.for %{{.+}} to %c6
// CHECK-NOT: vector
// CHECK: arith.mulf {{.*}} : f32
func.func @in_parallel(%x: memref<4x5x6xf32>, %y: memref<6x7xf32>, %z: memref<4x5x7xf32>) {
  scf.forall (%b) in (4) {
    %xb = memref.subview %x[%b, 0, 0][1, 5, 6][1, 1, 1] : memref<4x5x6xf32> to memref<5x6xf32, strided<[6, 1], offset: ?>>
    %zb = memref.subview %z[%b, 0, 0][1, 5, 7][1, 1, 1] : memref<4x5x7xf32> to memref<5x7xf32, strided<[7, 1], offset: ?>>
    linalg.matmul ins(%xb, %y : memref<5x6xf32, strided<[6, 1], offset: ?>>, memref<6x7xf32>)
        outs(%zb : memref<5x7xf32, strided<[7, 1], offset: ?>>)
  }
  return
}
