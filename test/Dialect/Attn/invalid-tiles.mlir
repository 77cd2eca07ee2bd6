// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @attention_c17_query_tile_no_power_of_two(%q: tensor<1x1x3x4xf32>, %t: tensor<?xi32>) -> tensor<1x1x3x4xf32> {
  %s = arith.constant 0.5 : f32
  // expected-error @below {{'attn.attention' op expects its query tile to be a power of two from 1 to 1024, but got 24 (C17)}}
  %r = attn.attention %q, %q, %q scale(%s) tiles(%t : tensor<?xi32> of 24 x 48)
      : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>
        outs(%q : tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %r : tensor<1x1x3x4xf32>
}

// -----

func.func @attention_c17_kv_tile_of_0(%q: tensor<1x1x3x4xf32>, %t: tensor<?xi32>) -> tensor<1x1x3x4xf32> {
  %s = arith.constant 0.5 : f32
  // expected-error @below {{'attn.attention' op expects its kv tile to be 1 to 65536, but got 0 (C17)}}
  %r = attn.attention %q, %q, %q scale(%s) tiles(%t : tensor<?xi32> of 16 x 0)
      : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>
        outs(%q : tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %r : tensor<1x1x3x4xf32>
}

// -----

func.func @attention_c17_tile_sizes_without_tiles(%q: tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32> {
  %s = arith.constant 0.5 : f32
  // expected-error @below {{'attn.attention' op expects query_tile and kv_tile where there are tiles, and nowhere else (C17)}}
  %r = "attn.attention"(%q, %q, %q, %s, %q)
      <{queryTile = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, f32, tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %r : tensor<1x1x3x4xf32>
}

// -----

func.func @attention_c17_tiles_without_kv_tile(%q: tensor<1x1x3x4xf32>, %t: tensor<9xi32>) -> tensor<1x1x3x4xf32> {
  %s = arith.constant 0.5 : f32
  // expected-error @below {{'attn.attention' op expects query_tile and kv_tile where there are tiles, and nowhere else (C17)}}
  %r = "attn.attention"(%q, %q, %q, %s, %t, %q)
      <{queryTile = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0>}> ({}, {})
      : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, f32, tensor<9xi32>, tensor<1x1x3x4xf32>)
        -> tensor<1x1x3x4xf32>
  return %r : tensor<1x1x3x4xf32>
}

// -----

func.func @attention_tiles_of_another_type(%q: tensor<1x1x3x4xf32>, %t: tensor<9xi64>) -> tensor<1x1x3x4xf32> {
  %s = arith.constant 0.5 : f32
  // expected-error @below {{operand #4 must be 1D tensor or memref of i32, but got 'tensor<9xi64>'}}
  %r = attn.attention %q, %q, %q scale(%s) tiles(%t : tensor<9xi64> of 16 x 16)
      : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>
        outs(%q : tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %r : tensor<1x1x3x4xf32>
}

// -----

func.func @classify_c1_query_tile(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'attn.classify_tiles' op expects its query tile to be a power of two from 1 to 1024, but got 2048 (C1)}}
  %r = attn.classify_tiles 2048 x 16 sizes(%n, %n, %n, %n) : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c1_kv_tile(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'attn.classify_tiles' op expects its kv tile to be 1 to 65536, but got 65537 (C1)}}
  %r = attn.classify_tiles 16 x 65537 sizes(%n, %n, %n, %n) : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c2_diagonal_is_not_written(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'attn.classify_tiles' op expects 'causal' to name its diagonal unless queryLen = kvLen is known, but got ? and ?}}
  %r = attn.classify_tiles 16 x 16 sizes(%n, %n, %n, %n) masks(causal) : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c2_region_yields_a_number(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  %r = attn.classify_tiles 16 x 16 sizes(%n, %n, %n, %n) where(%b, %h, %i, %j) {
    // expected-error @below {{'attn.yield' op expects the 'where' region to yield 'i1', but got 'index' (C11)}}
    attn.yield %i : index
  } : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c3_tensor_and_memref(%n: index, %l: memref<?xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'attn.classify_tiles' op expects all operands to be tensors or all to be memrefs, but operand 4 is 'memref<?xi32>' and operand 5 is 'tensor<?xi32>' (C3)}}
  %r = attn.classify_tiles 16 x 16 sizes(%n, %n, %n, %n) kv_lengths(%l : memref<?xi32>)
      : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c4_negative_size(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  %m = arith.constant -3 : index
  // expected-error @below {{'attn.classify_tiles' op expects heads to be in 0 to 1073741824, but got -3 (C4)}}
  %r = attn.classify_tiles 16 x 16 sizes(%n, %m, %n, %n) : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_c5_lengths_of_another_batch(%n: index, %l: tensor<3xi32>, %o: tensor<?xi32>) -> tensor<?xi32> {
  %b = arith.constant 2 : index
  // expected-error @below {{'attn.classify_tiles' op expects kv_lengths to have shape [2], but got [3] (C5)}}
  %r = attn.classify_tiles 16 x 16 sizes(%b, %n, %n, %n) kv_lengths(%l : tensor<3xi32>)
      : outs(%o : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @classify_required_operands(%n: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'attn.classify_tiles' op expects operandSegmentSizes to be 1 for batch, but got 2}}
  %r = "attn.classify_tiles"(%n, %n, %n, %n, %o)
      <{queryTile = 16 : i64, kvTile = 16 : i64, operandSegmentSizes = array<i32: 2, 0, 1, 1, 0, 0, 1>}> ({})
      : (index, index, index, index, tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

func.func @size_c1(%n: index) -> index {
  // expected-error @below {{'attn.tile_classes_size' op expects its query tile to be a power of two from 1 to 1024, but got 0 (C1)}}
  %r = attn.tile_classes_size 0 x 16 sizes(%n, %n, %n, %n)
  return %r : index
}
