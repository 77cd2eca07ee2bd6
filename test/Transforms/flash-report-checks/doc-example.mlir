// RUN: attn-opt %s --flash-report-checks --split-input-file | FileCheck %s

// A divisor of 0 is noted with the element's place; the host reads the word behind the loop.
// CHECK-LABEL: func.func @quotients
// CHECK-SAME: %[[X:.+]]: memref<5xi32>, %[[Y:.+]]: memref<5xi32>, %[[OUT:.+]]: memref<5xi32>
// CHECK: %[[REPORT:.+]] = memref.alloc() : memref<i64>
// CHECK: memref.store %c-1_i64, %[[REPORT]][]
// CHECK: scf.forall (%[[I:.+]]) in (5) {
// CHECK: %[[A:.+]] = memref.load %[[X]][%[[I]]]
// CHECK: %[[B:.+]] = memref.load %[[Y]][%[[I]]]
// CHECK: %[[HOLDS:.+]] = arith.cmpi ne, %[[B]]
// CHECK: scf.if %[[HOLDS]] {
// CHECK: %[[Q:.+]] = arith.divsi %[[A]], %[[B]]
// CHECK: memref.store %[[Q]], %[[OUT]][%[[I]]]
// CHECK: } else {
// CHECK: memref.atomic_rmw minu %{{.+}}, %[[REPORT]][]
// CHECK: %[[NOTED:.+]] = memref.load %[[REPORT]][]
// CHECK: memref.dealloc %[[REPORT]]
// CHECK: %[[NOTHING:.+]] = arith.cmpi eq, %[[NOTED]], %c-1_i64
// CHECK: %[[WHICH:.+]] = arith.remui %[[NOTED]], %c1_i64
// CHECK: %[[OTHER:.+]] = arith.cmpi ne, %[[WHICH]], %c0_i64
// CHECK: %[[ALL:.+]] = arith.ori %[[NOTHING]], %[[OTHER]]
// CHECK: flash.require %[[ALL]], "divides by zero"
// CHECK-NOT: flash.require
func.func @quotients(%x: memref<5xi32>, %y: memref<5xi32>, %out: memref<5xi32>) {
  %zero = arith.constant 0 : i32
  scf.forall (%i) in (5) {
    %a = memref.load %x[%i] : memref<5xi32>
    %b = memref.load %y[%i] : memref<5xi32>
    %holds = arith.cmpi ne, %b, %zero : i32
    flash.require %holds, "divides by zero"
    %q = arith.divsi %a, %b : i32
    memref.store %q, %out[%i] : memref<5xi32>
  }
  return
}

// -----

// What a loop carries, and what a branch gives, is zero where a check fails; each check has its number.
// CHECK-LABEL: func.func @carried
// CHECK: scf.forall
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: %[[SUM:.+]] = scf.if %{{.+}} -> (f32) {
// CHECK: %[[NEXT:.+]] = arith.addf
// CHECK: scf.yield %[[NEXT]] : f32
// CHECK: } else {
// CHECK: memref.atomic_rmw minu
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: scf.yield %[[ZERO]] : f32
// CHECK: scf.yield %[[SUM]] : f32
// CHECK: flash.require %{{.+}}, "is outside"
// CHECK: flash.require %{{.+}}, "is negative"
func.func @carried(%x: memref<7xf32>, %n: memref<5x3xindex>, %out: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  scf.forall (%i) in (5) {
    %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%old = %zero) -> f32 {
      %at = memref.load %n[%i, %k] : memref<5x3xindex>
      %inside = arith.cmpi ult, %at, %c7 : index
      cf.assert %inside, "is outside"
      %value = memref.load %x[%at] : memref<7xf32>
      %next = arith.addf %old, %value : f32
      scf.yield %next : f32
    }
    %positive = arith.cmpf uge, %sum, %zero : f32
    flash.require %positive, "is negative"
    memref.store %sum, %out[%i] : memref<5xf32>
  }
  return
}

// -----

// Without checks nothing changes, and checks of the host stay.
// CHECK-LABEL: func.func @of_the_host
// CHECK-NOT: memref.alloc
// CHECK: flash.require %{{.+}}, "is true"
// CHECK: scf.forall
// CHECK-NOT: flash.require
func.func @of_the_host(%x: memref<5xf32>, %holds: i1, %value: f32) {
  flash.require %holds, "is true"
  scf.forall (%i) in (5) {
    memref.store %value, %x[%i] : memref<5xf32>
  }
  return
}

// -----

// Numbers stay in the kernel.
// CHECK-LABEL: func.func @numbers
// CHECK: flash.require %{{.+}}, "expects at most ?, but got ? of ?"{{$}}
func.func @numbers(%n: index, %m: index) {
  scf.forall (%i) in (5) {
    %holds = arith.cmpi ult, %i, %n : index
    flash.require %holds, "expects at most {0}, but got {1} of {0}"(%n, %m)
  }
  return
}
