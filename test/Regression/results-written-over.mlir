// A value and what is made of it are results: the one is not computed in the buffer of the other, which is written first.
// RUN: attn-run %s --function=inserted --check --scalar=1:5 --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=inserted --check --scalar=1:5 --target=emulator:sm_80 | FileCheck %s
// RUN: attn-run %s --function=inserted_first --check --scalar=1:5 --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=slice_inserted --check --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=added_in_place --check --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=read_in_a_loop --check --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=attention --check --scalar=3:5 --target=x86-64-v3 | FileCheck %s
// RUN: attn-run %s --function=attention --check --scalar=3:5 --target=emulator:sm_80 | FileCheck %s
// CHECK: check: PASS result 0
// CHECK: check: PASS result 1

func.func @inserted(%x: tensor<3x4xf32>, %v: f32) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.exp ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tensor.insert %v into %y[%c1, %c1] : tensor<3x4xf32>
  return %z, %y : tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @inserted_first(%x: tensor<3x4xf32>, %v: f32) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.exp ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tensor.insert %v into %y[%c1, %c1] : tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @slice_inserted(%x: tensor<3x4xf32>, %row: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.exp ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = tensor.insert_slice %row into %y[1, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<3x4xf32>
  return %z, %y : tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @added_in_place(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %once = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf32>) outs(%start : tensor<3xf32>) dimensions = [1]
  %twice = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf32>) outs(%once : tensor<3xf32>) dimensions = [1]
  return %twice, %once : tensor<3xf32>, tensor<3xf32>
}

// The loop that reads %y comes behind what is made of it.
func.func @read_in_a_loop(%x: tensor<4xf32>, %row: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = tensor.insert_slice %row into %y[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %a = tensor.extract %y[%i] : tensor<4xf32>
    %b = tensor.insert %a into %s[%i] : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %z, %r : tensor<4xf32>, tensor<4xf32>
}

!t = tensor<1x1x4x16xf32>
func.func @attention(%q: !t, %k: !t, %v: !t, %x: f32) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : !t
  %o = attn.attention %q, %k, %v scale(%scale) : !t, !t, !t outs(%e : !t) -> !t
  %z = tensor.insert %x into %o[%c0, %c0, %c0, %c0] : !t
  return %z, %o : !t, !t
}
