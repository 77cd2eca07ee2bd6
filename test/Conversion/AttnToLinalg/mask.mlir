// RUN: attn-opt %s --convert-attn-to-linalg --split-input-file | FileCheck %s

// The region moves into the loop; a dropped score is -inf of its own type.
// CHECK-LABEL: func @region(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x?x5x7xf16>, %[[T:[^:]+]]: tensor<7xi1>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<2x?x5x7xf16>) outs(
// CHECK-NEXT: ^bb0(%[[S:.+]]: f16, %{{.+}}: f16):
// CHECK-DAG: %[[I:.+]] = linalg.index 2 : index
// CHECK-DAG: %[[J:.+]] = linalg.index 3 : index
// CHECK: %[[M:.+]] = tensor.extract %[[T]][%[[J]]] : tensor<7xi1>
// CHECK: %[[C:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK: %[[KEEP:.+]] = arith.andi %[[M]], %[[C]] : i1
// CHECK: %[[INF:.+]] = arith.constant 0xFC00 : f16
// CHECK: %[[R:.+]] = arith.select %[[KEEP]], %[[S]], %[[INF]] : f16
// CHECK: linalg.yield %[[R]]
func.func @region(%x: tensor<2x?x5x7xf16>, %t: tensor<7xi1>, %o: tensor<2x?x5x7xf16>) -> tensor<2x?x5x7xf16> {
  %0 = attn.mask %x where(%b, %h, %i, %j) {
    %m = tensor.extract %t[%j] : tensor<7xi1>
    %c = arith.cmpi sle, %j, %i : index
    %keep = arith.andi %m, %c : i1
    attn.yield %keep : i1
  } : tensor<2x?x5x7xf16> outs(%o : tensor<2x?x5x7xf16>) -> tensor<2x?x5x7xf16>
  return %0 : tensor<2x?x5x7xf16>
}

// -----

// A value from outside may be what is yielded.
// CHECK-LABEL: func @captured_condition(
// CHECK-SAME: %[[KEEP:[^:]+]]: i1
// CHECK: arith.select %[[KEEP]], %{{.+}}, %{{.+}} : f32
func.func @captured_condition(%x: tensor<2x4x5x7xf32>, %keep: i1) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x where(%b, %h, %i, %j) { attn.yield %keep : i1 }
      : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// -----

// CHECK-LABEL: func @no_mask_copies(
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: linalg.yield %[[S]]
func.func @no_mask_copies(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}
