// RUN: attn-opt %s --attn-expand-named --canonicalize --cse --split-input-file | FileCheck %s

// -9 <= d <= 4 and d mod 3 = 0 for d = j - i.
// CHECK-LABEL: func @dilated(
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[LEFT:.+]] = arith.constant -9 : index
// CHECK-DAG: %[[RIGHT:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[STEP:.+]] = arith.constant 3 : index
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK: %[[D:.+]] = arith.subi %[[J]], %[[I]] : index
// CHECK-DAG: %[[REST:.+]] = arith.remsi %[[D]], %[[STEP]] : index
// CHECK-DAG: %[[ON:.+]] = arith.cmpi eq, %[[REST]], %[[ZERO]] : index
// CHECK-DAG: %[[A:.+]] = arith.cmpi sge, %[[D]], %[[LEFT]] : index
// CHECK-DAG: %[[B:.+]] = arith.cmpi sle, %[[D]], %[[RIGHT]] : index
// CHECK: %[[IN:.+]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: %[[KEEP:.+]] = arith.andi %[[IN]], %[[ON]] : i1
// CHECK: attn.yield %[[KEEP]]
func.func @dilated(%x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(dilated<left = 9, right = 4, step = 3, top_left>) : tensor<2x4x5x7xf32>
      outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// -----

// The position i + offset is global, too, where it is below 2.
// CHECK-LABEL: func @global_window(
// CHECK: %[[OFFSET:.+]] = arith.constant 2 : index
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[END:.+]] = arith.constant 1 : index
// CHECK: %[[P:.+]] = arith.addi %[[I]], %[[OFFSET]] : index
// CHECK: %[[D:.+]] = arith.subi %[[J]], %[[P]] : index
// CHECK: %[[IN:.+]] = arith.cmpi sle, %[[D]], %[[END]] : index
// CHECK: %[[KEY:.+]] = arith.cmpi slt, %[[J]], %[[OFFSET]] : index
// CHECK: %[[QUERY:.+]] = arith.cmpi slt, %[[P]], %[[OFFSET]] : index
// CHECK: %[[ANY:.+]] = arith.ori %[[KEY]], %[[QUERY]] : i1
// CHECK: %[[KEEP:.+]] = arith.ori %[[ANY]], %[[IN]] : i1
// CHECK: attn.yield %[[KEEP]]
func.func @global_window(%x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(global_window<globals = 2, right = 1, bottom_right>) : tensor<2x4x5x7xf32>
      outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// -----

// Ids are read at [b, i] and at [j].
// CHECK-LABEL: func @document_causal(
// CHECK-SAME: %[[QUERIES:[^:]+]]: tensor<2x5xi32>, %[[KEYS:[^:]+]]: tensor<7xi32>
// CHECK: where(%[[B:.+]], %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[CAUSAL:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK-DAG: %[[Q:.+]] = tensor.extract %[[QUERIES]][%[[B]], %[[I]]] : tensor<2x5xi32>
// CHECK-DAG: %[[K:.+]] = tensor.extract %[[KEYS]][%[[J]]] : tensor<7xi32>
// CHECK: %[[SAME:.+]] = arith.cmpi eq, %[[Q]], %[[K]] : i32
// CHECK: %[[KEEP:.+]] = arith.andi %[[CAUSAL]], %[[SAME]] : i1
// CHECK: attn.yield %[[KEEP]]
func.func @document_causal(%q: tensor<2x5xi32>, %k: tensor<7xi32>, %x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(document_causal<top_left>(%q : tensor<2x5xi32>, %k : tensor<7xi32>)) : tensor<2x4x5x7xf32>
      outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// -----

// A position below 0 needs the floor; j never is.
// CHECK-LABEL: func @block_causal_bottom_right(
// CHECK: %[[OFFSET:.+]] = arith.constant -2 : index
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 3 : index
// CHECK: %[[P:.+]] = arith.addi %[[I]], %[[OFFSET]] : index
// CHECK: %[[QUERY:.+]] = arith.floordivsi %[[P]], %[[SIZE]] : index
// CHECK: %[[KEY:.+]] = arith.divui %[[J]], %[[SIZE]] : index
// CHECK: arith.cmpi sle, %[[KEY]], %[[QUERY]] : index
func.func @block_causal_bottom_right(%x: tensor<2x4x7x5xf32>) -> tensor<2x4x7x5xf32> {
  %0 = attn.mask %x masks(block_causal<size = 3, bottom_right>) : tensor<2x4x7x5xf32>
      outs(%x : tensor<2x4x7x5xf32>) -> tensor<2x4x7x5xf32>
  return %0 : tensor<2x4x7x5xf32>
}

// -----

// A mask for one length checks that the sizes have it, where they are dynamic.
// CHECK-LABEL: func @lengths_of_a_grid(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x4x?x6xf32>
// CHECK: %[[N:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<2x4x?x6xf32>
// CHECK: %[[HOLDS:.+]] = arith.cmpi eq, %[[N]], %{{.+}} : index
// CHECK: cf.assert %[[HOLDS]], "expects queryLen to be 6 for 'local_2d'"
// CHECK-NOT: cf.assert
// CHECK: attn.mask
func.func @lengths_of_a_grid(%x: tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32> {
  %0 = attn.mask %x masks(local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 2>) : tensor<2x4x?x6xf32>
      outs(%x : tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32>
  return %0 : tensor<2x4x?x6xf32>
}

// -----

// A size of a table's own is checked where it is dynamic.
// CHECK-LABEL: func @size_of_a_table(
// CHECK-SAME: %[[T:[^:]+]]: tensor<4x?xf32>
// CHECK: %[[D:.+]] = tensor.dim %[[T]], %{{.+}} : tensor<4x?xf32>
// CHECK: %[[HOLDS:.+]] = arith.cmpi eq, %[[D]], %{{.+}} : index
// CHECK: cf.assert %[[HOLDS]], "expects dimension 1 of the operand of 'distance_bias' to be 5"
// CHECK: score(%[[X:.+]], %{{.+}}, %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[LOW:.+]] = arith.constant -2 : index
// CHECK-DAG: %[[HIGH:.+]] = arith.constant 2 : index
// CHECK: %[[DISTANCE:.+]] = arith.subi %[[J]], %[[I]] : index
// CHECK: %[[ABOVE:.+]] = arith.maxsi %[[DISTANCE]], %[[LOW]] : index
// CHECK: %[[CLAMPED:.+]] = arith.minsi %[[ABOVE]], %[[HIGH]] : index
// CHECK: %[[AT:.+]] = arith.addi %[[CLAMPED]], %[[HIGH]] : index
// CHECK: %[[TERM:.+]] = tensor.extract %[[T]][%[[H]], %[[AT]]] : tensor<4x?xf32>
// CHECK: arith.addf %[[X]], %[[TERM]] : f32
func.func @size_of_a_table(%t: tensor<4x?xf32>, %q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>,
                           %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores(distance_bias<max = 2, top_left>(%t : tensor<4x?xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// 4 buckets back, 2 exact; bucket 3 begins at 2 * (8 / 2)^(1 / 2) = 4. No logarithm is left.
// CHECK-LABEL: func @t5_thresholds(
// CHECK: score(%{{.+}}, %{{.+}}, %[[H:.+]], %[[I:.+]], %[[J:.+]]) {
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK-NOT: math.log
// CHECK: %[[BACK:.+]] = arith.subi %[[I]], %[[J]] : index
// CHECK: %[[DISTANCE:.+]] = arith.maxsi %[[BACK]], %{{.+}} : index
// CHECK: %[[EXACT:.+]] = arith.minsi %[[DISTANCE]], %[[C2]] : index
// CHECK: %[[FAR:.+]] = arith.cmpi sge, %[[DISTANCE]], %[[C4]] : index
// CHECK: %[[BUCKET:.+]] = arith.select %[[FAR]], %[[C3]], %[[EXACT]] : index
// CHECK: tensor.extract %{{.+}}[%[[BUCKET]], %[[H]]] : tensor<4x4xf32>
func.func @t5_thresholds(%t: tensor<4x4xf32>, %q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>,
                         %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      scores(t5_bias<buckets = 4, max_distance = 8, causal, top_left>(%t : tensor<4x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// Context keys in front; the node's row is read at a node that exists.
// CHECK-LABEL: func @tree(
// CHECK-SAME: %[[T:[^:]+]]: tensor<3x3xi1>
// CHECK-DAG: %[[CONTEXT:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[LAST:.+]] = arith.constant 2 : index
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: %[[N:.+]] = arith.subi %[[J]], %[[CONTEXT]] : index
// CHECK: %[[ABOVE:.+]] = arith.maxsi %[[N]], %{{.+}} : index
// CHECK: %[[NODE:.+]] = arith.minsi %[[ABOVE]], %[[LAST]] : index
// CHECK: %[[SEEN:.+]] = tensor.extract %[[T]][%[[I]], %[[NODE]]] : tensor<3x3xi1>
// CHECK: %[[FRONT:.+]] = arith.cmpi slt, %[[J]], %[[CONTEXT]] : index
// CHECK: arith.ori %[[FRONT]], %[[SEEN]] : i1
func.func @tree(%t: tensor<3x3xi1>, %x: tensor<2x4x3x7xf32>) -> tensor<2x4x3x7xf32> {
  %0 = attn.mask %x masks(tree(%t : tensor<3x3xi1>)) : tensor<2x4x3x7xf32>
      outs(%x : tensor<2x4x3x7xf32>) -> tensor<2x4x3x7xf32>
  return %0 : tensor<2x4x3x7xf32>
}
