// RUN: attn-run %s --function=ints --fill=2:range:-20:20 --fill=3:range:-20:20 --fill=4:range:-20:20 --fill=5:range:-20:20 --fill=6:range:-20:20 --fill=7:range:0:1 --check | FileCheck %s
// RUN: attn-run %s --function=rem_zero --fill=2:range:1:4 --scalar=3:3 --check | FileCheck %s
// RUN: attn-run %s --function=rem_zero --fill=2:range:0:4 --scalar=3:0
// RUN: attn-run %s --function=rem_zero --fill=2:range:-1:0 --scalar=3:-1
// RUN: attn-run %s --function=wild_index --shape=2:5 --fill=3:range:-100000000000:100000000000 --check | FileCheck %s
// RUN: not attn-run %s --function=wild_index --shape=2:0 --fill=3:range:0:3 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not attn-run %s --function=f8 2>&1 | FileCheck %s --check-prefix=F8
// RUN: attn-run %s --function=index_dialect --check | FileCheck %s

// CHECK: check: PASS

// Every element type, read by query and by key.
func.func @ints(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %ix: tensor<9xindex>, %i64: tensor<9xi64>, %i32: tensor<9xi32>, %i16: tensor<9xi16>, %i8: tensor<9xi8>, %i1: tensor<9xi1>, %f16: tensor<9xf16>, %bf16: tensor<9xbf16>, %f64: tensor<9xf64>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale) score(%x, %b, %h, %i, %j) {
    %a0 = tensor.extract %ix[%i] : tensor<9xindex>
    %b0 = tensor.extract %ix[%j] : tensor<9xindex>
    %s0 = arith.addi %a0, %b0 : index
    %t0 = arith.index_cast %s0 : index to i64
    %a1 = tensor.extract %i64[%i] : tensor<9xi64>
    %b1 = tensor.extract %i64[%j] : tensor<9xi64>
    %s1 = arith.subi %a1, %b1 : i64
    %t1 = arith.addi %t0, %s1 : i64
    %a2 = tensor.extract %i32[%i] : tensor<9xi32>
    %b2 = tensor.extract %i32[%j] : tensor<9xi32>
    %s2 = arith.muli %a2, %b2 : i32
    %e2 = arith.extsi %s2 : i32 to i64
    %t2 = arith.addi %t1, %e2 : i64
    %a3 = tensor.extract %i16[%i] : tensor<9xi16>
    %b3 = tensor.extract %i16[%j] : tensor<9xi16>
    %s3 = arith.addi %a3, %b3 : i16
    %e3 = arith.extsi %s3 : i16 to i64
    %t3 = arith.addi %t2, %e3 : i64
    %a4 = tensor.extract %i8[%i] : tensor<9xi8>
    %b4 = tensor.extract %i8[%j] : tensor<9xi8>
    %s4 = arith.addi %a4, %b4 : i8
    %e4 = arith.extsi %s4 : i8 to i64
    %t4 = arith.addi %t3, %e4 : i64
    %a5 = tensor.extract %i1[%i] : tensor<9xi1>
    %b5 = tensor.extract %i1[%j] : tensor<9xi1>
    %s5 = arith.xori %a5, %b5 : i1
    %e5 = arith.extui %s5 : i1 to i64
    %t5 = arith.addi %t4, %e5 : i64
    %f = arith.sitofp %t5 : i64 to f32
    %c = arith.constant 0.01 : f32
    %g = arith.mulf %f, %c : f32
    %a6 = tensor.extract %f16[%i] : tensor<9xf16>
    %b6 = tensor.extract %bf16[%j] : tensor<9xbf16>
    %a7 = tensor.extract %bf16[%i] : tensor<9xbf16>
    %b7 = tensor.extract %f16[%j] : tensor<9xf16>
    %a8 = tensor.extract %f64[%i] : tensor<9xf64>
    %x6 = arith.extf %a6 : f16 to f32
    %y6 = arith.extf %b6 : bf16 to f32
    %x7 = arith.extf %a7 : bf16 to f32
    %y7 = arith.extf %b7 : f16 to f32
    %x8 = arith.truncf %a8 : f64 to f32
    %z1 = arith.addf %x6, %y6 : f32
    %z2 = arith.addf %x7, %y7 : f32
    %z3 = arith.addf %z1, %z2 : f32
    %z4 = arith.addf %z3, %x8 : f32
    %z5 = arith.addf %z4, %g : f32
    %r = arith.addf %z5, %x : f32
    attn.yield %r : f32
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// Remainders and floordivsi are pure: a divisor of 0 gives some value, and does not end the process.
func.func @rem_zero(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %n: tensor<9xi32>, %m: index) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale) where(%b, %h, %i, %j) {
    %a0 = tensor.extract %n[%i] : tensor<9xi32>
    %b0 = tensor.extract %n[%j] : tensor<9xi32>
    %r = arith.remsi %a0, %b0 : i32
    %r2 = arith.floordivsi %b0, %a0 : i32
    %r3 = arith.remui %i, %m : index
    %r4 = arith.floordivsi %j, %m : index
    %c1 = arith.cmpi sle, %r, %r2 : i32
    %c2 = arith.cmpi sle, %r3, %r4 : index
    %c = arith.ori %c1, %c2 : i1
    attn.yield %c : i1
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// Computed indices are clamped, of 64 bits.
// EMPTY: error: @wild_index: expected a tensor that a score or mask region reads to have elements
func.func @wild_index(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>, %t: tensor<?xf32>, %at: tensor<9xi64>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale) score(%x, %b, %h, %i, %j) {
    %n = tensor.extract %at[%i] : tensor<9xi64>
    %m = arith.index_cast %n : i64 to index
    %v = tensor.extract %t[%m] : tensor<?xf32>
    %n2 = tensor.extract %at[%j] : tensor<9xi64>
    %m2 = arith.index_cast %n2 : i64 to index
    %v2 = tensor.extract %t[%m2] : tensor<?xf32>
    %s = arith.addf %v, %v2 : f32
    attn.yield %s : f32
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// What the CPU has no code for is named.
// F8: error: 'arith.truncf' op has a value of type 'f8E4M3FN', which the compiler does not support
func.func @f8(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale) score(%x, %b, %h, %i, %j) {
    %n = arith.truncf %x : f32 to f8E4M3FN
    %m = arith.extf %n : f8E4M3FN to f32
    attn.yield %m : f32
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}

// The index dialect is arith in other words.
func.func @index_dialect(%q: tensor<1x2x9x8xf32>, %k: tensor<1x2x7x8xf32>) -> tensor<1x2x9x8xf32> {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x2x9x8xf32>
  %a = attn.attention %q, %k, %k scale(%scale) where(%b, %h, %i, %j) {
    %s = index.add %i, %j
    %five = index.constant 5
    %c = index.cmp slt(%s, %five)
    attn.yield %c : i1
  } : tensor<1x2x9x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>
      outs(%o : tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32>
  return %a : tensor<1x2x9x8xf32>
}
