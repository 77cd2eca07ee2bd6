// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C10) of attn.attention: the named masks and score functions.

func.func @attention_c10_causal_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects 'causal' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write causal<top_left> or causal<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_window_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects 'window' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write window<top_left> or window<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(window)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_prefix_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xi32>) {
  // expected-error @below {{'attn.attention' op expects 'prefix' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write prefix<top_left> or prefix<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(prefix(%t : tensor<2xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_dynamic_lengths_tell_no_diagonal(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x?x8xf32>, %v: tensor<2x2x?x6xf32>, %o: tensor<2x4x?x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects 'causal' to name its diagonal unless queryLen = kvLen is known, but got ? and ?; write causal<top_left> or causal<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal)
      : tensor<2x4x?x8xf32>, tensor<2x2x?x8xf32>, tensor<2x2x?x6xf32>
        outs(%o : tensor<2x4x?x6xf32>) -> tensor<2x4x?x6xf32>
  return
}

// -----

func.func @attention_c10_lengths_tell_no_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xi32>) {
  // expected-error @below {{'attn.attention' op expects 'causal' to name its diagonal where kv_lengths are given; write causal<top_left> or causal<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal) kv_lengths(%t : tensor<2xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_prefix_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<4xi32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'prefix' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<4xi32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(prefix<top_left>(%t : tensor<4xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_prefix_rank_0(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<i32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'prefix' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<i32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(prefix<top_left>(%t : tensor<i32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_prefix_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xi8>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'prefix' to have shape [batch = 2] of i32, i64 or index, but got 'tensor<2xi8>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(prefix<top_left>(%t : tensor<2xi8>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_boolean_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<1x2x4x5x7xi1>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'boolean' to have at most rank 4, but got rank 5 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%t : tensor<1x2x4x5x7xi1>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_boolean_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<4x7xi1>) {
  // expected-error @below {{'attn.attention' op expects dimension 0 of the operand of 'boolean' to be 1 or queryLen = 5, but got 4 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%t : tensor<4x7xi1>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_boolean_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<5x7xf32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'boolean' to have element type i1, but got 'tensor<5x7xf32>'; a float mask is written additive(...) under scores (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%t : tensor<5x7xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_boolean_of_a_scalar(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: i1) {
  // expected-error @below {{'attn.attention' op operand #4 must be variadic of ranked tensor or memref, but got 'i1'}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%t : i1))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_alibi_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xf32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'alibi' to have shape [heads = 4] of f32, but got 'tensor<2xf32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi<top_left>(%t : tensor<2xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_alibi_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<4xf16>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'alibi' to have shape [heads = 4] of f32, but got 'tensor<4xf16>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi<top_left>(%t : tensor<4xf16>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_bias_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<1x2x5x7xf32>) {
  // expected-error @below {{'attn.attention' op expects dimension 1 of the operand of 'bias' to be 1 or heads = 4, but got 2 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(bias(%t : tensor<1x2x5x7xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_bias_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<5x7xi32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'bias' to have element type f16, bf16, f32 or f64, but got 'tensor<5x7xi32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(bias(%t : tensor<5x7xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_additive_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<5xf32>) {
  // expected-error @below {{'attn.attention' op expects dimension 0 of the operand of 'additive' to be 1 or kvLen = 7, but got 5 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(additive(%t : tensor<5xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_zero(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got 0.000000e+00 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<0.0>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_negative(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got -1.000000e+00 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<-1.0>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_nan(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got 0x7FF8000000000000 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<0x7FF8000000000000>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_infinite(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got 0x7FF0000000000000 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<0x7FF0000000000000>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_infinite_in_f32(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got 1.000000e+300 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<1.0e300>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_softcap_zero_in_f32(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the cap of 'softcap' to be finite and above 0 in 'f32', but got 1.000000e-300 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(softcap<1.0e-300>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}
