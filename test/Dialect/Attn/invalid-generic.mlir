// RUN: attn-opt %s --split-input-file --verify-diagnostics

// What only the generic form can get wrong.

func.func @masks_of_other_attributes(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects masks to hold named masks, but got unit (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{masks = [unit], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @masks_of_score_functions(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects masks to hold named masks, but got #attn.softcap<3.000000e+01> (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{masks = [#attn.softcap<30.0>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @scores_of_masks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects scores to hold named score functions, but got #attn.causal<top_left> (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{scores = [#attn.causal<top_left>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @masks_of_another_kind(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{Invalid attribute `masks` in property conversion: 5 : i32}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{masks = 5 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @score_capture_missing(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects 1 captured operand for 'alibi', but got 0 (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{scores = [#attn.alibi<top_left>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @mask_capture_missing(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects 1 captured operand for 'boolean', but got 0 (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{masks = [#attn.causal<top_left>, #attn.boolean], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @capture_without_a_name(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<7xi1>) {
  // expected-error @below {{'attn.attention' op expects 0 captured operands for its named masks, but got 1 (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %t, %o)
      <{masks = [#attn.causal<top_left>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<7xi1>, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @capture_without_any_names(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<7xf32>) {
  // expected-error @below {{'attn.attention' op expects 0 captured operands for its named score functions, but got 1 (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %t, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<7xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @negative_window_attribute(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @+2 {{expects 'right' of 'window' to be at least 0, but got -1; leave it out for no limit (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{masks = [#attn.window<right = -1, top_left>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @softcap_attribute(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got -2.000000e+00 : f64 (C10)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{scores = [#attn.softcap<-2.0>], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @layout_of_sums(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of query to hold letters and constants alone, but got affine_map<(d0, d1, d2, d3) -> (d0, d1 + d2, d2, d3)> (C2)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{queryLayout = affine_map<(b, h, i, d) -> (b, h + i, i, d)>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @layout_with_symbols(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of key to be a map from 4 dimensions, but got affine_map<(d0, d1, d2, d3)[s0] -> (d0, d1, d2, s0)> (C2)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{keyLayout = affine_map<(b, h, j, d)[s] -> (b, h, j, s)>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @layout_from_three_dimensions(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of value to be a map from 4 dimensions, but got affine_map<(d0, d1, d2) -> (d0, d1, d2, 0)> (C2)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{valueLayout = affine_map<(b, h, j) -> (b, h, j, 0)>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @layout_of_another_kind(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{Invalid attribute `outLayout` in property conversion: "bhie"}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{outLayout = "bhie", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @segments_that_do_not_add_up(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op operand count (5) does not match with the total size (6) specified in attribute 'operandSegmentSizes'}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @no_out(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects operandSegmentSizes to be 1 for out, but got 0}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>}> ({}, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @no_regions(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expected 2 regions}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}>
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @region_without_arguments(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the arguments of its 'score' region to have types 'f32', 'index', 'index', 'index', 'index', but got  (C11)}}
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({
        "attn.yield"(%s) : (f32) -> ()
      }, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @yield_without_value(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %0 = "attn.attention"(%q, %k, %v, %s, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0>}> ({
      ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
        // expected-error @below {{'attn.yield' op requires a single operand}}
        "attn.yield"() : () -> ()
      }, {})
      : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>, f32, tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}
