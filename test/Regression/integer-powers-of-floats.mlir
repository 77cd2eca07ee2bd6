// x^n of lanes and scalars: LLVM has no powers of vectors by vectors.
// RUN: attn-run %s --function=squared --check | FileCheck %s
// RUN: attn-run %s --function=inverse_cube --check | FileCheck %s
// RUN: attn-run %s --function=run_time --scalar=1:3 --check | FileCheck %s
// RUN: attn-run %s --function=run_time --scalar=1:-2 --check | FileCheck %s

// CHECK: check: PASS
func.func @squared(%x: tensor<5x33xf32>) -> tensor<5x33xf32> {
  %n = arith.constant dense<2> : tensor<5x33xi64>
  %y = math.fpowi %x, %n : tensor<5x33xf32>, tensor<5x33xi64>
  return %y : tensor<5x33xf32>
}

func.func @inverse_cube(%x: tensor<5x33xf32>) -> tensor<5x33xf32> {
  %n = arith.constant dense<-3> : tensor<5x33xi32>
  %y = math.fpowi %x, %n : tensor<5x33xf32>, tensor<5x33xi32>
  return %y : tensor<5x33xf32>
}

func.func @run_time(%x: tensor<5x33xf32>, %n: i64) -> tensor<5x33xf32> {
  %many = tensor.splat %n : tensor<5x33xi64>
  %y = math.fpowi %x, %many : tensor<5x33xf32>, tensor<5x33xi64>
  return %y : tensor<5x33xf32>
}
