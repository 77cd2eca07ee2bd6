// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @store_partial_rows(%m: !flash.rows<8, f32>, %a: !flash.acc<4 x 6, f32>, %lines: memref<6x4x5xf32>,
                              %acc: memref<6x4x5x6xf32>, %n: index) {
  // expected-error @below {{'flash.store_partial' op expects its tiles to have the same rows, but got '!flash.rows<8, f32>' and '!flash.acc<4 x 6, f32>'}}
  flash.store_partial %m, %m, %a, %lines, %lines, %acc[%n, %n, %n] rows %n
    : !flash.rows<8, f32>, !flash.acc<4 x 6, f32>, memref<6x4x5xf32>, memref<6x4x5x6xf32>
  return
}

// -----

func.func @store_partial_lines_of_another_type(%m: !flash.rows<4, f32>, %a: !flash.acc<4 x 6, f32>,
                                               %lines: memref<6x4x5xf64>, %acc: memref<6x4x5x6xf32>, %n: index) {
  // expected-error @below {{'flash.store_partial' op expects memory of 'f32', but got 'memref<6x4x5xf64>'}}
  flash.store_partial %m, %m, %a, %lines, %lines, %acc[%n, %n, %n] rows %n
    : !flash.rows<4, f32>, !flash.acc<4 x 6, f32>, memref<6x4x5xf64>, memref<6x4x5x6xf32>
  return
}

// -----

func.func @store_partial_rounds(%m: !flash.rows<4, f32>, %a: !flash.acc<4 x 6, f32>, %lines: memref<6x4x5xf32>,
                                %acc: memref<6x4x5x6xf16>, %n: index) {
  // expected-error @below {{'flash.store_partial' op operand #5 must be 4D memref of 32-bit float or 64-bit float values, but got 'memref<6x4x5x6xf16>'}}
  flash.store_partial %m, %m, %a, %lines, %lines, %acc[%n, %n, %n] rows %n
    : !flash.rows<4, f32>, !flash.acc<4 x 6, f32>, memref<6x4x5xf32>, memref<6x4x5x6xf16>
  return
}

// -----

func.func @load_partial_value_dim(%lines: memref<6x4x5xf32>, %acc: memref<6x4x5x7xf32>, %n: index) {
  // expected-error @below {{'flash.load_partial' op expects memory and its tile to share valueDim, but got 7 and 6}}
  %m, %l, %a = flash.load_partial %lines, %lines, %acc[%n, %n, %n] rows %n
    : memref<6x4x5xf32>, memref<6x4x5x7xf32> -> !flash.rows<4, f32>, !flash.acc<4 x 6, f32>
  return
}

// -----

func.func @load_partial_elements(%lines: memref<6x4x5xf32>, %acc: memref<6x4x5x6xf32>, %n: index) {
  // expected-error @below {{'flash.load_partial' op expects its tiles to have one element type, but got '!flash.rows<4, f32>' and '!flash.acc<4 x 6, f64>'}}
  %m, %l, %a = flash.load_partial %lines, %lines, %acc[%n, %n, %n] rows %n
    : memref<6x4x5xf32>, memref<6x4x5x6xf32> -> !flash.rows<4, f32>, !flash.acc<4 x 6, f64>
  return
}

// -----

func.func @merge_rows(%m: !flash.rows<8, f32>, %a: !flash.acc<4 x 6, f32>, %n: index) {
  // expected-error @below {{'flash.merge' op expects its tiles to have the same rows, but got '!flash.rows<8, f32>' and '!flash.acc<4 x 6, f32>'}}
  %r:3 = flash.merge(%m, %m, %a), (%m, %m, %a) rows %n : !flash.rows<8, f32>, !flash.acc<4 x 6, f32>
  return
}

// -----

func.func @merge_types(%m: !flash.rows<4, f32>, %a: !flash.acc<4 x 6, f32>, %o: !flash.acc<4 x 7, f32>, %n: index) {
  // expected-error @below {{'flash.merge' op failed to verify that all of {acc, otherAcc, newAcc} have same type}}
  %r:3 = "flash.merge"(%m, %m, %a, %m, %m, %o, %n)
    : (!flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x 6, f32>, !flash.rows<4, f32>, !flash.rows<4, f32>,
       !flash.acc<4 x 7, f32>, index) -> (!flash.rows<4, f32>, !flash.rows<4, f32>, !flash.acc<4 x 6, f32>)
  return
}
