// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C10) of attn.attention: the score functions with parameters and tables.

func.func @attention_c10_head_scale_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<2xf32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'head_scale' to have shape [heads = 4] of f32, but got 'tensor<2xf32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(head_scale(%t : tensor<2xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_log_shift_of_0(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the shift of 'log_shift' to be finite and above 0 in 'f32', but got 0.000000e+00 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(log_shift<0.0>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_log_shift_that_f32_cannot_hold(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the shift of 'log_shift' to be finite and above 0 in 'f32', but got 1.000000e+300 : f64 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(log_shift<1.0e300>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_kind(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<32x4xf32>) {
  // expected-error @below {{expects 't5_bias' to say one of bidirectional and causal}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 32, max_distance = 128, top_left>(%t : tensor<32x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_both_kinds(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<32x4xf32>) {
  // expected-error @below {{expects 't5_bias' to say one of bidirectional and causal}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 32, max_distance = 128, causal, bidirectional, top_left>(%t : tensor<32x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_odd_buckets(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<5x4xf32>) {
  // expected-error @below {{'attn.attention' op expects 'buckets' of 't5_bias' to be even and from 4 to 256, but got 5 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 5, max_distance = 128, bidirectional, top_left>(%t : tensor<5x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_alibi_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<4xf32>) {
  // expected-error @below {{'attn.attention' op expects 'alibi' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write alibi<top_left> or alibi<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi(%t : tensor<4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_alibi_of_lengths_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{'attn.attention' op expects 'alibi' to name its diagonal where kv_lengths are given; write alibi<top_left> or alibi<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(alibi(%t : tensor<4xf32>)) kv_lengths(%n : tensor<2xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_buckets(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<257x4xf32>) {
  // expected-error @below {{'attn.attention' op expects 'buckets' of 't5_bias' to be from 2 to 256, but got 257 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 257, max_distance = 128, causal, top_left>(%t : tensor<257x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_max_distance(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<32x4xf32>) {
  // expected-error @below {{'attn.attention' op expects 'max_distance' of 't5_bias' to be above 8 and at most 1048576, but got 8 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 32, max_distance = 8, bidirectional, top_left>(%t : tensor<32x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<4x32xf32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 't5_bias' to have shape [buckets = 32, heads = 4] of f16, bf16, f32 or f64, but got 'tensor<4x32xf32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 32, max_distance = 128, causal, top_left>(%t : tensor<4x32xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_t5_without_diagonal(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<32x4xf32>) {
  // expected-error @below {{'attn.attention' op expects 't5_bias' to name its diagonal unless queryLen = kvLen is known, but got 5 and 7; write t5_bias<top_left> or t5_bias<bottom_right> (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(t5_bias<buckets = 32, max_distance = 128, causal>(%t : tensor<32x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_distance_bias_max(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<1xf32>) {
  // expected-error @below {{expects 'max' of 'distance_bias' to be at least 0, but got -1 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(distance_bias<max = -1, top_left>(%t : tensor<1xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_distance_bias_large_max(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<?xf32>) {
  // expected-error @below {{'attn.attention' op expects 'max' of 'distance_bias' to be at most 536870912, but got 536870913 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(distance_bias<max = 536870913, top_left>(%t : tensor<?xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_distance_bias_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<5x4xf32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'distance_bias' to have shape [heads = 4, 2 * max + 1 = 5] or [2 * max + 1 = 5] of f16, bf16, f32 or f64, but got 'tensor<5x4xf32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(distance_bias<max = 2, top_left>(%t : tensor<5x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_distance_bias_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<5xi32>) {
  // expected-error @below {{'attn.attention' op expects the operand of 'distance_bias' to have shape [heads = 4, 2 * max + 1 = 5] or [2 * max + 1 = 5] of f16, bf16, f32 or f64, but got 'tensor<5xi32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(distance_bias<max = 2, top_left>(%t : tensor<5xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_indexed_bias_index(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<7x5xi32>, %u: tensor<9x4xf32>) {
  // expected-error @below {{'attn.attention' op expects operand 0 of 'indexed_bias' to have shape [queryLen = 5, kvLen = 7] of i32, i64 or index, but got 'tensor<7x5xi32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(indexed_bias(%t : tensor<7x5xi32>, %u : tensor<9x4xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_indexed_bias_table(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<5x7xi32>, %u: tensor<4x9xf32>) {
  // expected-error @below {{'attn.attention' op expects operand 1 of 'indexed_bias' to have shape [entries = ?, heads = 4] of f16, bf16, f32 or f64, but got 'tensor<4x9xf32>' (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(indexed_bias(%t : tensor<5x7xi32>, %u : tensor<4x9xf32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c10_indexed_bias_count(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32, %t: tensor<5x7xi32>) {
  // expected-error @below {{expects 2 captured operands for 'indexed_bias', but got 1 (C10)}}
  %0 = attn.attention %q, %k, %v scale(%s) scores(indexed_bias(%t : tensor<5x7xi32>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}
