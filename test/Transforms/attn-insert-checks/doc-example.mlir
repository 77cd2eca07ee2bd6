// RUN: attn-opt %s --attn-insert-checks --split-input-file | FileCheck %s

// The example of the pass's description.
// CHECK-LABEL: func @division(
// CHECK-SAME: %[[X:[^:]+]]: i32, %[[Y:[^:]+]]: i32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK: %[[HOLDS:.+]] = arith.cmpi ne, %[[Y]], %[[ZERO]] : i32
// CHECK: flash.require %[[HOLDS]], "'arith.divsi' at {{.*}}doc-example.mlir:16:8: divides by zero"
// CHECK: flash.require %{{.+}}, "'arith.divsi' at {{.*}}: overflows: the lowest value divided by -1"
// CHECK: arith.divsi
// CHECK-NOT: flash.require
// CHECK: return
func.func @division(%x: i32, %y: i32) -> (i32, i32) {
  %seven = arith.constant 7 : i32
  // A comment, so that the op's line is known to the check above.
  %r = arith.divsi %x, %y : i32
  %s = arith.remsi %x, %seven : i32
  return %r, %s : i32, i32
}

// -----

// CHECK-LABEL: func @sizes_of_linalg(
// CHECK: cf.assert %{{.+}}, "'linalg.add' at {{.*}}: dimension #0 of input/output operand #1 is incompatible
// CHECK: linalg.add
func.func @sizes_of_linalg(%x: tensor<?xf32>, %y: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @slices_and_shapes(
// CHECK: cf.assert %{{.+}}, "'tensor.extract_slice'
// CHECK: tensor.extract_slice
// CHECK: flash.require %{{.+}}, "'tensor.insert_slice' at {{.*}}: expects sizes of at least 0, but got {0}"
// CHECK: flash.require %{{.+}}, "'tensor.insert_slice' at {{.*}}: expects its slice to be inside dimension 0 of size {0}, but its last element is at {1}"
// CHECK: tensor.insert_slice
// CHECK: flash.require %{{.+}}, "'tensor.expand_shape' at {{.*}}: expects sizes whose product is the source's size {0} in dimension 0, but got {1}"
// CHECK: tensor.expand_shape
// CHECK: flash.require %{{.+}}, "'tensor.pad' at {{.*}}: expects padding of at least 0, but got {0}"
// CHECK: tensor.pad
func.func @slices_and_shapes(%x: tensor<?xf32>, %at: index, %n: index, %f: f32) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %a = tensor.extract_slice %x[%at] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %b = tensor.insert_slice %a into %x[%n] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  %c = tensor.expand_shape %b [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %d = tensor.pad %a low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %c, %d : tensor<?x4xf32>, tensor<?xf32>
}
