// RUN: attn-opt %s --attn-verify-graph --split-input-file --verify-diagnostics

#id = affine_map<(i) -> (i)>

func.func @zero(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'linalg.generic' op expects maps to divide by constants of at least 1, but (d0) -> (d0 floordiv 0) divides by 0}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 0)>, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @modulo_zero(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{divides by 0}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 0)>, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @symbol(%n: index, %m: index) -> index {
  // expected-error @below {{'affine.apply' op expects maps to divide by constants of at least 1, but ()[s0, s1] -> (s0 ceildiv s1) divides by s1}}
  %r = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%n, %m]
  return %r : index
}

func.func @minimum(%n: index) -> index {
  // expected-error @below {{'affine.min' op expects maps to divide by constants of at least 1}}
  %r = affine.min affine_map<(d0) -> (d0 floordiv -2, 7)>(%n)
  return %r : index
}

// -----

func.func @parallel_into_rows(%x: tensor<4x?xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'linalg.generic' op expects each of its parallel loops to be a dimension of every output, but loop 1 is none of output 0, whose map is (d0, d1) -> (d0); make it a reduction}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x?xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @one_of_two_outputs(%x: tensor<4x3xf32>, %p: tensor<4x3xf32>, %o: tensor<3xf32>)
    -> (tensor<4x3xf32>, tensor<3xf32>) {
  // expected-error @below {{loop 0 is none of output 1, whose map is (d0, d1) -> (d1); make it a reduction}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%p, %o : tensor<4x3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %a, %a : f32, f32
  } -> (tensor<4x3xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<4x3xf32>, tensor<3xf32>
}

// An output is written whole: what is between the elements would be lost.
func.func @every_other(%x: tensor<3xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{'linalg.generic' op expects each dimension of an output to be a loop of its own, but output 0 has the map (d0) -> (d0 * 2)}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2 * i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @diagonal(%x: tensor<3xf32>, %o: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // expected-error @below {{output 0 has the map (d0) -> (d0, d0)}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%o : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

func.func @second_row(%x: tensor<3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{output 0 has the map (d0) -> (1, d0)}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (1, i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%o : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The first and the last point tell nothing of those between.
func.func @difference(%x: tensor<4xf32>, %y: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'linalg.generic' op expects to read inside of its operands, but nothing tells that the index d0 - d1 of operand 0 stays inside dimension 0; give its sizes, or use tensor.extract}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i - j)>, affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @modulo(%x: tensor<?xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @below {{nothing tells that the index d0 mod 4 of operand 0 stays inside dimension 0}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// -----

// What is known to be inside, or checked at run time, is no error: the difference with room for it, the remainder with
// as many elements, sums, quotients, reversal; neither are unit dimensions that outputs lack or add.
func.func @inside(%x: tensor<7xf32>, %y: tensor<4xf32>, %z: tensor<?xf32>, %w: tensor<4x1x4xf32>, %o: tensor<4x4x1xf32>)
    -> tensor<4x4x1xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i - j + 3)>, affine_map<(i, j, k) -> ((i + j) mod 4)>,
                                        affine_map<(i, j, k) -> (i floordiv 2 + j)>, affine_map<(i, j, k) -> (-i + 3, k, j)>,
                                        affine_map<(i, j, k) -> (i, j, 0)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y, %z, %w : tensor<7xf32>, tensor<4xf32>, tensor<?xf32>, tensor<4x1x4xf32>) outs(%o : tensor<4x4x1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x4x1xf32>
  return %r : tensor<4x4x1xf32>
}
