// RUN: attn-run %s --function=block --check | FileCheck %s
// RUN: attn-run %s --function=query_is_outs --check | FileCheck %s
// RUN: attn-run %s --function=computed_query_is_outs --check | FileCheck %s
// RUN: attn-run %s --function=captures_operands --check | FileCheck %s
// RUN: attn-run %s --function=captures_computed_init --check | FileCheck %s
// RUN: attn-run %s --function=captures_scalars --scalar=3:0.7 --scalar=4:2 --scalar=5:3 --scalar=6:0 --scalar=7:0.5 --scalar=8:1.5 --scalar=9:-3 --check | FileCheck %s
// RUN: attn-run %s --function=calls_public --shape=0:1x2x11x8 --scalar=1:0.5 --out-shape=0:1x2x11x8 --out-shape=1:1x2x11x8 --check | FileCheck %s
// RUN: attn-run %s --function=lse_only --check | FileCheck %s
// RUN: attn-run %s --function=unused --check | FileCheck %s
// RUN: attn-run %s --function=identity_twice --scalar=1:3 --scalar=2:1.5 --check | FileCheck %s
// RUN: attn-run %s --function=branch --scalar=0:0 --check | FileCheck %s
// RUN: attn-run %s --function=branch --scalar=0:1 --check | FileCheck %s
// RUN: attn-run %s --function=loop --scalar=0:0 --check | FileCheck %s
// RUN: attn-run %s --function=loop --scalar=0:3 --check | FileCheck %s
// RUN: attn-run %s --function=loop_inplace --scalar=0:3 --check | FileCheck %s
// RUN: attn-run %s --function=scale --scalar=0:0 --check | FileCheck %s
// RUN: attn-run %s --function=scale --scalar=0:-2 --check | FileCheck %s
// RUN: attn-run %s --function=scale --scalar=0:-1e30 --check | FileCheck %s
// RUN: attn-run %s --function=scale --scalar=0:1e-40 --check | FileCheck %s
// RUN: attn-run %s --function=scale --scalar=0:nan --check | FileCheck %s
// RUN: attn-run %s --function=out_layout --check | FileCheck %s
// RUN: attn-run %s --function=out_constant --check | FileCheck %s
// RUN: attn-run %s --function=slices --shape=0:1x2x11x8 --scalar=1:2 --scalar=2:5 --check | FileCheck %s
// RUN: attn-run %s --function=slices --shape=0:1x2x11x8 --scalar=1:11 --scalar=2:0 --check | FileCheck %s
// RUN: attn-run %s --function=nothing

// Functions around attention: what is captured, aliased, called, looped over and left unused.
// CHECK: check: PASS
// CHECK-NOT: FAIL

// Projections, two attentions in a chain, residual additions.
func.func @block(%x: tensor<2x3x9x8xf32>, %wq: tensor<8x8xf32>, %wk: tensor<8x8xf32>, %wv: tensor<8x8xf32>) -> tensor<2x3x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %x [[0, 1, 2], [3]] : tensor<2x3x9x8xf32> into tensor<54x8xf32>
  %e = tensor.empty() : tensor<54x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<54x8xf32>) -> tensor<54x8xf32>
  %q = linalg.matmul ins(%flat, %wq : tensor<54x8xf32>, tensor<8x8xf32>) outs(%z : tensor<54x8xf32>) -> tensor<54x8xf32>
  %k = linalg.matmul ins(%flat, %wk : tensor<54x8xf32>, tensor<8x8xf32>) outs(%z : tensor<54x8xf32>) -> tensor<54x8xf32>
  %v = linalg.matmul ins(%flat, %wv : tensor<54x8xf32>, tensor<8x8xf32>) outs(%z : tensor<54x8xf32>) -> tensor<54x8xf32>
  %q4 = tensor.expand_shape %q [[0, 1, 2], [3]] output_shape [2, 3, 9, 8] : tensor<54x8xf32> into tensor<2x3x9x8xf32>
  %k4 = tensor.expand_shape %k [[0, 1, 2], [3]] output_shape [2, 3, 9, 8] : tensor<54x8xf32> into tensor<2x3x9x8xf32>
  %v4 = tensor.expand_shape %v [[0, 1, 2], [3]] output_shape [2, 3, 9, 8] : tensor<54x8xf32> into tensor<2x3x9x8xf32>
  %o = tensor.empty() : tensor<2x3x9x8xf32>
  %a = attn.attention %q4, %k4, %v4 scale(%scale) masks(causal)
      : tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>
        outs(%o : tensor<2x3x9x8xf32>) -> tensor<2x3x9x8xf32>
  %r = arith.addf %a, %x : tensor<2x3x9x8xf32>
  %o2 = tensor.empty() : tensor<2x3x9x8xf32>
  %a2 = attn.attention %r, %r, %a scale(%scale) masks(window<left = 2, top_left>)
      : tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>, tensor<2x3x9x8xf32>
        outs(%o2 : tensor<2x3x9x8xf32>) -> tensor<2x3x9x8xf32>
  %r2 = arith.addf %a2, %r : tensor<2x3x9x8xf32>
  return %r2 : tensor<2x3x9x8xf32>
}

func.func @query_is_outs(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %a = attn.attention %q, %k, %v scale(%scale)
      : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
        outs(%q : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// All operands are the buffer that is overwritten.
func.func @computed_query_is_outs(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %d = arith.addf %q, %q : tensor<1x2x9x8xf32>
  %a = attn.attention %d, %d, %d scale(%scale)
      : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>
        outs(%d : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// Regions read the op's own operands and the tensor that it overwrites.
func.func @captures_operands(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>, %init: tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %c0 = arith.constant 0 : index
  %a = attn.attention %q, %k, %v scale(%scale) score(%x, %b, %h, %i, %j) {
    %z = arith.constant 0 : index
    %q0 = tensor.extract %q[%b, %h, %i, %z] : tensor<1x2x9x8xf32>
    %k0 = tensor.extract %k[%b, %h, %j, %z] : tensor<1x2x7x8xf32>
    %v0 = tensor.extract %v[%b, %h, %j, %z] : tensor<1x2x7x8xf32>
    %i0 = tensor.extract %init[%b, %h, %i, %z] : tensor<1x2x9x8xf32>
    %s1 = arith.addf %x, %q0 : f32
    %s2 = arith.addf %s1, %k0 : f32
    %s3 = arith.addf %s2, %v0 : f32
    %s4 = arith.mulf %s3, %i0 : f32
    attn.yield %s4 : f32
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%init : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

func.func @captures_computed_init(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x9x8xf32>, %v: tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %init = arith.addf %q, %v : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %v scale(%scale) score(%x, %b, %h, %i, %j) {
    %z = arith.constant 0 : index
    %i0 = tensor.extract %init[%b, %h, %j, %z] : tensor<1x2x9x8xf32>
    %s4 = arith.addf %x, %i0 : f32
    attn.yield %s4 : f32
  } : tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>, tensor<1x2x9x8xf32>
      outs(%init : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

func.func @captures_scalars(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>, %f: f32, %n: i32, %m: index, %flag: i1, %d: f64, %hf: f16, %i8: i8) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %f2 = arith.mulf %f, %f : f32
  %a = attn.attention %q, %k, %v scale(%scale) score(%x, %b, %h, %i, %j) {
    %s = arith.mulf %x, %f2 : f32
    %nf = arith.sitofp %n : i32 to f32
    %s2 = arith.addf %s, %nf : f32
    %df = arith.truncf %d : f64 to f32
    %hh = arith.extf %hf : f16 to f32
    %s3 = arith.mulf %s2, %df : f32
    %s4 = arith.addf %s3, %hh : f32
    %i8f = arith.sitofp %i8 : i8 to f32
    %s5 = arith.subf %s4, %i8f : f32
    %s6 = arith.select %flag, %s5, %x : f32
    attn.yield %s6 : f32
  } where(%b, %h, %i, %j) {
    %nn = arith.index_cast %n : i32 to index
    %e = arith.addi %i, %m : index
    %c1 = arith.cmpi sle, %j, %e : index
    %c2 = arith.cmpi sge, %j, %nn : index
    %c3 = arith.andi %c1, %c2 : i1
    %c4 = arith.ori %c3, %flag : i1
    attn.yield %c4 : i1
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

func.func private @helper(%q: tensor<1x2x?x8xf32>, %s: f32) -> tensor<1x2x?x8xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : tensor<1x2x?x8xf32>
  %o = tensor.empty(%n) : tensor<1x2x?x8xf32>
  %a = attn.attention %q, %q, %q scale(%s)
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
        outs(%o : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  return %a : tensor<1x2x?x8xf32>
}

func.func @calls(%q: tensor<1x2x?x8xf32>, %s: f32) -> tensor<1x2x?x8xf32> {
  %a = call @helper(%q, %s) : (tensor<1x2x?x8xf32>, f32) -> tensor<1x2x?x8xf32>
  %b = call @helper(%a, %s) : (tensor<1x2x?x8xf32>, f32) -> tensor<1x2x?x8xf32>
  return %b : tensor<1x2x?x8xf32>
}

// A public function that another one calls.
func.func @calls_public(%q: tensor<1x2x?x8xf32>, %s: f32) -> (tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>) {
  %a = call @calls(%q, %s) : (tensor<1x2x?x8xf32>, f32) -> tensor<1x2x?x8xf32>
  return %a, %a : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
}

func.func @lse_only(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>) -> tensor<1x2x9xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %l = tensor.empty() : tensor<1x2x9xf32>
  %a:2 = attn.attention %q, %k, %v scale(%scale)
      : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
        outs(%o : tensor<1x2x9x8xf32>) lse(%l : tensor<1x2x9xf32>) -> tensor<1x2x9x8xf32>, tensor<1x2x9xf32>
  return %a#1 : tensor<1x2x9xf32>
}

func.func @unused(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale)
      : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
        outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %q : tensor<1x2x9x8xf32>
}

func.func @identity_twice(%q: tensor<2x3xf32>, %n: index, %f: f32) -> (tensor<2x3xf32>, index, tensor<2x3xf32>, f32) {
  return %q, %n, %q, %f : tensor<2x3xf32>, index, tensor<2x3xf32>, f32
}

func.func @nothing() {
  return
}

func.func @branch(%c: i1, %q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %r = scf.if %c -> tensor<1x2x9x8xf32> {
    %o = tensor.empty() : tensor<1x2x9x8xf32>
    %a = attn.attention %q, %k, %k scale(%scale)
        : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
          outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
    scf.yield %a : tensor<1x2x9x8xf32>
  } else {
    scf.yield %q : tensor<1x2x9x8xf32>
  }
  return %r : tensor<1x2x9x8xf32>
}

func.func @loop(%n: index, %q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%x = %q) -> tensor<1x2x9x8xf32> {
    %o = tensor.empty() : tensor<1x2x9x8xf32>
    %a = attn.attention %x, %k, %k scale(%scale) where(%b, %h, %i, %j) {
      %e = arith.addi %i, %t : index
      %c = arith.cmpi sle, %j, %e : index
      attn.yield %c : i1
    } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
        outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
    %y = arith.addf %a, %x : tensor<1x2x9x8xf32>
    scf.yield %y : tensor<1x2x9x8xf32>
  }
  return %r : tensor<1x2x9x8xf32>
}

func.func @loop_inplace(%n: index, %q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%x = %q) -> tensor<1x2x9x8xf32> {
    %a = attn.attention %x, %k, %k scale(%scale)
        : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
          outs(%x : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
    scf.yield %a : tensor<1x2x9x8xf32>
  }
  return %r : tensor<1x2x9x8xf32>
}

// Any scale, 0, negative and subnormal ones included.
func.func @scale(%s: f32, %q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %v: tensor<1x2x7x8xf32>) -> (tensor<1x2x9x8xf32>, tensor<1x2x9xf32>) {
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %l = tensor.empty() : tensor<1x2x9xf32>
  %a:2 = attn.attention %q, %k, %v scale(%s)
      : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
        outs(%o : tensor<1x2x9x8xf32>) lse(%l : tensor<1x2x9xf32>) -> tensor<1x2x9x8xf32>, tensor<1x2x9xf32>
  return %a#0, %a#1 : tensor<1x2x9x8xf32>, tensor<1x2x9xf32>
}

func.func @out_layout(%q: tensor<9x2x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<7x2x5xf32>) -> tensor<5x9x2xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<5x9x2xf32>
  %a = attn.attention %q, %k, %v scale(%scale) layout(query(i, h, d), key(h, d, j), value(j, h, e), out(e, i, h))
      : tensor<9x2x8xf32>, tensor<2x8x7xf32>, tensor<7x2x5xf32>
        outs(%o : tensor<5x9x2xf32>) -> tensor<5x9x2xf32>
  return %a : tensor<5x9x2xf32>
}

// Out takes one place of a larger tensor; the rest keeps what it held.
func.func @out_constant(%q: tensor<2x9x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x5xf32>) -> tensor<3x2x9x5xf32> {
  %scale = arith.constant 0.35 : f32
  %zero = arith.constant 1.5 : f32
  %o = tensor.empty() : tensor<3x2x9x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<3x2x9x5xf32>) -> tensor<3x2x9x5xf32>
  %a = attn.attention %q, %k, %v scale(%scale) layout(query(h, i, d), key(h, j, d), value(h, j, e), out(1, h, i, e))
      : tensor<2x9x8xf32>, tensor<2x7x8xf32>, tensor<2x7x5xf32>
        outs(%z : tensor<3x2x9x5xf32>) -> tensor<3x2x9x5xf32>
  return %a : tensor<3x2x9x5xf32>
}

// Keys and values are a slice of the query.
func.func @slices(%q: tensor<1x2x?x8xf32>, %from: index, %len: index) -> tensor<1x2x?x8xf32> {
  %scale = arith.constant 0.35 : f32
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q, %c2 : tensor<1x2x?x8xf32>
  %o = tensor.empty(%n) : tensor<1x2x?x8xf32>
  %k = tensor.extract_slice %q[0, 0, %from, 0][1, 2, %len, 8][1, 1, 1, 1] : tensor<1x2x?x8xf32> to tensor<1x2x?x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale)
      : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
        outs(%o : tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32>
  %b = tensor.insert_slice %k into %a[0, 0, %from, 0][1, 2, %len, 8][1, 1, 1, 1] : tensor<1x2x?x8xf32> into tensor<1x2x?x8xf32>
  return %b : tensor<1x2x?x8xf32>
}
