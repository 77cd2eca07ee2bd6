// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Tiles of one op agree in rows, extents and element types.

func.func @load_query_head_dim(%m: memref<2x4x5x8xf16>, %n: index, %s: f64) {
  // expected-error @below {{'flash.load_query' op expects source and its tile to share headDim, but got 8 and 9}}
  %q = flash.load_query %m[%n, %n, %n] rows %n : memref<2x4x5x8xf16> -> !flash.query<4 x 9, f32>
  return
}

// -----

func.func @load_query_element(%m: memref<2x4x5x8xf16>, %n: index, %s: f64) {
  // expected-error @below {{'flash.load_query' op expects a query tile of 'f16' or 'f32', but got '!flash.query<4 x 8, bf16>'}}
  %q = flash.load_query %m[%n, %n, %n] rows %n : memref<2x4x5x8xf16> -> !flash.query<4 x 8, bf16>
  return
}

// -----

func.func @load_query_rank(%m: memref<5x8xf32>, %n: index, %s: f64) {
  // expected-error @below {{'flash.load_query' op operand #0 must be 4D memref of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'memref<5x8xf32>'}}
  %q = flash.load_query %m[%n, %n, %n] rows %n : memref<5x8xf32> -> !flash.query<4 x 8, f32>
  return
}

// -----

func.func @init_rows(%s: f64, %n: index) {
  // expected-error @below {{'flash.init' op expects its tiles to have the same rows, but got '!flash.rows<4, f32>' and '!flash.rows<8, f32>'}}
  %m, %l, %o = flash.init : !flash.rows<4, f32>, !flash.rows<8, f32>, !flash.acc<4 x 6, f32>
  return
}

// -----

func.func @init_elements(%s: f64, %n: index) {
  // expected-error @below {{'flash.init' op expects its tiles to have one element type, but got '!flash.rows<4, f32>' and '!flash.acc<4 x 6, f64>'}}
  %m, %l, %o = flash.init : !flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x 6, f64>
  return
}

// -----

func.func @init_sink(%s: f64, %n: index) {
  // expected-error @below {{'flash.init' op expects sink to be 'f32', but got 'f64'}}
  %m, %l, %o = flash.init sink %s : f64 : !flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x 6, f32>
  return
}

// -----

func.func @init_without_value_dim(%s: f64, %n: index) {
  // expected-error @below {{'flash.init' op expects value_dim where the extent of acc is dynamic, but got '!flash.acc<4 x ?, f32>'}}
  %m, %l, %o = flash.init : !flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x ?, f32>
  return
}

// -----

func.func @init_with_value_dim(%s: f64, %n: index) {
  // expected-error @below {{'flash.init' op expects value_dim only where the extent of acc is dynamic, but got '!flash.acc<4 x 6, f32>'}}
  %m, %l, %o = flash.init value_dim %n : !flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x 6, f32>
  return
}

// -----

func.func @scores_rows(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x8xf16>, %n: index) {
  // expected-error @below {{'flash.scores' op expects its tiles to have the same rows, but got '!flash.query<4 x 8, f32>' and '!flash.scores<8 x 16, f32>'}}
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n 
      : !flash.query<4 x 8, f32>, memref<2x4x5x8xf16> -> !flash.scores<8 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @scores_row_max_element(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x8xf16>, %n: index) {
  // expected-error @below {{'flash.scores' op expects its tiles to have one element type, but got '!flash.scores<4 x 16, f32>' and '!flash.rows<4, f64>'}}
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n 
      : !flash.query<4 x 8, f32>, memref<2x4x5x8xf16> -> !flash.scores<4 x 16, f32>, !flash.rows<4, f64>
  return
}

// -----

func.func @scores_head_dim(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x7xf16>, %n: index) {
  // expected-error @below {{'flash.scores' op expects key and its tile to share headDim, but got 7 and 8}}
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n 
      : !flash.query<4 x 8, f32>, memref<2x4x5x7xf16> -> !flash.scores<4 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @scores_key_element(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x8xf64>, %n: index) {
  // expected-error @below {{'flash.scores' op expects key to have elements that are calculated with in 'f32', but got 'f64'}}
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n 
      : !flash.query<4 x 8, f32>, memref<2x4x5x8xf64> -> !flash.scores<4 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @scores_region_arguments(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x8xf16>, %n: index) {
  // expected-error @below {{'flash.scores' op expects the arguments of its 'score' region to have types 'f32', 'index', 'index', 'index', 'index', but got 'f64', 'index', 'index', 'index', 'index' (C11)}}
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n score(%x: f64, %b, %h, %i, %j) {
    attn.yield %x : f64
  }
      : !flash.query<4 x 8, f32>, memref<2x4x5x8xf16> -> !flash.scores<4 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @scores_region_yields_i1(%q: !flash.query<4 x 8, f32>, %k: memref<2x4x5x8xf16>, %n: index) {
  %s, %m = flash.scores %q, %k at(%n, %n : %n, %n, %n) rows %n keys %n where(%b, %h, %i, %j) {
    // expected-error @below {{'attn.yield' op expects the 'where' region to yield 'i1', but got 'index' (C11)}}
    attn.yield %b : index
  }
      : !flash.query<4 x 8, f32>, memref<2x4x5x8xf16> -> !flash.scores<4 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @update_max_types(%a: !flash.rows<4, f32>, %b: !flash.rows<8, f32>) {
  // expected-error @below {{'flash.update_max' op failed to verify that all of {old, tileMax, newMax, rescale} have same type}}
  %m:2 = "flash.update_max"(%a, %b) : (!flash.rows<4, f32>, !flash.rows<8, f32>) -> (!flash.rows<4, f32>, !flash.rows<4, f32>)
  return
}

// -----

func.func @weights_rows(%s: !flash.scores<8 x 16, f32>, %r: !flash.rows<4, f32>, %n: index) {
  // expected-error @below {{'flash.weights' op expects its tiles to have the same rows, but got '!flash.scores<8 x 16, f32>' and '!flash.rows<4, f32>'}}
  %w, %l = flash.weights %s, %r, %r, %r rows %n keys %n : !flash.scores<8 x 16, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @accumulate_value_dim(%o: !flash.acc<4 x 6, f32>, %r: !flash.rows<4, f32>, %w: !flash.scores<4 x 16, f32>, %v: memref<2x4x5x7xf16>, %n: index) {
  // expected-error @below {{'flash.accumulate' op expects value and its tile to share valueDim, but got 7 and 6}}
  %p = flash.accumulate %o, %r, %w, %v[%n, %n, %n] rows %n keys %n : !flash.acc<4 x 6, f32>, !flash.rows<4, f32>, !flash.scores<4 x 16, f32>, memref<2x4x5x7xf16>
  return
}

// -----

func.func @accumulate_rows(%o: !flash.acc<4 x 6, f32>, %r: !flash.rows<4, f32>, %w: !flash.scores<8 x 16, f32>, %v: memref<2x4x5x6xf16>, %n: index) {
  // expected-error @below {{'flash.accumulate' op expects its tiles to have the same rows, but got '!flash.acc<4 x 6, f32>' and '!flash.scores<8 x 16, f32>'}}
  %p = flash.accumulate %o, %r, %w, %v[%n, %n, %n] rows %n keys %n : !flash.acc<4 x 6, f32>, !flash.rows<4, f32>, !flash.scores<8 x 16, f32>, memref<2x4x5x6xf16>
  return
}

// -----

func.func @store_value_dim(%o: !flash.acc<4 x 6, f32>, %r: !flash.rows<4, f32>, %d: memref<2x4x5x8xf16>, %n: index) {
  // expected-error @below {{'flash.store' op expects dest and its tile to share valueDim, but got 8 and 6}}
  flash.store %o, %r, %d[%n, %n, %n] rows %n : !flash.acc<4 x 6, f32>, !flash.rows<4, f32>, memref<2x4x5x8xf16>
  return
}

// -----

func.func @store_lse_element(%r: !flash.rows<4, f32>, %d: memref<2x4x5xf64>, %n: index) {
  // expected-error @below {{'flash.store_lse' op expects dest to have element type 'f32', but got 'f64'}}
  flash.store_lse %r, %r, %d[%n, %n, %n] rows %n : !flash.rows<4, f32>, memref<2x4x5xf64>
  return
}

// -----

func.func @store_weights_element(%s: !flash.scores<4 x 16, f32>, %r: !flash.rows<4, f32>, %d: memref<2x4x5x8xf16>, %n: index) {
  // expected-error @below {{'flash.store_weights' op expects dest to have element type 'f32', but got 'f16'}}
  flash.store_weights %s, %r, %r, %d[%n, %n, %n, %n] rows %n keys %n zeros %n : !flash.scores<4 x 16, f32>, !flash.rows<4, f32>, memref<2x4x5x8xf16>
  return
}

// -----

func.func @require_values(%c: i1, %n: index) {
  // expected-error @below {{'flash.require' op expects at most 2 values, but got 3}}
  flash.require %c, "{0} {1} {2}"(%n, %n, %n)
  return
}

// -----

func.func @require_message_type(%c: i1) {
  // expected-error @below {{Invalid attribute `message` in property conversion: 5 : i32}}
  "flash.require"(%c) <{message = 5 : i32}> : (i1) -> ()
  return
}

// -----

func.func @group_of_no_heads(%query: memref<2x12x5x8xf32>, %n: index) {
  // expected-error @below {{attribute 'group' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %q = flash.load_query %query[%n, %n, %n] rows %n group 0 : memref<2x12x5x8xf32> -> !flash.query<16 x 8, f32>
  return
}

// -----

func.func @scores_scale(%m: memref<2x4x5x8xf16>, %n: index, %s: f64, %q: !flash.query<4 x 8, f16>) {
  // expected-error @below {{'flash.scores' op expects scale to be 'f32', but got 'f64'}}
  %t, %max = flash.scores %q, %m at(%n, %n : %n, %n, %n) rows %n keys %n scale %s : f64 : !flash.query<4 x 8, f16>, memref<2x4x5x8xf16> -> !flash.scores<4 x 8, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @finish_scores_scale(%m: memref<2x4x5x8xf16>, %n: index, %s: f64, %q: !flash.query<4 x 8, f16>) {
  %p = flash.begin_scores %q, %m[%n, %n, %n] keys %n : !flash.query<4 x 8, f16>, memref<2x4x5x8xf16> -> !flash.scores<4 x 8, f32>
  // expected-error @below {{'flash.finish_scores' op expects scale to be 'f32', but got 'f64'}}
  %t, %max = flash.finish_scores %p at(%n, %n, %n, %n) rows %n keys %n scale %s : f64 : !flash.scores<4 x 8, f32>, !flash.rows<4, f32>
  return
}

// -----

func.func @unit(%a: !flash.rows<4, f32>) {
  // expected-error @below {{'flash.update_max' op attribute 'unit' failed to satisfy constraint: 64-bit float attribute whose value is positive}}
  %m, %r = flash.update_max %a, %a unit 0.0 : !flash.rows<4, f32>
  return
}

// -----

// expected-error @below {{expects a kernel of 1 to 1024 threads a block, but got 2048}}
func.func private @threads() attributes {flash.kernel = #flash.kernel<threads = 2048, items = 1, shared_bytes = 0>}

// -----

// expected-error @below {{expects a kernel to do at least 1 item a block in at least 0 bytes of shared memory, but got 0 items and 0 bytes}}
func.func private @items() attributes {flash.kernel = #flash.kernel<threads = 128, items = 0, shared_bytes = 0>}

// -----

// expected-error @below {{expects a tensor map of a capture from 0 on with 1 to 256 rows, but got capture 1 and 512 rows}}
func.func private @box() attributes {map = #flash.tensor_map<capture = 1, rows = 512>}
