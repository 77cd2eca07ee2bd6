// The score functions that people write, one function each, by the reference. Every dimension has a size of its own.
// RUN: attn-run %s --check --function=identity | FileCheck %s
// RUN: attn-run %s --check --function=constant | FileCheck %s
// RUN: attn-run %s --check --function=batch_and_head_alone | FileCheck %s
// RUN: attn-run %s --check --function=distance_as_float | FileCheck %s
// RUN: attn-run %s --check --function=division_and_remainder_of_indices | FileCheck %s
// RUN: attn-run %s --check --function=table_of_distances | FileCheck %s
// RUN: attn-run %s --check --function=captured_as_transposed_view | FileCheck %s
// RUN: attn-run %s --check --function=captured_scalar --scalar=3:0.25 --scalar=4:-3 | FileCheck %s
// RUN: attn-run %s --check --function=nested_selects | FileCheck %s
// RUN: attn-run %s --check --function=elementary_functions | FileCheck %s
// RUN: attn-run %s --check --function=one_tensor_for_all | FileCheck %s
// RUN: attn-run %s --check --function=no_score_is_minus_infinity | FileCheck %s
// CHECK: PASS result 0
// CHECK-NOT: FAIL

!q = tensor<2x3x37x8xf32>
!k = tensor<2x3x61x8xf32>
!v = tensor<2x3x61x12xf32>
!o = tensor<2x3x37x12xf32>

func.func @identity(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) { attn.yield %x : f32 }
      : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @constant(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %c = arith.constant -7.5 : f32
    attn.yield %c : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @batch_and_head_alone(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %n = arith.addi %b, %h : index
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    %y = arith.mulf %x, %f : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @distance_as_float(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %d = arith.subi %i, %j : index
    %m = arith.index_cast %d : index to i64
    %f = arith.sitofp %m : i64 to f32
    %slope = arith.constant -0.0625 : f32
    %t = arith.mulf %f, %slope : f32
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @division_and_remainder_of_indices(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %d = arith.subi %i, %j : index
    %e = arith.floordivsi %d, %c5 : index
    %t = arith.remsi %d, %c7 : index
    %u = arith.divui %j, %c7 : index
    %w = arith.remui %i, %c5 : index
    %n0 = arith.addi %e, %t : index
    %n1 = arith.addi %u, %w : index
    %n = arith.subi %n0, %n1 : index
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    %small = arith.constant 0.125 : f32
    %z = arith.mulf %f, %small : f32
    %y = arith.addf %x, %z : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

// A relative bias from a table of queryLen + kvLen - 1 entries.
func.func @table_of_distances(%q: !q, %k: !k, %v: !v, %table: tensor<3x97xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %c60 = arith.constant 60 : index
    %d = arith.subi %i, %j : index
    %n = arith.addi %d, %c60 : index
    %t = tensor.extract %table[%h, %n] : tensor<3x97xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @captured_as_transposed_view(%q: !q, %k: !k, %v: !v, %bias: tensor<61x2x37x3xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %empty = tensor.empty() : tensor<2x3x37x61xf32>
  %view = linalg.transpose ins(%bias : tensor<61x2x37x3xf32>) outs(%empty : tensor<2x3x37x61xf32>)
      permutation = [1, 3, 2, 0]
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %view[%b, %h, %i, %j] : tensor<2x3x37x61xf32>
    %u = tensor.extract %bias[%j, %b, %i, %h] : tensor<61x2x37x3xf32>
    %y0 = arith.addf %x, %t : f32
    %y = arith.addf %y0, %u : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @captured_scalar(%q: !q, %k: !k, %v: !v, %factor: f32, %shift: i32) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %f = arith.sitofp %shift : i32 to f32
    %t = arith.mulf %x, %factor : f32
    %y = arith.addf %t, %f : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @nested_selects(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %c0 = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %c20 = arith.constant 20 : index
    %isPositive = arith.cmpf ogt, %x, %c0 : f32
    %isFar = arith.cmpi sgt, %j, %c20 : index
    %isBehind = arith.cmpi sgt, %j, %i : index
    %double = arith.mulf %x, %two : f32
    %negative = arith.negf %x : f32
    %far = arith.select %isBehind, %double, %negative : f32
    %near = arith.select %isPositive, %c0, %double : f32
    %t = arith.select %isFar, %far, %near : f32
    %y = arith.select %isPositive, %t, %x : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @elementary_functions(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %one = arith.constant 1.0 : f32
    %m = arith.constant -1.0 : f32
    %a = math.absf %x : f32
    %lo = arith.minimumf %x, %one : f32
    %hi = arith.maximumf %lo, %m : f32
    %t = math.tanh %x : f32
    %e = math.exp %hi : f32
    %sn = math.sin %x : f32
    %y0 = arith.addf %a, %t : f32
    %y1 = arith.addf %e, %sn : f32
    %y = arith.addf %y0, %y1 : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @one_tensor_for_all(%x: !k) -> !k {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !k
  %r = attn.attention %x, %x, %x scale(%s) scores(softcap<5.0>) masks(causal) : !k, !k, !k outs(%init : !k) -> !k
  return %r : !k
}

// Padding behind kv_lengths and what the mask drops stay dropped, whatever the score function makes of -inf.
func.func @no_score_is_minus_infinity(%q: !q, %k: !k, %v: !v) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %lengths = arith.constant dense<[13, 50]> : tensor<2xi32>
  %r = attn.attention %q, %k, %v scale(%s) masks(causal<top_left>) score(%x, %b, %h, %i, %j) {
    %lowest = arith.constant 0xFF800000 : f32
    %finite = arith.constant 3.0 : f32
    %isLowest = arith.cmpf oeq, %x, %lowest : f32
    %t = arith.select %isLowest, %finite, %x : f32
    %y = arith.maximumf %t, %finite : f32
    attn.yield %y : f32
  } kv_lengths(%lengths : tensor<2xi32>) : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}
