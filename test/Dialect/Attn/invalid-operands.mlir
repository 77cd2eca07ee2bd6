// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C6) to (C9) and (C12) to (C16) of attn.attention: scale, optional operands, results.

func.func @attention_c6_out_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf16>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have element type 'f32', but got 'f16' (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf16>) -> tensor<2x4x5x6xf16>
  return
}

// -----

func.func @attention_c6_out_f64(%q: tensor<2x4x5x8xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf16>, %o: tensor<2x4x5x6xf64>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have element type 'f16' or 'f32', but got 'f64' (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf16>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf16>
        outs(%o : tensor<2x4x5x6xf64>) -> tensor<2x4x5x6xf64>
  return
}

// -----

func.func @attention_c6_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<3x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have batch = 2, but got 3 (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<3x4x5x6xf32>) -> tensor<3x4x5x6xf32>
  return
}

// -----

func.func @attention_c6_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x2x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have heads = 4, but got 2 (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x2x5x6xf32>) -> tensor<2x2x5x6xf32>
  return
}

// -----

func.func @attention_c6_query_len(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x7x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have queryLen = 5, but got 7 (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x7x6xf32>) -> tensor<2x4x7x6xf32>
  return
}

// -----

func.func @attention_c6_value_dim(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x8xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects out to have valueDim = 6, but got 8 (C6)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

func.func @attention_c7_lse_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %l: tensor<2x5x4xf32>) {
  // expected-error @below {{'attn.attention' op expects lse to have shape [2, 4, 5], but got [2, 5, 4] (C7)}}
  %0:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x5x4xf32>) -> tensor<2x4x5x6xf32>, tensor<2x5x4xf32>
  return
}

// -----

func.func @attention_c7_lse_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %l: tensor<2x4x5x1xf32>) {
  // expected-error @below {{'attn.attention' op expects lse to have shape [2, 4, 5], but got [2, 4, 5, 1] (C7)}}
  %0:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5x1xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x5x1xf32>
  return
}

// -----

func.func @attention_c7_lse_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %l: tensor<2x4x5xf64>) {
  // expected-error @below {{'attn.attention' op expects lse to have element type 'f32', but got 'f64' (C7)}}
  %0:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5xf64>) -> tensor<2x4x5x6xf32>, tensor<2x4x5xf64>
  return
}

// -----

func.func @attention_c8_weights_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %w: tensor<2x4x7x5xf32>) {
  // expected-error @below {{'attn.attention' op expects weights to have shape [2, 4, 5, 7], but got [2, 4, 7, 5] (C8)}}
  %0:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) weights(%w : tensor<2x4x7x5xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x7x5xf32>
  return
}

// -----

func.func @attention_c8_weights_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %w: tensor<2x4x5x7xf64>) {
  // expected-error @below {{'attn.attention' op expects weights to have element type 'f32', but got 'f64' (C8)}}
  %0:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) weights(%w : tensor<2x4x5x7xf64>) -> tensor<2x4x5x6xf32>, tensor<2x4x5x7xf64>
  return
}

// -----

func.func @attention_c9_scale_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f64) {
  // expected-error @below {{'attn.attention' op expects scale to be 'f32' for 'f32' inputs, but got 'f64' (C9)}}
  %0 = attn.attention %q, %k, %v scale(%s : f64)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c9_integer_scale(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: i32) {
  // expected-error @below {{'attn.attention' op operand #3 must be 32-bit float or 64-bit float, but got 'i32'}}
  %0 = attn.attention %q, %k, %v scale(%s : i32)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c9_nan_scale(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %c = arith.constant 0x7FC00000 : f32
  // expected-error @below {{'attn.attention' op expects scale to be finite, but got 0x7FC00000 : f32 (C9)}}
  %0 = attn.attention %q, %k, %v scale(%c)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c9_infinite_scale(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %c = arith.constant 0xFF800000 : f32
  // expected-error @below {{'attn.attention' op expects scale to be finite, but got 0xFF800000 : f32 (C9)}}
  %0 = attn.attention %q, %k, %v scale(%c)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c12_sink_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xf32>) {
  // expected-error @below {{'attn.attention' op expects sink to have shape [4], but got [2] (C12)}}
  %0 = attn.attention %q, %k, %v scale(%s) sink(%t : tensor<2xf32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c12_sink_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<f32>) {
  // expected-error @below {{'attn.attention' op expects sink to have shape [4], but got [] (C12)}}
  %0 = attn.attention %q, %k, %v scale(%s) sink(%t : tensor<f32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c12_sink_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<4xf64>) {
  // expected-error @below {{'attn.attention' op expects sink to have element type 'f32', but got 'f64' (C12)}}
  %0 = attn.attention %q, %k, %v scale(%s) sink(%t : tensor<4xf64>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c13_lengths_shape(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<4xi32>) {
  // expected-error @below {{'attn.attention' op expects kv_lengths to have shape [2], but got [4] (C13)}}
  %0 = attn.attention %q, %k, %v scale(%s) kv_lengths(%t : tensor<4xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c13_float_lengths(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: tensor<2xf32>) {
  // expected-error @below {{'attn.attention' op operand #4 must be ranked tensor or memref of i32, i64 or index, but got 'tensor<2xf32>'}}
  %0 = attn.attention %q, %k, %v scale(%s) kv_lengths(%t : tensor<2xf32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c14_mixed_forms(%q: tensor<2x4x5x8xf32>, %k: memref<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects all operands to be tensors or all to be memrefs, but operand 0 is 'tensor<2x4x5x8xf32>' and operand 1 is 'memref<2x2x7x8xf32>' (C14)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, memref<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c14_mixed_capture(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %t: memref<7xi1>) {
  // expected-error @below {{'attn.attention' op expects all operands to be tensors or all to be memrefs, but operand 0 is 'tensor<2x4x5x8xf32>' and operand 4 is 'memref<7xi1>' (C14)}}
  %0 = attn.attention %q, %k, %v scale(%s) masks(boolean(%t : memref<7xi1>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c14_missing_result(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects results of the types of its outs: ('tensor<2x4x5x6xf32>'), but got () (C14)}}
  attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>)
  return
}

// -----

func.func @attention_c14_other_result_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects results of the types of its outs: ('tensor<2x4x5x6xf32>'), but got ('tensor<2x4x?x6xf32>') (C14)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x?x6xf32>
  return
}

// -----

func.func @attention_c14_result_of_a_memref(%q: memref<2x4x5x8xf32>, %k: memref<2x2x7x8xf32>, %v: memref<2x2x7x6xf32>, %o: memref<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects results of no types, since its outs are memrefs: (), but got ('tensor<2x4x5x6xf32>') (C14)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : memref<2x4x5x8xf32>, memref<2x2x7x8xf32>, memref<2x2x7x6xf32>
        outs(%o : memref<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c15_query_overflows(%q: tensor<4294967296x4x4294967296x8xf32>, %k: tensor<?x2x7x8xf32>, %v: tensor<?x2x7x6xf32>, %o: tensor<?x4x?x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the number of elements of query to fit in 63 bits, but got shape [4294967296, 4, 4294967296, 8] (C15)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<4294967296x4x4294967296x8xf32>, tensor<?x2x7x8xf32>, tensor<?x2x7x6xf32>
        outs(%o : tensor<?x4x?x6xf32>) -> tensor<?x4x?x6xf32>
  return
}

// -----

func.func @attention_c15_scores_overflow(%q: tensor<2x4x4294967296x8xf32>, %k: tensor<2x2x4294967296x8xf32>, %v: tensor<2x2x4294967296x6xf32>, %o: tensor<2x4x4294967296x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the number of elements of the scores to fit in 63 bits, but got shape [2, 4, 4294967296, 4294967296] (C15)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x4294967296x8xf32>, tensor<2x2x4294967296x8xf32>, tensor<2x2x4294967296x6xf32>
        outs(%o : tensor<2x4x4294967296x6xf32>) -> tensor<2x4x4294967296x6xf32>
  return
}

// -----

func.func @attention_c16_dropout(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op does not support dropout yet; remove it (C16)}}
  %0 = attn.attention %q, %k, %v scale(%s) dropout
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}
