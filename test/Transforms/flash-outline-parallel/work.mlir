// RUN: attn-opt %s --allow-unregistered-dialect --flash-outline-parallel | FileCheck %s

// CHECK-NOT: flash.item_work

// CHECK-LABEL: func.func @unknown_work
// CHECK-DAG: %[[UNKNOWN:.+]] = arith.constant -1 : index
// CHECK: flash.parallel_for @{{.+}} count %{{.+}} work %[[UNKNOWN]] scratch_bytes
func.func @unknown_work(%n: index) {
  scf.forall (%i) in (%n) {
    "test.use"(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func.func @formula_in_the_body
// CHECK-SAME: %[[N:.+]]: index
// CHECK: %[[WORK:.+]] = arith.muli %[[N]], %[[N]] : index
// CHECK: flash.parallel_for @{{.+}} count %{{.+}} work %[[WORK]] scratch_bytes
func.func @formula_in_the_body(%n: index) {
  scf.forall (%i) in (%n) {
    %work = arith.muli %n, %n : index
    flash.item_work %work
    "test.use"(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func.func @work_of_an_inner_loop
// CHECK-SAME: %[[N:[^:]+]]: index, %[[M:.+]]: index
// CHECK: flash.parallel_for @{{.+}} count %{{.+}} work %[[N]] scratch_bytes
func.func @work_of_an_inner_loop(%n: index, %m: index) {
  scf.forall (%i) in (%n) {
    flash.item_work %n
    scf.forall (%j) in (%m) {
      flash.item_work %m
      "test.use"(%i, %j) : (index, index) -> ()
    }
  }
  return
}

// CHECK-LABEL: func.func @no_loop
// CHECK-NEXT: return
func.func @no_loop(%n: index) {
  flash.item_work %n
  return
}
