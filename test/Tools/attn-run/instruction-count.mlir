// Instructions that one run of the kernel executes, the runtime's included. Time says the same with noise.
// REQUIRES: valgrind, x86-avx2
// RUN: valgrind --tool=callgrind --toggle-collect=attn_rt_call --callgrind-out-file=%t.callgrind attn-run %s --threads=1 --target=x86-64-v3 2> %t.err
// RUN: python3 %S/Inputs/check-instruction-count.py %t.err --heads=2 --queries=256 --keys=256 --dim=64 --lanes=8 --factor=2.75 | FileCheck %s
// CHECK: right: {{[0-9]+}} instructions for 2097152 multiply-adds

!t = tensor<1x2x256x64xf32>

func.func @full(%q: !t, %k: !t, %v: !t) -> !t {
  %scale = arith.constant 0.125 : f32
  %init = tensor.empty() : !t
  %out = attn.attention %q, %k, %v scale(%scale) : !t, !t, !t outs(%init : !t) -> !t
  return %out : !t
}
