// The instructions of the hot loops, for targets that need not be this machine's. The rules are in check-assembly.py;
// blocks are those of the cost model: 6 keys x 2 vectors of 8 queries with AVX2, 4 x 4 of 16 with AVX-512.

// REQUIRES: x86-64, uninstrumented
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v3 > %t.full-v3.s
// RUN: python3 %S/Inputs/check-assembly.py %t.full-v3.s --register=ymm --rows=6 --vectors=2 | FileCheck %s
// RUN: attn-run %s --function=causal --emit=asm --target=x86-64-v3 > %t.causal-v3.s
// RUN: python3 %S/Inputs/check-assembly.py %t.causal-v3.s --register=ymm --rows=6 --vectors=2 | FileCheck %s
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v4 > %t.full-v4.s
// RUN: python3 %S/Inputs/check-assembly.py %t.full-v4.s --register=zmm --rows=4 --vectors=4 | FileCheck %s
// RUN: attn-run %s --function=causal --emit=asm --target=x86-64-v4 > %t.causal-v4.s
// RUN: python3 %S/Inputs/check-assembly.py %t.causal-v4.s --register=zmm --rows=4 --vectors=4 | FileCheck %s
// RUN: attn-run %s --function=causal_d128 --emit=asm --target=x86-64-v3 > %t.d128-v3.s
// RUN: python3 %S/Inputs/check-assembly.py %t.d128-v3.s --register=ymm --rows=6 --vectors=2 | FileCheck %s
// RUN: attn-run %s --function=causal_d128 --emit=asm --target=x86-64-v4 > %t.d128-v4.s
// RUN: python3 %S/Inputs/check-assembly.py %t.d128-v4.s --register=zmm --rows=4 --vectors=4 | FileCheck %s
// CHECK: the assembly is right

// The check sees smaller blocks than were asked for, and blocks that do not fit into the registers.
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v3 --block-rows=4 > %t.4.s
// RUN: not python3 %S/Inputs/check-assembly.py %t.4.s --register=ymm --rows=6 --vectors=2 | FileCheck %s --check-prefix=SMALL
// SMALL: expected a loop of whole blocks for the scores and one for the values, but got 0
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v3 --block-rows=12 > %t.12.s
// RUN: not python3 %S/Inputs/check-assembly.py %t.12.s --register=ymm --rows=12 --vectors=2 | FileCheck %s --check-prefix=LARGE
// LARGE: expected as many accumulators, but got
// RUN: not python3 %S/Inputs/check-assembly.py %t.full-v3.s --register=zmm --rows=6 --vectors=2 | FileCheck %s --check-prefix=NARROW
// NARROW: expected multiply-adds on zmm, but got

// The functions that regions use are vector code of ours: a call for each lane would cost four fifths of the speed.
// Sine and cosine beyond 2^30, where their reduction ends, are libm's.
// RUN: attn-run %s --function=functions --emit=asm --target=x86-64-v3 > %t.functions-v3.s
// RUN: python3 %S/Inputs/check-assembly.py %t.functions-v3.s --rare=sinf,cosf | FileCheck %s
// RUN: attn-run %s --function=functions --emit=asm --target=x86-64-v4 > %t.functions-v4.s
// RUN: python3 %S/Inputs/check-assembly.py %t.functions-v4.s --rare=sinf,cosf | FileCheck %s
// RUN: sed -e "s/attn_rt_parallel_for/expf/" %t.full-v3.s > %t.called.s
// RUN: not python3 %S/Inputs/check-assembly.py %t.called.s | FileCheck %s --check-prefix=CALLED
// RUN: not python3 %S/Inputs/check-assembly.py %t.functions-v3.s | FileCheck %s --check-prefix=RARE
// RARE: expected calls of the runtime alone, but got ['cosf', 'sinf']
// CALLED: expected calls of the runtime alone, but got ['expf']

!t = tensor<1x2x256x64xf32>
!d128 = tensor<1x2x256x128xf32>

func.func @full(%q: !t, %k: !t, %v: !t) -> !t {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !t
  %out = attn.attention %q, %k, %v scale(%scale) : !t, !t, !t outs(%init : !t) -> !t
  return %out : !t
}

func.func @causal(%q: !t, %k: !t, %v: !t) -> !t {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !t
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !t, !t, !t outs(%init : !t) -> !t
  return %out : !t
}

func.func @causal_d128(%q: !d128, %k: !d128, %v: !d128) -> !d128 {
  %scale = arith.constant 0.08838834764 : f32
  %init = tensor.empty() : !d128
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal) : !d128, !d128, !d128 outs(%init : !d128) -> !d128
  return %out : !d128
}

func.func @functions(%q: !t, %k: !t, %v: !t) -> !t {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !t
  %out = attn.attention %q, %k, %v scale(%scale) score(%x, %b, %h, %i, %j) {
        %one = arith.constant 1.0 : f32
        %e = math.exp %x : f32
        %e2 = math.exp2 %x : f32
        %t = math.tanh %x : f32
        %s = math.sin %x : f32
        %c = math.cos %t : f32
        %p = arith.addf %e, %one : f32
        %l = math.log %p : f32
        %l2 = math.log2 %p : f32
        %r = math.erf %x : f32
        %0 = arith.addf %e2, %t : f32
        %1 = arith.addf %s, %c : f32
        %2 = arith.addf %l, %l2 : f32
        %3 = arith.addf %0, %1 : f32
        %4 = arith.addf %2, %r : f32
        %5 = arith.addf %3, %4 : f32
        attn.yield %5 : f32
      }
      : !t, !t, !t outs(%init : !t) -> !t
  return %out : !t
}
