// RUN: attn-opt %s --attn-expand-named --canonicalize --cse --split-input-file | FileCheck %s

// i + offset with offset = kvLen - queryLen, computed in front of the op.
// CHECK-LABEL: func @bottom_right(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x4x?x8xf32>, %[[K:[^:]+]]: tensor<2x2x?x8xf32>
// CHECK-DAG: %[[N:.+]] = tensor.dim %[[Q]], %{{.+}} : tensor<2x4x?x8xf32>
// CHECK-DAG: %[[M:.+]] = tensor.dim %[[K]], %{{.+}} : tensor<2x2x?x8xf32>
// CHECK: %[[OFFSET:.+]] = arith.subi %[[M]], %[[N]] : index
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[END:.+]] = arith.addi %[[I]], %[[OFFSET]] : index
// CHECK-NEXT: %[[KEEP:.+]] = arith.cmpi sle, %[[J]], %[[END]] : index
// CHECK-NEXT: attn.yield %[[KEEP]]
func.func @bottom_right(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>,
                        %o: tensor<2x4x?x6xf32>, %s: f32) -> tensor<2x4x?x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal<bottom_right>)
      : tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>
        outs(%o : tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32>
  return %0 : tensor<2x4x?x6xf32>
}

// -----

// i - 3 <= j <= i + 1, that is -3 <= j - i <= 1.
// CHECK-LABEL: func @window(
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[LEFT:.+]] = arith.constant -3 : index
// CHECK-DAG: %[[RIGHT:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[D:.+]] = arith.subi %[[J]], %[[I]] : index
// CHECK-DAG: %[[A:.+]] = arith.cmpi sge, %[[D]], %[[LEFT]] : index
// CHECK-DAG: %[[B:.+]] = arith.cmpi sle, %[[D]], %[[RIGHT]] : index
// CHECK: %[[KEEP:.+]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: attn.yield %[[KEEP]]
func.func @window(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>,
                  %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(window<left = 3, right = 1, top_left>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// An end that is absent is no limit; both absent keep all.
// CHECK-LABEL: func @window_without_ends(
// CHECK: where(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) {
// CHECK-NEXT: %[[TRUE:.+]] = arith.constant true
// CHECK-NEXT: attn.yield %[[TRUE]]
func.func @window_without_ends(%x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(window<top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// -----

// With kv_lengths the diagonal ends at each batch entry's own length.
// CHECK-LABEL: func @bottom_right_of_lengths(
// CHECK-SAME: %[[LENGTHS:[^:]+]]: tensor<2xi32>
// CHECK: %[[N:.+]] = arith.constant 5 : index
// CHECK: where(%[[B:.+]], %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[L:.+]] = tensor.extract %[[LENGTHS]][%[[B]]] : tensor<2xi32>
// CHECK-NEXT: %[[M:.+]] = arith.index_cast %[[L]] : i32 to index
// CHECK-NEXT: %[[OFFSET:.+]] = arith.subi %[[M]], %[[N]] : index
// CHECK-NEXT: %[[END:.+]] = arith.addi %[[I]], %[[OFFSET]] : index
// CHECK-NEXT: arith.cmpi sle, %[[J]], %[[END]] : index
func.func @bottom_right_of_lengths(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                   %o: tensor<2x4x5x6xf32>, %lengths: tensor<2xi32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal<bottom_right>) kv_lengths(%lengths : tensor<2xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// A length that no mask asks for is not read.
// CHECK-LABEL: func @lengths_that_no_mask_needs(
// CHECK-NOT: tensor.extract
// CHECK: kv_lengths(
func.func @lengths_that_no_mask_needs(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                                      %o: tensor<2x4x5x6xf32>, %lengths: tensor<2xi32>, %s: f32)
    -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<30.0>) masks(causal<top_left>)
        kv_lengths(%lengths : tensor<2xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// j <= i or j < prefix[b].
// CHECK-LABEL: func @prefix(
// CHECK-SAME: %[[P:[^:]+]]: tensor<2xi64>
// CHECK: where(%[[B:.+]], %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[E:.+]] = tensor.extract %[[P]][%[[B]]] : tensor<2xi64>
// CHECK-DAG: %[[LENGTH:.+]] = arith.index_cast %[[E]] : i64 to index
// CHECK-DAG: %[[CAUSAL:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-DAG: %[[SEEN:.+]] = arith.cmpi slt, %[[J]], %[[LENGTH]] : index
// CHECK: arith.ori %[[CAUSAL]], %[[SEEN]] : i1
func.func @prefix(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>,
                  %p: tensor<2xi64>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(prefix<top_left>(%p : tensor<2xi64>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}
