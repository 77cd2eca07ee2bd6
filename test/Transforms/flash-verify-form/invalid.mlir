// RUN: attn-opt %s --allow-unregistered-dialect --flash-verify-form --split-input-file --verify-diagnostics

func.func @used_twice(%o: memref<1x2x3x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects a tile value of type '!flash.acc<16 x 8, f32>' to be consumed once on every path, but it has 2 uses}}
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  // expected-note @below {{used here}}
  flash.store %acc, %l, %o[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  // expected-note @below {{used here}}
  flash.store %acc, %l, %o[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  return
}

// -----

func.func @never_used() {
  // expected-error @below {{but it is never used on one of them}}
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  return
}

// -----

func.func @one_branch_forgets(%o: memref<1x2x3x8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{but it is never used on one of them}}
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  scf.if %c {
    // expected-note @below {{used here}}
    flash.store %acc, %l, %o[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  }
  return
}

// -----

func.func @loop_that_does_not_carry_it(%o: memref<1x2x3x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{but a region that may run any number of times uses it from outside}}
  %m, %l, %acc = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 8, f32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-note @below {{used here}}
    flash.store %acc, %l, %o[%c0, %c0, %c0] rows %c0 : !flash.acc<16 x 8, f32>, !flash.rows<16, f32>, memref<1x2x3x8xf32>
  }
  return
}

// -----

func.func @query_elsewhere(%q: memref<1x2x3x8xf32>) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %c0] rows %c0 : memref<1x2x3x8xf32> -> !flash.query<16 x 8, f32>
  // expected-error @below {{'test.use' op expects to find query tiles in flash.scores and flash.begin_scores alone, but uses one of type '!flash.query<16 x 8, f32>'}}
  "test.use"(%query) : (!flash.query<16 x 8, f32>) -> ()
  return
}
