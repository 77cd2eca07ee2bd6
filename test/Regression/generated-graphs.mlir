// What attn-test-graphs found, reduced.
// RUN: attn-run %s --function=pad_of_nothing_as_bias --check | FileCheck %s
// RUN: attn-run %s --function=concat_with_nothing_as_bias --check | FileCheck %s
// RUN: attn-run %s --function=two_of_one_tile --check | FileCheck %s
// CHECK: check: PASS

// The score region read %nothing at a clamped index: "expected a tensor that a score or mask region reads to have
// elements" at run time.
func.func @pad_of_nothing_as_bias(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>, %nothing: tensor<0xf32>)
    -> tensor<3x2xf32> {
  %one = arith.constant 1.0 : f32
  %bias = tensor.pad %nothing low[2] high[3] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<0xf32> to tensor<5xf32>
  %r = func.call @biased(%q, %k, %v, %bias) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>, tensor<5xf32>)
      -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @concat_with_nothing_as_bias(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>,
                                       %nothing: tensor<0xf32>, %b: tensor<5xf32>) -> tensor<3x2xf32> {
  %bias = tensor.concat dim(0) %nothing, %b, %nothing : (tensor<0xf32>, tensor<5xf32>, tensor<0xf32>) -> tensor<5xf32>
  %r = func.call @biased(%q, %k, %v, %bias) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>, tensor<5xf32>)
      -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func private @biased(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>, %bias: tensor<5xf32>)
    -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<3x4xf32>, tensor<5x4xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %bias : tensor<3x5xf32>, tensor<5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %y = arith.addf %x, %b : f32
    linalg.yield %y : f32
  } -> tensor<3x5xf32>
  %p = attn.softmax %t axis(1) : tensor<3x5xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<3x2xf32>
  %r = attn.matmul %p, %v : tensor<3x5xf32>, tensor<5x2xf32> outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// Loops of one tile fall away, and then both began with one flash.init: "expects a tile value to be consumed once".
func.func @two_of_one_tile(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x2xf32>,
                           %w: tensor<1x1x5x2xf32>) -> (tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>) {
  %s = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<1x1x3x2xf32>
  %a = attn.attention %q, %k, %v scale(%s) : tensor<1x1x3x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x2xf32>
      outs(%e : tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  %b = attn.attention %q, %k, %w scale(%s) : tensor<1x1x3x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x2xf32>
      outs(%e : tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  return %a, %b : tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>
}
