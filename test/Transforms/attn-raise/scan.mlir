// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise | FileCheck %s
// RUN: attn-run %s --function=inclusive --fill=0:list:1:2:3:10:20:30 --print | FileCheck %s --check-prefix=INCLUSIVE
// RUN: attn-run %s --function=exclusive --fill=0:list:1:2:3:10:20:30 --fill=1:list:100:200:300 --print \
// RUN:   | FileCheck %s --check-prefix=EXCLUSIVE
// RUN: attn-run %s --function=empty --shape=0:2x0 --fill=0:zeros --out-shape=0:2x0 --print | FileCheck %s --check-prefix=EMPTY

// The second result holds the last sums.
// CHECK-LABEL: func @inclusive
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: tm_tensor
// INCLUSIVE: result 0: 2x3xi64
// INCLUSIVE-NEXT: [0] 1 3 6
// INCLUSIVE-NEXT: [1] 10 30 60
// INCLUSIVE-NEXT: result 1: 2xi64
// INCLUSIVE-NEXT: 6 60
func.func @inclusive(%x: tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2xi64>) {
  %zero = arith.constant 0 : i64
  %out = tensor.empty() : tensor<2x3xi64>
  %row = tensor.empty() : tensor<2xi64>
  %sum = linalg.fill ins(%zero : i64) outs(%row : tensor<2xi64>) -> tensor<2xi64>
  %r:2 = "tm_tensor.scan"(%x, %out, %sum)
      <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: i64, %b: i64):
    %s = arith.addi %a, %b : i64
    "tm_tensor.yield"(%s) : (i64) -> ()
  }) : (tensor<2x3xi64>, tensor<2x3xi64>, tensor<2xi64>) -> (tensor<2x3xi64>, tensor<2xi64>)
  return %r#0, %r#1 : tensor<2x3xi64>, tensor<2xi64>
}

// Along dimension 0, from the accumulator.
// EXCLUSIVE: result 0: 2x3xf32
// EXCLUSIVE-NEXT: [0] 100 200 300
// EXCLUSIVE-NEXT: [1] 101 202 303
// EXCLUSIVE-NEXT: result 1: 3xf32
// EXCLUSIVE-NEXT: 101 202 303
func.func @exclusive(%x: tensor<2x3xf32>, %from: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %out = tensor.empty() : tensor<2x3xf32>
  %r:2 = "iree_linalg_ext.scan"(%x, %out, %from) <{dimension = 0 : i64, inclusive = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "iree_linalg_ext.yield"(%s) : (f32) -> ()
  }) {operandSegmentSizes = array<i32: 1, 2>}
      : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<3xf32>
}

// Nothing to sum: the accumulator stays.
// EMPTY: result 1: 2xf32
// EMPTY-NEXT: 7 7
func.func @empty(%x: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2xf32>) {
  %seven = arith.constant dense<7.0> : tensor<2xf32>
  %r:2 = "tm_tensor.scan"(%x, %x, %seven)
      <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2xf32>) -> (tensor<2x?xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x?xf32>, tensor<2xf32>
}
