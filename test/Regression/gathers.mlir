// DEFINE: %{target} =
// REDEFINE: %{target} = x86-64-v3
// RUN: attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:15:7:7 --check | FileCheck %s
// RUN: attn-run %s --target=%{target} --function=elements --shape=0:4x3 --shape=1:2x2x2 --fill=1:list:0:2:3:1:1:0:2:2 --fill=0:iota --print --check | FileCheck %s --check-prefix=ELEMENTS
// RUN: attn-run %s --target=%{target} --function=columns --fill=1:list:2:0:1:1:2 --check | FileCheck %s
// RUN: not attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:16:7:7 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// REDEFINE: %{target} = emulator:sm_80
// RUN: attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:15:7:7 --check | FileCheck %s
// RUN: attn-run %s --target=%{target} --function=elements --shape=0:4x3 --shape=1:2x2x2 --fill=1:list:0:2:3:1:1:0:2:2 --fill=0:iota --print --check | FileCheck %s --check-prefix=ELEMENTS
// RUN: attn-run %s --target=%{target} --function=columns --fill=1:list:2:0:1:1:2 --check | FileCheck %s
// RUN: not attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:16:7:7 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// REDEFINE: %{target} = emulator:sm_90a
// RUN: attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:15:7:7 --check | FileCheck %s
// RUN: attn-run %s --target=%{target} --function=elements --shape=0:4x3 --shape=1:2x2x2 --fill=1:list:0:2:3:1:1:0:2:2 --fill=0:iota --print --check | FileCheck %s --check-prefix=ELEMENTS
// RUN: attn-run %s --target=%{target} --function=columns --fill=1:list:2:0:1:1:2 --check | FileCheck %s
// RUN: not attn-run %s --target=%{target} --function=rows --fill=1:list:3:0:16:7:7 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// CHECK: check: PASS
// OUTSIDE: error: @rows: 'tensor.extract' at {{.*}}gathers.mlir:[[# @LINE + 3]]:8: out-of-bounds access
func.func @rows(%x: tensor<16x8xf32>, %i: tensor<5x1xindex>) -> tensor<5x8xf32> {
  %scale = arith.constant 0.5 : f32
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<16x8xf32>, tensor<5x1xindex>) -> tensor<5x1x8xf32>
  %k = tensor.collapse_shape %g [[0, 1], [2]] : tensor<5x1x8xf32> into tensor<5x8xf32>
  %e = tensor.empty() : tensor<5x8xf32>
  %r = attn.attention %k, %k, %k scale(%scale) layout(query(i, d), key(j, d), value(j, e), out(i, e)) : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32> outs(%e : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}

// Element [n, m] is x at the two indices of [n, m]: (0, 2), (3, 1), (1, 0) and (2, 2) of rows of 3.
// ELEMENTS: 2x2xf32
// ELEMENTS: 2 10
// ELEMENTS: 3 8
// ELEMENTS: check: PASS
func.func @elements(%x: tensor<?x?xf32>, %i: tensor<?x?x2xi32>) -> tensor<?x?xf32> {
  %g = tensor.gather %x[%i] gather_dims([0, 1]) : (tensor<?x?xf32>, tensor<?x?x2xi32>) -> tensor<?x?xf32>
  return %g : tensor<?x?xf32>
}

// Units of gathered dimensions are left out.
func.func @columns(%x: tensor<4x3x2xf32>, %i: tensor<5x1xi64>) -> tensor<5x4x2xf32> {
  %g = tensor.gather %x[%i] gather_dims([1]) : (tensor<4x3x2xf32>, tensor<5x1xi64>) -> tensor<5x4x2xf32>
  return %g : tensor<5x4x2xf32>
}
