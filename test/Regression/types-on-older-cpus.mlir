// REQUIRES: x86-avx2
// RUN: attn-run %s --function=attention_f32 --target=x86-64 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f16 --target=x86-64 --check | FileCheck %s
// RUN: attn-run %s --function=attention_bf16 --target=x86-64 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f64 --target=x86-64 --check | FileCheck %s
// RUN: attn-run %s --function=unfused_f64 --target=x86-64 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f32 --target=x86-64-v2 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f16 --target=x86-64-v2 --check | FileCheck %s
// RUN: attn-run %s --function=attention_bf16 --target=x86-64-v2 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f64 --target=x86-64-v2 --check | FileCheck %s
// RUN: attn-run %s --function=unfused_f64 --target=x86-64-v2 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f32 --target=x86-64-v3 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f16 --target=x86-64-v3 --check | FileCheck %s
// RUN: attn-run %s --function=attention_bf16 --target=x86-64-v3 --check | FileCheck %s
// RUN: attn-run %s --function=attention_f64 --target=x86-64-v3 --check | FileCheck %s
// RUN: attn-run %s --function=unfused_f64 --target=x86-64-v3 --check | FileCheck %s
// RUN: not attn-run %s --function=attention_f32 --target=no-such-cpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not attn-run %s --function=attention_f32 --target=i386 2>&1 | FileCheck %s --check-prefix=BITS

// Without FMA, f16 conversions or bf16 instructions, and with conversions between all types, LLVM needs helpers: all of
// them have to be there.
// CHECK: check: PASS
// UNKNOWN: error: unknown target CPU 'no-such-cpu'; use host, x86-64-v3
// BITS: error: target CPU 'i386' has no 64-bit mode; use x86-64 or a later CPU

func.func @attention_f32(%q: tensor<1x4x37x16xf32>, %k: tensor<1x2x41x16xf32>, %v: tensor<1x2x41x24xf32>,
    %bias: tensor<37x41xf32>, %m: tensor<41xbf16>, %n: tensor<37xf16>) -> (tensor<1x4x37x24xf32>, tensor<1x4x37xf32>) {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x4x37x24xf32>
  %l = tensor.empty() : tensor<1x4x37xf32>
  %a:2 = attn.attention %q, %k, %v scale(%scale) scores(softcap<20.0>, bias(%bias : tensor<37x41xf32>)) masks(causal<bottom_right>) score(%x : f32, %b, %h, %i, %j) {
    %m0 = tensor.extract %m[%j] : tensor<41xbf16>
    %n0 = tensor.extract %n[%i] : tensor<37xf16>
    %m1 = arith.extf %m0 : bf16 to f32
    %n1 = arith.extf %n0 : f16 to f32
    %y = arith.addf %x, %m1 : f32
    %z = arith.addf %y, %n1 : f32
    %z1 = arith.truncf %z : f32 to bf16
    %z2 = arith.extf %z1 : bf16 to f32
    %z3 = arith.truncf %y : f32 to f16
    %z4 = arith.extf %z3 : f16 to f32
    %u = arith.addf %z2, %z4 : f32
    attn.yield %u : f32
  } : tensor<1x4x37x16xf32>, tensor<1x2x41x16xf32>, tensor<1x2x41x24xf32>
      outs(%o : tensor<1x4x37x24xf32>) lse(%l : tensor<1x4x37xf32>) -> tensor<1x4x37x24xf32>, tensor<1x4x37xf32>
  return %a#0, %a#1 : tensor<1x4x37x24xf32>, tensor<1x4x37xf32>
}

func.func @attention_f16(%q: tensor<1x4x37x16xf16>, %k: tensor<1x2x41x16xf16>, %v: tensor<1x2x41x24xf16>,
    %bias: tensor<37x41xf16>, %m: tensor<41xbf16>, %n: tensor<37xf16>) -> (tensor<1x4x37x24xf16>, tensor<1x4x37xf32>) {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x4x37x24xf16>
  %l = tensor.empty() : tensor<1x4x37xf32>
  %a:2 = attn.attention %q, %k, %v scale(%scale) scores(softcap<20.0>, bias(%bias : tensor<37x41xf16>)) masks(causal<bottom_right>) score(%x : f32, %b, %h, %i, %j) {
    %m0 = tensor.extract %m[%j] : tensor<41xbf16>
    %n0 = tensor.extract %n[%i] : tensor<37xf16>
    %m1 = arith.extf %m0 : bf16 to f32
    %n1 = arith.extf %n0 : f16 to f32
    %y = arith.addf %x, %m1 : f32
    %z = arith.addf %y, %n1 : f32
    %z1 = arith.truncf %z : f32 to bf16
    %z2 = arith.extf %z1 : bf16 to f32
    %z3 = arith.truncf %y : f32 to f16
    %z4 = arith.extf %z3 : f16 to f32
    %u = arith.addf %z2, %z4 : f32
    attn.yield %u : f32
  } : tensor<1x4x37x16xf16>, tensor<1x2x41x16xf16>, tensor<1x2x41x24xf16>
      outs(%o : tensor<1x4x37x24xf16>) lse(%l : tensor<1x4x37xf32>) -> tensor<1x4x37x24xf16>, tensor<1x4x37xf32>
  return %a#0, %a#1 : tensor<1x4x37x24xf16>, tensor<1x4x37xf32>
}

func.func @attention_bf16(%q: tensor<1x4x37x16xbf16>, %k: tensor<1x2x41x16xbf16>, %v: tensor<1x2x41x24xbf16>,
    %bias: tensor<37x41xbf16>, %m: tensor<41xbf16>, %n: tensor<37xf16>) -> (tensor<1x4x37x24xbf16>, tensor<1x4x37xf32>) {
  %scale = arith.constant 0.35 : f32
  %o = tensor.empty() : tensor<1x4x37x24xbf16>
  %l = tensor.empty() : tensor<1x4x37xf32>
  %a:2 = attn.attention %q, %k, %v scale(%scale) scores(softcap<20.0>, bias(%bias : tensor<37x41xbf16>)) masks(causal<bottom_right>) score(%x : f32, %b, %h, %i, %j) {
    %m0 = tensor.extract %m[%j] : tensor<41xbf16>
    %n0 = tensor.extract %n[%i] : tensor<37xf16>
    %m1 = arith.extf %m0 : bf16 to f32
    %n1 = arith.extf %n0 : f16 to f32
    %y = arith.addf %x, %m1 : f32
    %z = arith.addf %y, %n1 : f32
    %z1 = arith.truncf %z : f32 to bf16
    %z2 = arith.extf %z1 : bf16 to f32
    %z3 = arith.truncf %y : f32 to f16
    %z4 = arith.extf %z3 : f16 to f32
    %u = arith.addf %z2, %z4 : f32
    attn.yield %u : f32
  } : tensor<1x4x37x16xbf16>, tensor<1x2x41x16xbf16>, tensor<1x2x41x24xbf16>
      outs(%o : tensor<1x4x37x24xbf16>) lse(%l : tensor<1x4x37xf32>) -> tensor<1x4x37x24xbf16>, tensor<1x4x37xf32>
  return %a#0, %a#1 : tensor<1x4x37x24xbf16>, tensor<1x4x37xf32>
}

func.func @attention_f64(%q: tensor<1x4x37x16xf64>, %k: tensor<1x2x41x16xf64>, %v: tensor<1x2x41x24xf64>,
    %bias: tensor<37x41xf64>, %m: tensor<41xbf16>, %n: tensor<37xf16>) -> (tensor<1x4x37x24xf64>, tensor<1x4x37xf64>) {
  %scale = arith.constant 0.35 : f64
  %o = tensor.empty() : tensor<1x4x37x24xf64>
  %l = tensor.empty() : tensor<1x4x37xf64>
  %a:2 = attn.attention %q, %k, %v scale(%scale : f64) scores(softcap<20.0>, bias(%bias : tensor<37x41xf64>)) masks(causal<bottom_right>) score(%x : f64, %b, %h, %i, %j) {
    %m0 = tensor.extract %m[%j] : tensor<41xbf16>
    %n0 = tensor.extract %n[%i] : tensor<37xf16>
    %m1 = arith.extf %m0 : bf16 to f64
    %n1 = arith.extf %n0 : f16 to f64
    %y = arith.addf %x, %m1 : f64
    %z = arith.addf %y, %n1 : f64
    %z1 = arith.truncf %z : f64 to bf16
    %z2 = arith.extf %z1 : bf16 to f64
    %z3 = arith.truncf %y : f64 to f16
    %z4 = arith.extf %z3 : f16 to f64
    %u = arith.addf %z2, %z4 : f64
    attn.yield %u : f64
  } : tensor<1x4x37x16xf64>, tensor<1x2x41x16xf64>, tensor<1x2x41x24xf64>
      outs(%o : tensor<1x4x37x24xf64>) lse(%l : tensor<1x4x37xf64>) -> tensor<1x4x37x24xf64>, tensor<1x4x37xf64>
  return %a#0, %a#1 : tensor<1x4x37x24xf64>, tensor<1x4x37xf64>
}

func.func @unfused_f64(%a: tensor<5x7xf64>, %b: tensor<7x3xf64>,
    %x: tensor<5x7xf64>)
    -> (tensor<5x3xf64>, tensor<5x7xf64>, tensor<5x7xbf16>, tensor<5x7xf16>) {
  %o = tensor.empty() : tensor<5x3xf64>
  %p = tensor.empty() : tensor<5x7xf64>
  %r = attn.matmul %a, %b : tensor<5x7xf64>, tensor<7x3xf64> outs(%o : tensor<5x3xf64>) -> tensor<5x3xf64>
  %s0 = attn.softmax %x axis(1) : tensor<5x7xf64> outs(%p : tensor<5x7xf64>) -> tensor<5x7xf64>
  %s1 = arith.addf %s0, %x : tensor<5x7xf64>
  %s2 = math.tanh %s1 : tensor<5x7xf64>
  %s = math.fma %s2, %x, %a : tensor<5x7xf64>
  %t = tensor.empty() : tensor<5x7xbf16>
  %u = tensor.empty() : tensor<5x7xf16>
  %v = arith.truncf %a : tensor<5x7xf64> to tensor<5x7xbf16>
  %w = arith.truncf %a : tensor<5x7xf64> to tensor<5x7xf16>
  %c = arith.constant 0.0 : bf16
  %d = arith.constant 0.0 : f16
  %vv = arith.addf %v, %v : tensor<5x7xbf16>
  %ww = arith.addf %w, %w : tensor<5x7xf16>
  return %r, %s, %vv, %ww : tensor<5x3xf64>, tensor<5x7xf64>, tensor<5x7xbf16>, tensor<5x7xf16>
}
