// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C10) of attn.attention, on attn.mask: the masks with parameters and tables.

func.func @mask_c10_dilated_without_diagonal(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects 'dilated' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write dilated<top_left> or dilated<bottom_right> (C10)}}
  %0 = attn.mask %x masks(dilated<step = 2>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_dilated_step(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'step' of 'dilated' to be at least 1, but got 0 (C10)}}
  %0 = attn.mask %x masks(dilated<step = 0, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_dilated_without_step(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'dilated' to give 'step'; write dilated<step = ...>}}
  %0 = attn.mask %x masks(dilated<left = 3, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_dilated_end(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'left' of 'dilated' to be at least 0, but got -1; leave it out for no limit (C10)}}
  %0 = attn.mask %x masks(dilated<left = -1, step = 2, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_global_window_globals(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'globals' of 'global_window' to be at least 0, but got -2 (C10)}}
  %0 = attn.mask %x masks(global_window<globals = -2, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_padding_left_shape(%x: tensor<2x4x5x7xf32>, %t: tensor<3xi32>) {
  // expected-error @below {{'attn.mask' op expects the operand of 'padding_left' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<3xi32>' (C10)}}
  %0 = attn.mask %x masks(padding_left(%t : tensor<3xi32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_padding_right_element_type(%x: tensor<2x4x5x7xf32>, %t: tensor<2xf32>) {
  // expected-error @below {{'attn.mask' op expects the operand of 'padding_right' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<2xf32>' (C10)}}
  %0 = attn.mask %x masks(padding_right(%t : tensor<2xf32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_document_one_operand(%x: tensor<2x4x5x7xf32>, %t: tensor<5xi32>) {
  // expected-error @below {{'attn.mask' op expects 'document' to have ids of queries and ids of keys unless queryLen = kvLen is known, but got one operand for both (C10)}}
  %0 = attn.mask %x masks(document(%t : tensor<5xi32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_document_dynamic_lengths(%x: tensor<2x4x?x?xf32>, %t: tensor<?xi32>) {
  // expected-error @below {{'attn.mask' op expects 'document' to have ids of queries and ids of keys unless queryLen = kvLen is known, but got one operand for both (C10)}}
  %0 = attn.mask %x masks(document(%t : tensor<?xi32>)) : tensor<2x4x?x?xf32> outs(%x : tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  return
}

// -----

func.func @mask_c10_document_key_shape(%x: tensor<2x4x5x7xf32>, %t: tensor<2x5xi32>) {
  // expected-error @below {{'attn.mask' op expects operand 1 of 'document' to have shape [batch = 2, kvLen = 7] or [kvLen = 7] of i32 or i64, but got 'tensor<2x5xi32>' (C10)}}
  %0 = attn.mask %x masks(document(%t : tensor<2x5xi32>, %t : tensor<2x5xi32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_document_element_types(%x: tensor<2x4x5x7xf32>, %t: tensor<5xi32>, %u: tensor<7xi64>) {
  // expected-error @below {{'attn.mask' op expects the ids of queries and keys of 'document' to share an element type, but got 'i32' and 'i64' (C10)}}
  %0 = attn.mask %x masks(document(%t : tensor<5xi32>, %u : tensor<7xi64>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_document_count(%x: tensor<2x4x5x5xf32>, %t: tensor<5xi32>) {
  // expected-error @below {{expects 1 or 2 captured operands for 'document', but got 3 (C10)}}
  %0 = attn.mask %x masks(document(%t : tensor<5xi32>, %t : tensor<5xi32>, %t : tensor<5xi32>)) : tensor<2x4x5x5xf32> outs(%x : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @mask_c10_document_causal_without_diagonal(%x: tensor<2x4x5x7xf32>, %t: tensor<5xi32>, %u: tensor<7xi32>) {
  // expected-error @below {{'attn.mask' op expects 'document_causal' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write document_causal<top_left> or document_causal<bottom_right> (C10)}}
  %0 = attn.mask %x masks(document_causal(%t : tensor<5xi32>, %u : tensor<7xi32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_shared_prefix_shape(%x: tensor<2x4x5x5xf32>, %t: tensor<5xi32>) {
  // expected-error @below {{'attn.mask' op expects operand 0 of 'shared_prefix' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<5xi32>' (C10)}}
  %0 = attn.mask %x masks(shared_prefix(%t : tensor<5xi32>, %t : tensor<5xi32>)) : tensor<2x4x5x5xf32> outs(%x : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @mask_c10_shared_prefix_count(%x: tensor<2x4x5x5xf32>, %t: tensor<2xi32>) {
  // expected-error @below {{expects 2 or 3 captured operands for 'shared_prefix', but got 1 (C10)}}
  %0 = attn.mask %x masks(shared_prefix(%t : tensor<2xi32>)) : tensor<2x4x5x5xf32> outs(%x : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @mask_c10_prefix_count(%x: tensor<2x4x5x7xf32>, %t: tensor<2xi32>) {
  // expected-error @below {{expects 1 captured operand for 'prefix', but got 2 (C10)}}
  %0 = attn.mask %x masks(prefix<top_left>(%t : tensor<2xi32>, %t : tensor<2xi32>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_chunked_size(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'size' of 'chunked' to be at least 1, but got 0 (C10)}}
  %0 = attn.mask %x masks(chunked<size = 0, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_chunked_without_diagonal(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects 'chunked' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write chunked<top_left> or chunked<bottom_right> (C10)}}
  %0 = attn.mask %x masks(chunked<size = 2>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_diagonal_size(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'size' of 'block_diagonal' to be at least 1, but got 0 (C10)}}
  %0 = attn.mask %x masks(block_diagonal<size = 0, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_diagonal_without_diagonal(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects 'block_diagonal' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write block_diagonal<top_left> or block_diagonal<bottom_right> (C10)}}
  %0 = attn.mask %x masks(block_diagonal<size = 2>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_causal_size(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'size' of 'block_causal' to be at least 1, but got 0 (C10)}}
  %0 = attn.mask %x masks(block_causal<size = 0, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_causal_without_diagonal(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects 'block_causal' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write block_causal<top_left> or block_causal<bottom_right> (C10)}}
  %0 = attn.mask %x masks(block_causal<size = 2>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_diffusion_length(%x: tensor<2x4x?x7xf32>) {
  // expected-error @below {{'attn.mask' op expects kvLen to be 2 * half = 6 for 'block_diffusion', but got 7 (C10)}}
  %0 = attn.mask %x masks(block_diffusion<half = 3, block = 1>) : tensor<2x4x?x7xf32> outs(%x : tensor<2x4x?x7xf32>) -> tensor<2x4x?x7xf32>
  return
}

// -----

func.func @mask_c10_block_diffusion_block(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expects 'block' of 'block_diffusion' to be at least 1, but got 0 (C10)}}
  %0 = attn.mask %x masks(block_diffusion<half = 3, block = 0>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_block_diffusion_half(%x: tensor<2x4x?x?xf32>) {
  // expected-error @below {{'attn.mask' op expects 'half' of 'block_diffusion' to be at most 536870912, but got 536870913 (C10)}}
  %0 = attn.mask %x masks(block_diffusion<half = 536870913, block = 1>) : tensor<2x4x?x?xf32> outs(%x : tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  return
}

// -----

func.func @mask_c10_block_diffusion_parameter(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'block_diffusion' has no parameter 'top_left'}}
  %0 = attn.mask %x masks(block_diffusion<half = 3, block = 1, top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_local_2d_length(%x: tensor<2x4x5x7xf32>) {
  // expected-error @below {{'attn.mask' op expects queryLen to be rows * columns = 6 for 'local_2d', but got 5 (C10)}}
  %0 = attn.mask %x masks(local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 1>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_local_2d_kernel(%x: tensor<2x4x6x6xf32>) {
  // expected-error @below {{'attn.mask' op expects 'kernel_columns' of 'local_2d' to be at most columns = 3, but got 4 (C10)}}
  %0 = attn.mask %x masks(local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 4>) : tensor<2x4x6x6xf32> outs(%x : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return
}

// -----

func.func @mask_c10_local_2d_size(%x: tensor<2x4x?x?xf32>) {
  // expected-error @below {{'attn.mask' op expects rows * columns of 'local_2d' to be at most 536870912, but got 4611686018427387904 * 4 (C10)}}
  %0 = attn.mask %x masks(local_2d<rows = 4611686018427387904, columns = 4, kernel_rows = 1, kernel_columns = 1>) : tensor<2x4x?x?xf32> outs(%x : tensor<2x4x?x?xf32>) -> tensor<2x4x?x?xf32>
  return
}

// -----

func.func @mask_c10_tree_shape(%x: tensor<2x4x5x7xf32>, %t: tensor<5x7xi1>) {
  // expected-error @below {{'attn.mask' op expects the operand of 'tree' to have shape [batch = 2, queryLen = 5, queryLen = 5] or [queryLen = 5, queryLen = 5] of i1, but got 'tensor<5x7xi1>' (C10)}}
  %0 = attn.mask %x masks(tree(%t : tensor<5x7xi1>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @mask_c10_tree_element_type(%x: tensor<2x4x5x7xf32>, %t: tensor<5x5xi8>) {
  // expected-error @below {{'attn.mask' op expects the operand of 'tree' to have shape [batch = 2, queryLen = 5, queryLen = 5] or [queryLen = 5, queryLen = 5] of i1, but got 'tensor<5x5xi8>' (C10)}}
  %0 = attn.mask %x masks(tree(%t : tensor<5x5xi8>)) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return
}
