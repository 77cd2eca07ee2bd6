// Without bf16 of its own, a CPU keeps a bf16 scalar that lives across branches in f32: LLVM then calls __truncsfbf2,
// which few libgcc have. Sums of eighths are exact in bf16.
// RUN: attn-run %s --function=carried_by_a_loop --target=x86-64-v3 --fill=0:list:0.5:0.25:0.125 --scalar=1:1 --print \
// RUN:   | FileCheck %s --check-prefix=LOOP
// RUN: attn-run %s --function=carried_by_a_branch --target=x86-64-v3 --scalar=0:0.3 --scalar=1:1 --scalar=2:2 --print \
// RUN:   | FileCheck %s --check-prefix=BRANCH
// RUN: attn-run %s --function=carried_by_a_branch --target=x86-64-v3 --scalar=0:nan --scalar=1:1 --scalar=2:2 --print \
// RUN:   | FileCheck %s --check-prefix=NAN
// A denormal goes through unchanged, and is the result of a conversion. AVX512-BF16 would make 0 of it:
// RUN: attn-run %s --function=carried_by_a_branch --target=x86-64-v3 --scalar=0:0 --scalar=1:0 --scalar=2:9.18e-41 --print \
// RUN:   | FileCheck %s --check-prefix=DENORMAL
// RUN: attn-run %s --function=carried_by_a_branch --target=x86-64-v3 --scalar=0:1e-40 --scalar=1:1 --scalar=2:2 --print \
// RUN:   | FileCheck %s --check-prefix=DENORMAL
// RUN: attn-run %s --function=carried_by_a_branch --target=sapphirerapids --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: attn-run %s --function=carried_by_a_branch --target=znver5 --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: attn-run %s --function=carried_by_a_loop --target=sapphirerapids --emit=asm | FileCheck %s --check-prefix=ASM
// REQUIRES: x86-avx2

// LOOP: {{^}}  1.875
func.func @carried_by_a_loop(%x: tensor<3xbf16>, %from: bf16) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %from) -> bf16 {
    %e = tensor.extract %x[%i] : tensor<3xbf16>
    %s = arith.addf %a, %e : bf16
    scf.yield %s : bf16
  }
  return %r : bf16
}

// The bf16 nearest to 0.3.
// BRANCH: {{^}}  0.30078125
// NAN: nan
// DENORMAL: {{^}}  9.18{{[0-9]*}}e-41
// ASM-NOT: vcvtneps2bf16
func.func @carried_by_a_branch(%x: f32, %takes: i1, %y: bf16) -> f32 {
  %r = scf.if %takes -> bf16 {
    %e = arith.truncf %x : f32 to bf16
    scf.yield %e : bf16
  } else {
    scf.yield %y : bf16
  }
  %f = arith.extf %r : bf16 to f32
  return %f : f32
}
