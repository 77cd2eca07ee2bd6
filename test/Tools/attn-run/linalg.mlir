// RUN: attn-run %s --function=add --fill=0:iota --fill=1:value:0.5 --shape=0:2x3 --shape=1:2x3 --print | FileCheck %s
// RUN: attn-run %s --function=scaled --fill=0:iota --scalar=1:-2 --print | FileCheck %s --check-prefix=SCALED
// RUN: attn-run %s --function=scaled --fill=0:iota --scalar=1:-2 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=overflow --fill=ones --check 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: attn-run %s --function=counts --fill=0:range:7:7 --scalar=1:5 --print | FileCheck %s --check-prefix=COUNTS

#rows = affine_map<(i, j) -> (i, j)>

// CHECK: result 0: 2x3xf32
// CHECK-NEXT: {{^}}  [0] 0.5 1.5 2.5{{$}}
// CHECK-NEXT: {{^}}  [1] 3.5 4.5 5.5{{$}}
func.func @add(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %init = tensor.empty(%n) : tensor<?x3xf32>
  %out = linalg.add ins(%x, %y : tensor<?x3xf32>, tensor<?x3xf32>) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %out : tensor<?x3xf32>
}

// SCALED: result 0: 4xf64
// SCALED-NEXT: {{^}}  -0 -2 -4 -6{{$}}
// PASS: check: PASS result 0: 4xf64, max error 0, allowed 6e-13
func.func @scaled(%x: tensor<4xf64>, %a: f64) -> tensor<4xf64> {
  %init = tensor.empty() : tensor<4xf64>
  %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%init : tensor<4xf64>) {
  ^bb0(%u: f64, %o: f64):
    %s = arith.mulf %a, %u : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %out : tensor<4xf64>
}

// In f32 the product overflows, in f64 it is 1: an error that no tolerance covers.
// FAIL: check: FAIL result 0: 2xf32
// FAIL: error: the results differ from the reference's: result 0:
func.func @overflow(%x: tensor<2xf32>) -> tensor<2xf32> {
  %huge = arith.constant 1.0e+30 : f32
  %tiny = arith.constant 1.0e-30 : f32
  %init = tensor.empty() : tensor<2xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%u: f32, %o: f32):
    %a = arith.mulf %u, %huge : f32
    %b = arith.mulf %a, %huge : f32
    %c = arith.mulf %b, %tiny : f32
    %d = arith.mulf %c, %tiny : f32
    linalg.yield %d : f32
  } -> tensor<2xf32>
  return %out : tensor<2xf32>
}

// COUNTS: result 0: i64
// COUNTS-NEXT: {{^}}  12{{$}}
func.func @counts(%x: tensor<1xi32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %a = tensor.extract %x[%c0] : tensor<1xi32>
  %b = arith.index_cast %a : i32 to index
  %c = arith.addi %b, %n : index
  return %c : index
}
