// What is around attention runs on the device too: products, elementwise ops, sums, copies.
// RUN: attn-run %s --function=block --target=emulator:sm_80 --check | FileCheck %s
// RUN: attn-run %s --function=block --target=emulator:sm_90a:eager:lifo --check | FileCheck %s
// RUN: attn-run %s --function=into_argument --target=emulator:sm_90a --check | FileCheck %s
// RUN: attn-run %s --function=unfused --target=emulator:sm_80 --check | FileCheck %s
// CHECK: check: PASS result 0

func.func @block(%x: tensor<70x24xf32>, %wq: tensor<24x16xf32>, %wk: tensor<24x16xf32>, %bias: tensor<16xf32>)
    -> (tensor<70x16xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<70x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<70x16xf32>) -> tensor<70x16xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<70x24xf32>, tensor<24x16xf32>) outs(%init : tensor<70x16xf32>)
      -> tensor<70x16xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<70x24xf32>, tensor<24x16xf32>) outs(%init : tensor<70x16xf32>)
      -> tensor<70x16xf32>
  %q4 = tensor.expand_shape %q [[0, 1, 2], [3]] output_shape [1, 1, 70, 16] : tensor<70x16xf32> into tensor<1x1x70x16xf32>
  %k4 = tensor.expand_shape %k [[0, 1, 2], [3]] output_shape [1, 1, 70, 16] : tensor<70x16xf32> into tensor<1x1x70x16xf32>
  %o = tensor.empty() : tensor<1x1x70x16xf32>
  %a = attn.attention %q4, %k4, %k4 scale(%scale) masks(causal)
      : tensor<1x1x70x16xf32>, tensor<1x1x70x16xf32>, tensor<1x1x70x16xf32> outs(%o : tensor<1x1x70x16xf32>)
      -> tensor<1x1x70x16xf32>
  %rows = tensor.collapse_shape %a [[0, 1, 2], [3]] : tensor<1x1x70x16xf32> into tensor<70x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (d)>, affine_map<(i, d) -> (i, d)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%rows, %bias : tensor<70x16xf32>, tensor<16xf32>) outs(%e : tensor<70x16xf32>) {
  ^bb0(%r: f32, %b: f32, %unused: f32):
    %s = arith.addf %r, %b : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<70x16xf32>
  %e0 = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%y : tensor<70x16xf32>) outs(%start : tensor<f32>) dimensions = [0, 1] (%p: f32, %n: f32) {
    %m = arith.addf %p, %n : f32
    linalg.yield %m : f32
  }
  return %y, %sum : tensor<70x16xf32>, tensor<f32>
}

func.func @into_argument(%q: tensor<2x2x33x64xbf16>, %k: tensor<2x1x65x64xbf16>, %out: tensor<2x2x33x64xbf16>)
    -> tensor<2x2x33x64xbf16> {
  %scale = arith.constant 0.125 : f32
  %a = attn.attention %q, %k, %k scale(%scale) : tensor<2x2x33x64xbf16>, tensor<2x1x65x64xbf16>, tensor<2x1x65x64xbf16>
      outs(%out : tensor<2x2x33x64xbf16>) -> tensor<2x2x33x64xbf16>
  return %a : tensor<2x2x33x64xbf16>
}

func.func @unfused(%s: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %o = tensor.empty() : tensor<3x5x7xf32>
  %r = attn.softmax %s axis(2) : tensor<3x5x7xf32> outs(%o : tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  return %r : tensor<3x5x7xf32>
}
