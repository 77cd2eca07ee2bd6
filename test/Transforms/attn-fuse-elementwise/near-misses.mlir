// RUN: attn-opt %s --attn-fuse-elementwise --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// An exponential for two readers would be computed twice.
// CHECK-LABEL: @function_of_two_readers
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @function_of_two_readers(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %empty = tensor.empty() : tensor<3x5xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %difference = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  return %sum, %difference : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Two cheap operations are done twice instead, and their tensor is gone.
// CHECK-LABEL: @cheap_for_two_readers
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @cheap_for_two_readers(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %empty = tensor.empty() : tensor<3x5xf32>
  %half = arith.constant 0.5 : f32
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %half : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %difference = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  return %sum, %difference : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A function of a row would be computed for each element of the row.
// CHECK-LABEL: @broadcast_of_a_function
// CHECK: linalg.generic
// CHECK: math.rsqrt
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func @broadcast_of_a_function(%x: tensor<3x5xf32>, %v: tensor<3xf32>) -> tensor<3x5xf32> {
  %e1 = tensor.empty() : tensor<3xf32>
  %e2 = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : tensor<3xf32>) outs(%e1 : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.rsqrt %a : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<3x5xf32>, tensor<3xf32>) outs(%e2 : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A body that may end the call stays as it is, where it is.
// CHECK-LABEL: @checked
// CHECK: linalg.generic
// CHECK: cf.assert
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: arith.addf
func.func @checked(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x5xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %holds = arith.cmpf oge, %a, %zero : f32
    cf.assert %holds, "expects no negative numbers"
    linalg.yield %a : f32
  } -> tensor<3x5xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %y : tensor<3x5xf32>, tensor<3x5xf32>) outs(%empty : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  return %sum : tensor<3x5xf32>
}

// -----

// A product reads its operands many times: a scaling stays outside, a transpose moves in.
// CHECK-LABEL: @products
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.matmul
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
func.func @products(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %wt: tensor<7x5xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e1 = tensor.empty() : tensor<3x5xf32>
  %e2 = tensor.empty() : tensor<3x7xf32>
  %e3 = tensor.empty() : tensor<5x7xf32>
  %scaled = linalg.map ins(%x : tensor<3x5xf32>) outs(%e1 : tensor<3x5xf32>)
    (%a: f32, %o: f32) {
      %t = arith.mulf %a, %half : f32
      linalg.yield %t : f32
    }
  %init = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x7xf32>) -> tensor<3x7xf32>
  %first = linalg.matmul ins(%scaled, %w : tensor<3x5xf32>, tensor<5x7xf32>) outs(%init : tensor<3x7xf32>) -> tensor<3x7xf32>
  %turned = linalg.transpose ins(%wt : tensor<7x5xf32>) outs(%e3 : tensor<5x7xf32>) permutation = [1, 0]
  %second = linalg.matmul ins(%x, %turned : tensor<3x5xf32>, tensor<5x7xf32>) outs(%init : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %first, %second : tensor<3x7xf32>, tensor<3x7xf32>
}
