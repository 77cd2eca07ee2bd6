// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise --split-input-file --verify-diagnostics

func.func @tm_operands(%q: tensor<6x7x4xf32>) -> tensor<6x7x4xf32> {
  // expected-error@below {{expects query, key, value, at most one mask, and one output, but got 3 operands, 2 of them inputs}}
  %r = "tm_tensor.attention"(%q, %q, %q) : (tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

// -----

func.func @tm_ranks(%q: tensor<6x7x4xf32>, %v: tensor<7x4xf32>) -> tensor<6x7x4xf32> {
  // expected-error@below {{expects operands of one rank, but got 'tensor<6x7x4xf32>' and 'tensor<7x4xf32>'}}
  %r = "tm_tensor.attention"(%q, %q, %v, %q)
      : (tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<7x4xf32>, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

// -----

func.func @tm_rank_5(%q: tensor<1x2x6x7x4xf32>) -> tensor<1x2x6x7x4xf32> {
  // expected-error@below {{expects operands of rank 2 to 4, but got 'tensor<1x2x6x7x4xf32>'}}
  %r = "tm_tensor.attention"(%q, %q, %q, %q)
      : (tensor<1x2x6x7x4xf32>, tensor<1x2x6x7x4xf32>, tensor<1x2x6x7x4xf32>, tensor<1x2x6x7x4xf32>)
      -> tensor<1x2x6x7x4xf32>
  return %r : tensor<1x2x6x7x4xf32>
}

// -----

func.func @tm_mask_of_integers(%q: tensor<6x7x4xf32>, %m: tensor<6x7x7xi8>) -> tensor<6x7x4xf32> {
  // expected-error@below {{expects operand 3 to be a ranked tensor of floats or i1, but got 'tensor<6x7x7xi8>'}}
  %r = "tm_tensor.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 4, 1>}>
      : (tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x7xi8>, tensor<6x7x4xf32>)
      -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

// -----

// What the types say is wrong with the attention, attn.attention says.
func.func @tm_sizes(%q: tensor<6x7x4xf32>, %k: tensor<6x9x5xf32>, %o: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  // expected-error@below {{'attn.attention' op expects query and key to share headDim, but got 4 and 5 (C3)}}
  %r = "tm_tensor.attention"(%q, %k, %k, %o)
      : (tensor<6x7x4xf32>, tensor<6x9x5xf32>, tensor<6x9x5xf32>, tensor<6x7x5xf32>) -> tensor<6x7x5xf32>
  return %r : tensor<6x7x5xf32>
}

// -----

func.func @iree_maps(%q: tensor<6x7x4xf32>, %s: f32) -> tensor<6x7x4xf32> {
  // expected-error@below {{expects an indexing map for each of its 5 operands}}
  %r = "iree_linalg_ext.attention"(%q, %q, %q, %s, %q)
      : (tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, f32, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

// -----

// Two query dimensions.
#query = affine_map<(b, h, i, e, d, j) -> (b, h, i, d)>
#key = affine_map<(b, h, i, e, d, j) -> (b, j, d)>
#value = affine_map<(b, h, i, e, d, j) -> (b, j, e)>
#scale = affine_map<(b, h, i, e, d, j) -> ()>
#out = affine_map<(b, h, i, e, d, j) -> (b, h, i, e)>
func.func @iree_dimensions(%q: tensor<2x3x7x4xf32>, %k: tensor<2x9x4xf32>, %s: f32) -> tensor<2x3x7x4xf32> {
  // expected-error@below {{and at most two batch dimensions, but got 2, 1, 1, 1 and 1}}
  %r = "iree_linalg_ext.attention"(%q, %k, %k, %s, %q) <{indexing_maps = [#query, #key, #value, #scale, #out]}>
      : (tensor<2x3x7x4xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>, f32, tensor<2x3x7x4xf32>) -> tensor<2x3x7x4xf32>
  return %r : tensor<2x3x7x4xf32>
}

// -----

#query = affine_map<(b, i, e, d, j) -> (b, i, d)>
#key = affine_map<(b, i, e, d, j) -> (b, j, d)>
#value = affine_map<(b, i, e, d, j) -> (b, j, e)>
#scale = affine_map<(b, i, e, d, j) -> ()>
#out = affine_map<(b, i, e, d, j) -> (b, i, e)>
func.func @iree_region(%q: tensor<6x7x4xf32>, %s: f32) -> tensor<6x7x4xf32> {
  // expected-error@below {{expects pure operations without regions in its region, but got 'test.unknown'}}
  %r = "iree_linalg_ext.attention"(%q, %q, %q, %s, %q) <{indexing_maps = [#query, #key, #value, #scale, #out]}> ({
  ^bb0(%x: f32):
    %y = "test.unknown"(%x) : (f32) -> f32
    "iree_linalg_ext.yield"(%y) : (f32) -> ()
  }) : (tensor<6x7x4xf32>, tensor<6x7x4xf32>, tensor<6x7x4xf32>, f32, tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

// -----

func.func @scan_dimension(%x: tensor<2x3xf32>, %a: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@below {{expects tensors of one shape, an accumulator without the dimension 2}}
  %r:2 = "tm_tensor.scan"(%x, %x, %a) <{dimension = 2 : i64, inclusive = true}> ({
  ^bb0(%l: f32, %m: f32):
    "tm_tensor.yield"(%l) : (f32) -> ()
  }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#0 : tensor<2x3xf32>
}

// -----

func.func @scan_function(%x: tensor<2x3xf32>, %a: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@below {{expects a region of one block that takes two elements and yields one}}
  %r:2 = "tm_tensor.scan"(%x, %x, %a) <{dimension = 1 : i64, inclusive = true}>
      : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#0 : tensor<2x3xf32>
}

// -----

// tosa.variable lives on between calls, which no kernel does.
tosa.variable @state = dense<1.0> : tensor<4xf32>
func.func @tosa_without_a_conversion() -> tensor<4xf32> {
  // expected-error@below {{failed to legalize operation 'tosa.variable_read'}}
  %r = tosa.variable_read @state : tensor<4xf32>
  return %r : tensor<4xf32>
}
