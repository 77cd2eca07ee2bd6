// RUN: attn-run %s --function=good --check | FileCheck %s
// RUN: attn-opt %s --allow-unregistered-dialect --attn-compile=function=good | FileCheck %s --check-prefix=OPT --implicit-check-not=other
// RUN: attn-compile %s --function=good --target=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: attn-run %s --function=good --emit=graph | FileCheck %s --check-prefix=GRAPH --implicit-check-not=@

// What a function does not need is no obstacle: whatever parses and verifies.
// CHECK: check: PASS
// OPT: llvm.func internal @good
// PTX: .entry
// GRAPH: func.func @good

// Each of the others fails by itself, by name.
// RUN: not attn-run %s --function=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: one-function.mlir:[[# @LINE + 25]]:8: error: the compiler knows no lowering of 'other.op'
// RUN: not attn-run %s --function=malformed 2>&1 | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: one-function.mlir:[[# @LINE + 28]]:8: error: 'tm_tensor.attention'
// RUN: not attn-run %s --function=endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: 'func.call' op expects functions that do not call themselves, but got the cycle @endless -> @endless
// RUN: not attn-run %s --function=declared 2>&1 | FileCheck %s --check-prefix=DECLARED
// DECLARED: error: 'func.call' op expects a function with a body, but '@outside' has none
// RUN: not attn-compile %s --target=sm_80 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not attn-compile %s --target=sm_80 --function=gone 2>&1 | FileCheck %s --check-prefix=GONE
// WHOLE: error: {{.*}}'tm_tensor.attention'
// GONE: the module has no function @gone

"other.table"() {sym_name = "table"} : () -> ()

func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "other.op"(%x) {table = @table} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @malformed(%q: tensor<6x7x4xf32>) -> tensor<6x7x4xf32> {
  %r = "tm_tensor.attention"(%q) <{operandSegmentSizes = array<i32: 1, 0>}> : (tensor<6x7x4xf32>) -> tensor<6x7x4xf32>
  return %r : tensor<6x7x4xf32>
}

func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @endless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @declared(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %x : tensor<4xcomplex<f32>>
}

module @inner {
  func.func @f() { return }
}

%c = arith.constant dense<1.0> : tensor<4xf32>
