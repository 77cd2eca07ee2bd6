// RUN: attn-run %s --function=around_a_loop --check --out-shape=0:5 --shape=0:5 | FileCheck %s
// RUN: attn-run %s --function=carried --check | FileCheck %s
// RUN: attn-run %s --function=branch --check --scalar=2:1 | FileCheck %s
// RUN: attn-run %s --function=scalar_argument --check --scalar=0:1.5 | FileCheck %s
// RUN: attn-run %s --function=around_a_loop --emit=asm | FileCheck %s --check-prefix=ASM

// LLVM has no registers for bf16: between blocks it was f32, and came back by a function of libgcc 13.
// CHECK: check: PASS
// ASM-NOT: __trunc

func.func @around_a_loop(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xbf16>
  %first = tensor.extract %x[%c0] : tensor<?xbf16>
  %init = tensor.empty(%n) : tensor<?xbf16>
  %out = scf.for %i = %c0 to %n step %c1 iter_args(%t = %init) -> tensor<?xbf16> {
    %u = tensor.insert %first into %t[%i] : tensor<?xbf16>
    scf.yield %u : tensor<?xbf16>
  }
  return %out : tensor<?xbf16>
}

func.func @carried(%x: tensor<7xbf16>) -> tensor<7xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %one = arith.constant 1.0 : bf16
  %init = tensor.empty() : tensor<7xbf16>
  %out:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%t = %init, %last = %one) -> (tensor<7xbf16>, bf16) {
    %u = tensor.insert %last into %t[%i] : tensor<7xbf16>
    %next = tensor.extract %x[%i] : tensor<7xbf16>
    scf.yield %u, %next : tensor<7xbf16>, bf16
  }
  return %out#0 : tensor<7xbf16>
}

func.func @branch(%x: tensor<4xbf16>, %y: tensor<4xbf16>, %which: i1) -> tensor<4xbf16> {
  %c2 = arith.constant 2 : index
  %two = arith.constant dense<2.0> : tensor<4xbf16>
  %value = scf.if %which -> bf16 {
    %a = tensor.extract %x[%c2] : tensor<4xbf16>
    scf.yield %a : bf16
  } else {
    %b = tensor.extract %y[%c2] : tensor<4xbf16>
    scf.yield %b : bf16
  }
  %filled = tensor.splat %value : tensor<4xbf16>
  %out = arith.mulf %filled, %two : tensor<4xbf16>
  return %out : tensor<4xbf16>
}

func.func @scalar_argument(%x: bf16) -> tensor<3xbf16> {
  %filled = tensor.splat %x : tensor<3xbf16>
  return %filled : tensor<3xbf16>
}
