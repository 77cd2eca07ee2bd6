// RUN: attn-opt %s --split-input-file --verify-diagnostics

// (C11) of attn.attention: what a score or mask region holds.

func.func @attention_c11_score_argument_types(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the arguments of its 'score' region to have types 'f32', 'index', 'index', 'index', 'index', but got 'f64', 'index', 'index', 'index', 'index' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x: f64, %b, %h, %i, %j) {
    attn.yield %x : f64
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_f64_score_is_not_f32(%q: tensor<2x4x5x8xf64>, %k: tensor<2x2x7x8xf64>, %v: tensor<2x2x7x6xf64>, %o: tensor<2x4x5x6xf64>, %s: f64) {
  // expected-error @below {{'attn.attention' op expects the arguments of its 'score' region to have types 'f64', 'index', 'index', 'index', 'index', but got 'f32', 'index', 'index', 'index', 'index' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s : f64) score(%x, %b, %h, %i, %j) {
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf64>, tensor<2x2x7x8xf64>, tensor<2x2x7x6xf64>
        outs(%o : tensor<2x4x5x6xf64>) -> tensor<2x4x5x6xf64>
  return
}

// -----

func.func @attention_c11_index_argument_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the arguments of its 'where' region to have types 'index', 'index', 'index', 'index', but got 'index', 'i32', 'index', 'index' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) where(%b, %h: i32, %i, %j) {
    %t = arith.constant true
    attn.yield %t : i1
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_score_yields_its_type(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-error @below {{'attn.yield' op expects the 'score' region to yield 'f32', but got 'index' (C11)}}
    attn.yield %b : index
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_where_yields_i1(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %0 = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    // expected-error @below {{'attn.yield' op expects the 'where' region to yield 'i1', but got 'index' (C11)}}
    attn.yield %b : index
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_store(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %m: memref<2xf32>) {
  // expected-error @below {{'attn.attention' op expects its 'score' region to hold only pure operations without regions and reads, but got 'memref.store' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-note @below {{the operation}}
    memref.store %x, %m[%b] : memref<2xf32>
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func private @f()

func.func @attention_c11_call(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects its 'score' region to hold only pure operations without regions and reads, but got 'func.call' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-note @below {{the operation}}
    func.call @f() : () -> ()
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_operation_with_regions(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32,
    %c: i1) {
  // expected-error @below {{'attn.attention' op expects its 'score' region to hold only pure operations without regions and reads, but got 'scf.if' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-note @below {{the operation}}
    %y = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %s : f32
    }
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_division_that_may_trap(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects its 'score' region to hold only pure operations without regions and reads, but got 'arith.divsi' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-note @below {{the operation}}
    %y = arith.divsi %i, %j : index
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_allocation(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects its 'score' region to hold only pure operations without regions and reads, but got 'memref.alloc' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-note @below {{the operation}}
    %y = memref.alloc() : memref<4xf32>
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_results_are_scalars(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects the operations of its 'score' region to yield scalars, but 'tensor.empty' yields 'tensor<4xf32>' (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %y = tensor.empty() : tensor<4xf32>
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_empty_region(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects a non-empty block}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_other_terminator(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects its 'where' region to end in attn.yield (C11)}}
  %0 = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    ub.unreachable
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_no_terminator(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    // expected-error @below {{block with no terminator}}
    %y = arith.addf %x, %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @attention_c11_two_blocks(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>, %s: f32) {
  // expected-error @below {{'attn.attention' op expects region #0 to have 0 or 1 blocks}}
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    cf.br ^bb1
  ^bb1:
    attn.yield %x : f32
  }
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @yield_outside_a_region(%x: f32) {
  // expected-error @below {{'attn.yield' op expects to end a score or mask region, but its parent is 'func.func'}}
  attn.yield %x : f32
}
