// RUN: attn-opt %s --split-input-file --verify-diagnostics

!m = memref<1x1x?x8xf16>
func.func @read_under_way(%q: !flash.query<64 x 8, f16>, %k: !m, %n: index) -> !flash.scores<64 x 16, f32> {
  // expected-error @below {{'flash.begin_scores' op expects one flash.finish_scores in its block as the only user of its result}}
  %s = flash.begin_scores %q, %k[%n, %n, %n] keys %n : !flash.query<64 x 8, f16>, !m -> !flash.scores<64 x 16, f32>
  // expected-note @below {{used here}}
  return %s : !flash.scores<64 x 16, f32>
}

// -----

!m = memref<1x1x?x8xf16>
func.func @never_waited_for(%q: !flash.query<64 x 8, f16>, %k: !m, %n: index) {
  // expected-error @below {{'flash.begin_scores' op expects one flash.finish_scores in its block as the only user of its result}}
  %s = flash.begin_scores %q, %k[%n, %n, %n] keys %n : !flash.query<64 x 8, f16>, !m -> !flash.scores<64 x 16, f32>
  return
}

// -----

!m = memref<1x1x?x8xf16>
func.func @waited_for_elsewhere(%q: !flash.query<64 x 8, f16>, %k: !m, %n: index, %c: i1) {
  // expected-error @below {{'flash.begin_scores' op expects one flash.finish_scores in its block as the only user of its result}}
  %s = flash.begin_scores %q, %k[%n, %n, %n] keys %n : !flash.query<64 x 8, f16>, !m -> !flash.scores<64 x 16, f32>
  scf.if %c {
    // expected-note @below {{used here}}
    %t, %r = flash.finish_scores %s at(%n, %n, %n, %n) rows %n keys %n : !flash.scores<64 x 16, f32>, !flash.rows<64, f32>
  }
  return
}

// -----

!m = memref<1x1x?x8xf16>
func.func @narrow_scores(%q: !flash.query<64 x 8, f16>, %k: !m, %n: index) {
  // expected-error @below {{'flash.begin_scores' op expects scores of f32 or f64, but got '!flash.scores<64 x 16, f16>'}}
  %s = flash.begin_scores %q, %k[%n, %n, %n] keys %n : !flash.query<64 x 8, f16>, !m -> !flash.scores<64 x 16, f16>
  return
}

// -----

!m = memref<1x1x?x9xf16>
func.func @other_keys(%q: !flash.query<64 x 8, f16>, %k: !m, %n: index) {
  // expected-error @below {{'flash.begin_scores' op expects key and its tile to share headDim, but got 9 and 8}}
  %s = flash.begin_scores %q, %k[%n, %n, %n] keys %n : !flash.query<64 x 8, f16>, !m -> !flash.scores<64 x 16, f32>
  return
}

// -----

func.func @nothing_begun(%s: !flash.scores<64 x 16, f32>, %n: index) {
  // expected-error @below {{'flash.finish_scores' op expects the result of a flash.begin_scores as operand}}
  %t, %r = flash.finish_scores %s at(%n, %n, %n, %n) rows %n keys %n : !flash.scores<64 x 16, f32>, !flash.rows<64, f32>
  return
}

// -----

func.func @rounds_another_shape(%s: !flash.scores<64 x 16, f32>) {
  // expected-error @below {{'flash.round_weights' op expects its tiles to have one shape, but got '!flash.scores<64 x 16, f32>' and '!flash.scores<64 x 32, f16>'}}
  %r = flash.round_weights %s : !flash.scores<64 x 16, f32> -> !flash.scores<64 x 32, f16>
  return
}

// -----

func.func @rounds_nothing(%s: !flash.scores<64 x 16, f32>) {
  // expected-error @below {{'flash.round_weights' op expects to round f32 to f16 or bf16, but got '!flash.scores<64 x 16, f32>' and '!flash.scores<64 x 16, f32>'}}
  %r = flash.round_weights %s : !flash.scores<64 x 16, f32> -> !flash.scores<64 x 16, f32>
  return
}

// -----

!m = memref<1x1x?x8xf16>
func.func @other_weights(%a: !flash.acc<64 x 8, f32>, %r: !flash.rows<64, f32>, %w: !flash.scores<64 x 16, bf16>, %v: !m,
                         %n: index) {
  // expected-error @below {{'flash.begin_accumulate' op expects weights of the elements of value, but got '!flash.scores<64 x 16, bf16>' and 'memref<1x1x?x8xf16>'}}
  %b = flash.begin_accumulate %a, %r, %w, %v[%n, %n, %n] keys %n : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<64 x 16, bf16>, !m
  return
}

// -----

!m = memref<1x1x?x8xf16>
func.func @other_rows(%a: !flash.acc<64 x 8, f32>, %r: !flash.rows<64, f32>, %w: !flash.scores<32 x 16, f16>, %v: !m,
                      %n: index) {
  // expected-error @below {{'flash.begin_accumulate' op expects its tiles to have the same rows, but got '!flash.acc<64 x 8, f32>' and '!flash.scores<32 x 16, f16>'}}
  %b = flash.begin_accumulate %a, %r, %w, %v[%n, %n, %n] keys %n : !flash.acc<64 x 8, f32>, !flash.rows<64, f32>, !flash.scores<32 x 16, f16>, !m
  return
}

// -----

func.func @no_values_begun(%a: !flash.acc<64 x 8, f32>) {
  // expected-error @below {{'flash.finish_accumulate' op expects the result of a flash.begin_accumulate as operand}}
  %b = flash.finish_accumulate %a : !flash.acc<64 x 8, f32>
  return
}
