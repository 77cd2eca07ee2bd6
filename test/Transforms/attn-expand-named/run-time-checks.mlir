// RUN: attn-opt %s --attn-expand-named --canonicalize --cse --split-input-file | FileCheck %s

// A dynamic dimension is 1 or the full size, and 1 is read at 0: min(index, size - 1).
// CHECK-LABEL: func @dynamic_dimension_of_a_bias(
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<1x?x5x7xf32>
// CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK: %[[D:.+]] = tensor.dim %[[BIAS]], %[[C1]] : tensor<1x?x5x7xf32>
// CHECK-DAG: %[[FULL:.+]] = arith.cmpi eq, %[[D]], %[[C4]] : index
// CHECK-DAG: %[[ONE:.+]] = arith.cmpi eq, %[[D]], %[[C1]] : index
// CHECK: %[[HOLDS:.+]] = arith.ori %[[ONE]], %[[FULL]] : i1
// CHECK: cf.assert %[[HOLDS]], "expects dimension 1 of the operand of 'bias' to be 1 or heads"
// CHECK-NOT: cf.assert
// CHECK: %[[LAST:.+]] = arith.{{subi|addi}} %[[D]], %{{.+}} : index
// CHECK: score(%{{.+}}, %{{.+}}, %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK: %[[HH:.+]] = arith.minsi %[[H]], %[[LAST]] : index
// CHECK: tensor.extract %[[BIAS]][%{{.+}}, %[[HH]], %[[I]], %[[J]]] : tensor<1x?x5x7xf32>
func.func @dynamic_dimension_of_a_bias(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                       %o: tensor<2x4x5x6xf32>, %bias: tensor<1x?x5x7xf32>, %s: f32)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(bias(%bias : tensor<1x?x5x7xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// A static dimension other than 1 against a dynamic size must have it; a static 1 needs no check.
// CHECK-LABEL: func @static_dimension_of_a_mask(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x4x?x8xf32>, %[[K:[^:]+]]: tensor<2x2x?x8xf32>
// CHECK: %[[M:.+]] = tensor.dim %[[K]], %{{.+}} : tensor<2x2x?x8xf32>
// CHECK: %[[HOLDS:.+]] = arith.cmpi eq, %[[M]], %{{.+}} : index
// CHECK: cf.assert %[[HOLDS]], "expects dimension 1 of the operand of 'boolean' to be kvLen"
// CHECK-NOT: cf.assert
// CHECK: return
func.func @static_dimension_of_a_mask(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>,
                                      %o: tensor<2x4x?x6xf32>, %m: tensor<1x7xi1>, %s: f32) -> tensor<2x4x?x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%m : tensor<1x7xi1>))
      : tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>
        outs(%o : tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32>
  return %0 : tensor<2x4x?x6xf32>
}

// -----

// Vectors do not broadcast.
// CHECK-LABEL: func @vectors(
// CHECK: cf.assert %{{.+}}, "expects dimension 0 of the operand of 'alibi' to be heads"
// CHECK: cf.assert %{{.+}}, "expects dimension 0 of the operand of 'prefix' to be batch"
// CHECK-NOT: cf.assert
// CHECK: return
func.func @vectors(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>,
                   %slopes: tensor<?xf32>, %p: tensor<?xi32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi<top_left>(%slopes : tensor<?xf32>))
      masks(prefix<top_left>(%p : tensor<?xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// Sizes come through the layouts: queryLen is dimension 1 of the query, kvLen dimension 0 of the key, batch is absent.
// CHECK-LABEL: func @sizes_through_layouts(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<4x?x8xf32>, %[[K:[^:]+]]: tensor<?x2x8xf32>
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[N:.+]] = tensor.dim %[[Q]], %[[C1]] : tensor<4x?x8xf32>
// CHECK-DAG: %[[M:.+]] = tensor.dim %[[K]], %[[C0]] : tensor<?x2x8xf32>
// CHECK: cf.assert %{{.+}}, "expects dimension 0 of the operand of 'prefix' to be batch"
// CHECK: arith.subi %[[M]], %[[N]] : index
func.func @sizes_through_layouts(%q: tensor<4x?x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<2x?x6xf32>,
                                 %o: tensor<4x?x6xf32>, %p: tensor<?xindex>, %s: f32) -> tensor<4x?x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) layout(query(h, i, d), key(j, h, d), value(h, j, e), out(h, i, e))
      masks(prefix<bottom_right>(%p : tensor<?xindex>))
      : tensor<4x?x8xf32>, tensor<?x2x8xf32>, tensor<2x?x6xf32>
        outs(%o : tensor<4x?x6xf32>) -> tensor<4x?x6xf32>
  return %0 : tensor<4x?x6xf32>
}

// -----

// CHECK-LABEL: func @dynamic_mask_op(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x4x5x?xf32>
// CHECK: cf.assert %{{.+}}, "expects dimension 0 of the operand of 'boolean' to be 1 or kvLen"
// CHECK: attn.mask %[[X]] where(
func.func @dynamic_mask_op(%x: tensor<?x4x5x?xf32>, %m: tensor<?xi1>) -> tensor<?x4x5x?xf32> {
  %0 = attn.mask %x masks(boolean(%m : tensor<?xi1>)) : tensor<?x4x5x?xf32>
      outs(%x : tensor<?x4x5x?xf32>) -> tensor<?x4x5x?xf32>
  return %0 : tensor<?x4x5x?xf32>
}
