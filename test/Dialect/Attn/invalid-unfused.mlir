// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Constraints of attn.matmul, attn.mask and attn.softmax.

func.func @matmul_c1_ranks(%a: tensor<2x5x8xf32>, %b: tensor<8x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs, rhs and out to have the same rank, at least 2, but got 3, 2 and 3 (C1)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<8x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c1_rank_1(%a: tensor<8xf32>, %b: tensor<8xf32>, %o: tensor<1xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs, rhs and out to have the same rank, at least 2, but got 1, 1 and 1 (C1)}}
  %0 = attn.matmul %a, %b : tensor<8xf32>, tensor<8xf32> outs(%o : tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @matmul_c1_rank_0(%a: tensor<f32>, %b: tensor<f32>, %o: tensor<f32>) {
  // expected-error @below {{'attn.matmul' op expects lhs, rhs and out to have the same rank, at least 2, but got 0, 0 and 0 (C1)}}
  %0 = attn.matmul %a, %b : tensor<f32>, tensor<f32> outs(%o : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @matmul_c2_batch(%a: tensor<2x5x8xf32>, %b: tensor<3x8x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs, rhs and out to share batch dimension 0, but got 2, 3 and 2 (C2)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<3x8x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c2_k(%a: tensor<2x5x8xf32>, %b: tensor<2x9x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs and rhs to share k, but got 8 and 9 (C2)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<2x9x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c2_k_transposed(%a: tensor<2x5x8xf32>, %b: tensor<2x8x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs and rhs to share k, but got 8 and 7 (C2)}}
  %0 = attn.matmul %a, %b transpose_rhs : tensor<2x5x8xf32>, tensor<2x8x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c2_m(%a: tensor<2x5x8xf32>, %b: tensor<2x8x7xf32>, %o: tensor<2x6x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs and out to share m, but got 5 and 6 (C2)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<2x8x7xf32> outs(%o : tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  return
}

// -----

func.func @matmul_c2_n(%a: tensor<2x5x8xf32>, %b: tensor<2x8x7xf32>, %o: tensor<2x5x6xf32>) {
  // expected-error @below {{'attn.matmul' op expects rhs and out to share n, but got 7 and 6 (C2)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<2x8x7xf32> outs(%o : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @matmul_c3_inputs(%a: tensor<2x5x8xf32>, %b: tensor<2x8x7xf16>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects lhs and rhs to share one element type, but got 'f32' and 'f16' (C3)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<2x8x7xf16> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c3_out(%a: tensor<2x5x8xf16>, %b: tensor<2x8x7xf16>, %o: tensor<2x5x7xbf16>) {
  // expected-error @below {{'attn.matmul' op expects out to have element type 'f16' or 'f32', but got 'bf16' (C3)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf16>, tensor<2x8x7xf16> outs(%o : tensor<2x5x7xbf16>) -> tensor<2x5x7xbf16>
  return
}

// -----

func.func @matmul_c4_mixed_forms(%a: tensor<2x5x8xf32>, %b: memref<2x8x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects all operands to be tensors or all to be memrefs, but operand 0 is 'tensor<2x5x8xf32>' and operand 1 is 'memref<2x8x7xf32>' (C4)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, memref<2x8x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @matmul_c4_result_type(%a: tensor<2x5x8xf32>, %b: tensor<2x8x7xf32>, %o: tensor<2x5x7xf32>) {
  // expected-error @below {{'attn.matmul' op expects results of the types of its outs: ('tensor<2x5x7xf32>'), but got ('tensor<2x5x?xf32>') (C4)}}
  %0 = attn.matmul %a, %b : tensor<2x5x8xf32>, tensor<2x8x7xf32> outs(%o : tensor<2x5x7xf32>) -> tensor<2x5x?xf32>
  return
}

// -----

func.func @matmul_c5_overflow(%a: tensor<2x5x4294967296xf32>, %b: tensor<2x4294967296x4294967296xf32>, %o: tensor<2x5x4294967296xf32>) {
  // expected-error @below {{'attn.matmul' op expects the number of elements of rhs to fit in 63 bits, but got shape [2, 4294967296, 4294967296] (C5)}}
  %0 = attn.matmul %a, %b : tensor<2x5x4294967296xf32>, tensor<2x4294967296x4294967296xf32> outs(%o : tensor<2x5x4294967296xf32>) -> tensor<2x5x4294967296xf32>
  return
}

// -----

func.func @mask_c1_rank(%x: tensor<4x5x7xf32>, %o: tensor<4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects scores to have rank 4, but got rank 3 (C1)}}
  %0 = attn.mask %x : tensor<4x5x7xf32> outs(%o : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  return
}

// -----

func.func @mask_c1_out_shape(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x7x5xf32>) {
  // expected-error @below {{'attn.mask' op expects out to have the shape and element type of scores, but got 'tensor<2x4x7x5xf32>' and 'tensor<2x4x5x7xf32>' (C1)}}
  %0 = attn.mask %x : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x7x5xf32>) -> tensor<2x4x7x5xf32>
  return
}

// -----

func.func @mask_c1_out_element_type(%x: tensor<2x4x5x7xf16>, %o: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects out to have the shape and element type of scores, but got 'tensor<2x4x5x7xf32>' and 'tensor<2x4x5x7xf16>' (C1)}}
  %0 = attn.mask %x : tensor<2x4x5x7xf16> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c2_diagonal(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects 'causal' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write causal<top_left> or causal<bottom_right> (C10)}}
  %0 = attn.mask %x masks(causal) : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c2_boolean_shape(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x7xf32>, %m: tensor<5xi1>) {
  // expected-error @below {{'attn.mask' op expects dimension 0 of the operand of 'boolean' to be 1 or kvLen = 7, but got 5 (C10)}}
  %0 = attn.mask %x masks(boolean(%m : tensor<5xi1>)) : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c2_region(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects the arguments of its 'where' region to have types 'index', 'index', 'index', 'index', but got 'index', 'index', 'index', 'i1' (C11)}}
  %0 = attn.mask %x where(%b, %h, %i, %j: i1) {
    attn.yield %j : i1
  } : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c3_mixed_forms(%x: tensor<2x4x5x7xf32>, %o: tensor<2x4x5x7xf32>, %m: memref<7xi1>) {
  // expected-error @below {{'attn.mask' op expects all operands to be tensors or all to be memrefs, but operand 0 is 'tensor<2x4x5x7xf32>' and operand 1 is 'memref<7xi1>' (C3)}}
  %0 = attn.mask %x masks(boolean(%m : memref<7xi1>)) : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c4_overflow(%x: tensor<4294967296x4x4294967296x7xf32>, %o: tensor<4294967296x4x4294967296x7xf32>) {
  // expected-error @below {{'attn.mask' op expects the number of elements of scores to fit in 63 bits, but got shape [4294967296, 4, 4294967296, 7] (C4)}}
  %0 = attn.mask %x : tensor<4294967296x4x4294967296x7xf32> outs(%o : tensor<4294967296x4x4294967296x7xf32>) -> tensor<4294967296x4x4294967296x7xf32>
  return
}

// -----

func.func @softmax_c1_shape(%x: tensor<2x5xf32>, %o: tensor<5x2xf32>) {
  // expected-error @below {{'attn.softmax' op expects out to have the shape of the input, but got [5, 2] and [2, 5] (C1)}}
  %0 = attn.softmax %x axis(1) : tensor<2x5xf32> outs(%o : tensor<5x2xf32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @softmax_c2_axis(%x: tensor<2x5xf32>, %o: tensor<2x5xf32>) {
  // expected-error @below {{'attn.softmax' op expects 0 <= axis < rank = 2, but got 2 (C2)}}
  %0 = attn.softmax %x axis(2) : tensor<2x5xf32> outs(%o : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @softmax_c2_negative_axis(%x: tensor<2x5xf32>, %o: tensor<2x5xf32>) {
  // expected-error @below {{'attn.softmax' op expects 0 <= axis < rank = 2, but got -1 (C2)}}
  %0 = attn.softmax %x axis(-1) : tensor<2x5xf32> outs(%o : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @softmax_c2_rank_0(%x: tensor<f32>, %o: tensor<f32>) {
  // expected-error @below {{'attn.softmax' op expects 0 <= axis < rank = 0, but got 0 (C2)}}
  %0 = attn.softmax %x axis(0) : tensor<f32> outs(%o : tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @softmax_c3_mixed_forms(%x: memref<2x5xf32>, %o: tensor<2x5xf32>) {
  // expected-error @below {{'attn.softmax' op expects all operands to be tensors or all to be memrefs, but operand 0 is 'memref<2x5xf32>' and operand 1 is 'tensor<2x5xf32>' (C3)}}
  %0 = attn.softmax %x axis(1) : memref<2x5xf32> outs(%o : tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @softmax_c4_element_type(%x: tensor<2x5xf32>, %o: tensor<2x5xf16>) {
  // expected-error @below {{'attn.softmax' op expects out to have element type 'f32', but got 'f16' (C4)}}
  %0 = attn.softmax %x axis(1) : tensor<2x5xf32> outs(%o : tensor<2x5xf16>) -> tensor<2x5xf16>
  return
}

// -----

func.func @softmax_integer_elements(%x: tensor<2x5xi32>, %o: tensor<2x5xi32>) {
  // expected-error @below {{'attn.softmax' op operand #0 must be ranked tensor or memref of f16, bf16, f32 or f64, but got 'tensor<2x5xi32>'}}
  %0 = attn.softmax %x axis(1) : tensor<2x5xi32> outs(%o : tensor<2x5xi32>) -> tensor<2x5xi32>
  return
}

// -----

func.func @softmax_c5_overflow(%x: tensor<4294967296x4294967296xf32>, %o: tensor<4294967296x4294967296xf32>) {
  // expected-error @below {{'attn.softmax' op expects the number of elements of the input to fit in 63 bits, but got shape [4294967296, 4294967296] (C5)}}
  %0 = attn.softmax %x axis(1) : tensor<4294967296x4294967296xf32> outs(%o : tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}
