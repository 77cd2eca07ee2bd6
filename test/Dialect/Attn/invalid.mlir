// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C1) to (C5) of attn.attention: what query, key and value share.

func.func @attention_c1_key_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and key to share one element type, but got 'f32' and 'f16' (C1)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c1_value_element_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xbf16>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and value to share one element type, but got 'f32' and 'bf16' (C1)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xbf16>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c1_integer_elements(%q: tensor<2x4x5x8xi32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op operand #0 must be ranked tensor or memref of f16, bf16, f32 or f64, but got 'tensor<2x4x5x8xi32>'}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xi32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_unranked_query(%q: tensor<*xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op operand #0 must be ranked tensor or memref of f16, bf16, f32 or f64, but got 'tensor<*xf32>'}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<*xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_rank_0(%q: tensor<f32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query without a layout to have rank 4, but got rank 0; write layout(query(...)) (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<f32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_rank_1(%q: tensor<2x4x5x8xf32>, %k: tensor<8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects key without a layout to have rank 4, but got rank 1; write layout(key(...)) (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_value_of_rank_5(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<1x2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects value without a layout to have rank 4, but got rank 5; write layout(value(...)) (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<1x2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_rank_0_with_layout(%q: tensor<f32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of query to name 'i' once, but got it 0 times (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(query())
      : tensor<f32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_layout_of_other_rank(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of query to name 4 dimensions, but got 3 (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(query(b, h, d))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_repeated_letter(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of key to name 'h' at most once, but got it 2 times (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(key(h, h, j, d))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_missing_letter(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the layout of value to name 'j' once, but got it 0 times (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(value(b, h, 0, e))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_position_out_of_range(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects position 2 in the layout of out to be inside its dimension 0 of size 2 (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(out(2, h, i, e))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c2_negative_position(%q: tensor<?x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects position -1 in the layout of query to be inside its dimension 0 of size ? (C2)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(query(-1, h, i, d))
      : tensor<?x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c3_head_dim_mismatch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and key to share headDim, but got 8 and 9 (C3)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c3_head_dim_by_layout(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and key to share headDim, but got 8 and 7 (C3)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(key(b, h, d, j))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_query_and_key_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<3x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and key to share batch, but got 2 and 3 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<3x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_key_and_value_batch(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<3x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects key and value to share batch, but got 2 and 3 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<3x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_batch_behind_a_dynamic_key(%q: tensor<2x4x5x8xf32>, %k: tensor<?x2x7x8xf32>, %v: tensor<3x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and value to share batch, but got 2 and 3 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<?x2x7x8xf32>, tensor<3x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_absent_batch_is_1(%q: tensor<4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects query and key to share batch, but got 1 and 2 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s) layout(query(h, i, d))
      : tensor<4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_kv_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x4x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects key and value to share kvHeads, but got 2 and 4 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x4x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c4_kv_len(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x9x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects key and value to share kvLen, but got 7 and 9 (C4)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x9x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c5_kv_heads_do_not_divide_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects kvHeads to divide heads, but got 3 and 4 (C5)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c5_more_kv_heads_than_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x8x7x8xf32>, %v: tensor<2x8x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects kvHeads to divide heads, but got 8 and 4 (C5)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x8x7x8xf32>, tensor<2x8x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c5_no_kv_heads(%q: tensor<2x4x5x8xf32>, %k: tensor<2x0x7x8xf32>, %v: tensor<2x0x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects kvHeads to divide heads, but got 0 and 4 (C5)}}
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<2x4x5x8xf32>, tensor<2x0x7x8xf32>, tensor<2x0x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}
