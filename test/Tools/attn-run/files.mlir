// Results of one run are the arguments of the next.
// RUN: attn-run %s --function=make --fill=0:iota --output=%t.npz
// RUN: attn-run %s --function=sum --args=%t.npz --print | FileCheck %s
// RUN: attn-run %s --function=sum --arg=%t.npz:arr_0 --arg=%t.npz:arr_1 --output=%t.npy
// RUN: attn-run %s --function=sum --arg=%t.npy --arg=1:%t.npz:arr_1 --print | FileCheck %s --check-prefix=AGAIN

// The reference's results are not rounded: 1/3 is that of f64.
// RUN: attn-run %s --function=third --reference-output=%t.f64.npy
// RUN: attn-run %s --function=rest --arg=%t.f64.npy --print | FileCheck %s --check-prefix=THIRD
// RUN: not attn-run %s --function=make --fill=0:iota --reference-output=%t.npy 2>&1 | FileCheck %s --check-prefix=REFERENCE

// RUN: not attn-run %s --function=make --fill=0:iota --output=%t.npy 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not attn-run %s --function=make --fill=0:iota --output=%t.txt 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attn-run %s --function=sum --arg=%t.gone.npy 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not attn-run %s --function=sum --args=%t.npy 2>&1 | FileCheck %s --check-prefix=ARCHIVE
// RUN: not attn-run %s --function=sum --arg=%t.npz:arr_7 2>&1 | FileCheck %s --check-prefix=MEMBER
// RUN: not attn-run %s --function=make --args=%t.npz 2>&1 | FileCheck %s --check-prefix=EXTRA
// RUN: not attn-run %s --function=make --arg=%t.npz:arr_1 2>&1 | FileCheck %s --check-prefix=TYPE

// TWO: error: --output with .npy expects one result, but there are 2; use .npz
// REFERENCE: error: --reference-output with .npy expects one result, but there are 2; use .npz
// NAME: error: --output expects a name that ends in .npy or .npz, but got '{{.*}}.txt'
// GONE: error: {{.*}}gone.npy: cannot read the file: No such file or directory
// ARCHIVE: error: {{.*}}.npy: cannot open the archive: Not a zip archive
// MEMBER: error: {{.*}}.npz: cannot open 'arr_7.npy' in the archive: No such file
// EXTRA: error: --args: 'arr_1' in {{.*}} is no tensor argument of @make(tensor<2x3xf32>)
// TYPE: error: {{.*}}.npz:arr_1: expected an array of 2x3xf32, but got 2x3xbf16
func.func @make(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xbf16>) {
  %init = tensor.empty() : tensor<2x3xbf16>
  %narrow = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%init : tensor<2x3xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %t = arith.truncf %u : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x3xbf16>
  return %x, %narrow : tensor<2x3xf32>, tensor<2x3xbf16>
}

// CHECK: result 0: 2x3xf32
// CHECK-NEXT: {{^}}  [0] 0 2 4{{$}}
// CHECK-NEXT: {{^}}  [1] 6 8 10{{$}}
// AGAIN: {{^}}  [1] 9 12 15{{$}}
func.func @sum(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) -> tensor<2x3xf32> {
  %init = tensor.empty() : tensor<2x3xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<2x3xf32>, tensor<2x3xbf16>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%u: f32, %w: bf16, %o: f32):
    %t = arith.extf %w : bf16 to f32
    %s = arith.addf %u, %t : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %out : tensor<2x3xf32>
}

func.func @third() -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %x = arith.divf %one, %three : f32
  %r = tensor.from_elements %x : tensor<f32>
  return %r : tensor<f32>
}

// 1/3 in f32 would give 1 + 2^-25.
// THIRD: result 0: f64
// THIRD-NEXT: {{^}}  1{{$}}
func.func @rest(%x: tensor<f64>) -> tensor<f64> {
  %three = arith.constant 3.0 : f64
  %e = tensor.extract %x[] : tensor<f64>
  %y = arith.mulf %e, %three : f64
  %r = tensor.from_elements %y : tensor<f64>
  return %r : tensor<f64>
}
