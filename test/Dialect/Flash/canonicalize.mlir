// RUN: attn-opt %s --canonicalize | FileCheck %s

// A check that is known to hold goes; one that is known to fail stays, since the run must report it.
// CHECK-LABEL: func @require(
// CHECK-SAME: %[[HOLDS:[^:]+]]: i1
// CHECK-NOT: "is known"
// CHECK: flash.require %false, "fails"
// CHECK: flash.require %[[HOLDS]], "is not known"
func.func @require(%holds: i1) {
  %true = arith.constant true
  %false = arith.constant false
  flash.require %true, "is known"
  flash.require %false, "fails"
  flash.require %holds, "is not known"
  return
}
