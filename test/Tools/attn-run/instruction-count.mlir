// Instructions that one run of the kernel executes, the runtime's included. Time says the same with noise. The assembly
// that attn-run prints is a whole kernel: it runs without the compiler.
// REQUIRES: x86-avx2, valgrind
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v3 > %t.full.s
// RUN: %cxx -shared -o %t.full.so %t.full.s
// RUN: valgrind --tool=callgrind --toggle-collect=attn_rt_call --callgrind-out-file=%t.out attn-test-run-kernel %t.full.so full 2 256 64 2> %t.err | FileCheck %s --check-prefix=OUT
// RUN: python3 %S/Inputs/check-instruction-count.py %t.err --heads=2 --queries=256 --keys=256 --dim=64 --lanes=8 --factor=2.75 | FileCheck %s --check-prefix=FULL
// OUT: the outputs are right
// FULL: right: {{[0-9]+}} instructions for 2097152 multiply-adds

// A causal mask keeps half of the keys, and of a tile on the diagonal a chunk of 16 queries computes its own alone: of
// 256 keys the last query of each chunk sees (16 + 32 + ... + 256) / 16 = 136. The mask and the bounds of the chunks
// come on top.
// RUN: attn-run %s --function=causal --emit=asm --target=x86-64-v3 > %t.causal.s
// RUN: %cxx -shared -o %t.causal.so %t.causal.s
// RUN: valgrind --tool=callgrind --toggle-collect=attn_rt_call --callgrind-out-file=%t.out attn-test-run-kernel %t.causal.so causal 2 256 64 2> %t.err | FileCheck %s --check-prefix=OUT
// RUN: python3 %S/Inputs/check-instruction-count.py %t.err --heads=2 --queries=256 --keys=136 --dim=64 --lanes=8 --factor=3 | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: right: {{[0-9]+}} instructions for 1114112 multiply-adds

// Blocks of 2 rows have a load for each multiply-add, and are seen.
// RUN: attn-run %s --function=full --emit=asm --target=x86-64-v3 --block-rows=2 > %t.small.s
// RUN: %cxx -shared -o %t.small.so %t.small.s
// RUN: valgrind --tool=callgrind --toggle-collect=attn_rt_call --callgrind-out-file=%t.out attn-test-run-kernel %t.small.so full 2 256 64 2> %t.err | FileCheck %s --check-prefix=OUT
// RUN: not python3 %S/Inputs/check-instruction-count.py %t.err --heads=2 --queries=256 --keys=256 --dim=64 --lanes=8 --factor=2.75 | FileCheck %s --check-prefix=SMALL
// SMALL: wrong: {{[0-9]+}} instructions for 2097152 multiply-adds

!t = tensor<1x2x256x64xf32>

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
