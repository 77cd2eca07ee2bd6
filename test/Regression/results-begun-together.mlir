// Several results that start from one tensor: each has its own buffer, though bufferization does not see these written.
// RUN: attn-run %s --function=filled --check | FileCheck %s
// RUN: attn-run %s --function=computed --scalar=2:3 --check | FileCheck %s
// RUN: attn-run %s --function=reshaped --check | FileCheck %s

!square = tensor<4x4xf32>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-NOT: FAIL
func.func @filled(%a: !square, %b: !square) -> (!square, !square) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !square
  %f = linalg.fill ins(%zero : f32) outs(%e : !square) -> !square
  %x = linalg.matmul ins(%a, %b : !square, !square) outs(%f : !square) -> !square
  %y = linalg.matmul ins(%b, %a : !square, !square) outs(%f : !square) -> !square
  return %x, %y : !square, !square
}

func.func @computed(%a: !square, %b: !square, %c: f32) -> (!square, !square, !square) {
  %e = tensor.empty() : !square
  %f = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : !square) {
  ^bb0(%o: f32):
    linalg.yield %c : f32
  } -> !square
  %x = linalg.matmul ins(%a, %b : !square, !square) outs(%f : !square) -> !square
  %y = linalg.matmul ins(%b, %a : !square, !square) outs(%f : !square) -> !square
  %z = linalg.matmul ins(%a, %a : !square, !square) outs(%f : !square) -> !square
  return %x, %y, %z : !square, !square, !square
}

func.func @reshaped(%a: !square, %b: !square) -> (!square, tensor<16xf32>) {
  %e = tensor.empty() : !square
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : !square) outs(%e : !square) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> !square
  %x = linalg.matmul ins(%a, %b : !square, !square) outs(%f : !square) -> !square
  %y = linalg.matmul ins(%b, %a : !square, !square) outs(%f : !square) -> !square
  %flat = tensor.collapse_shape %y [[0, 1]] : !square into tensor<16xf32>
  return %x, %flat : !square, tensor<16xf32>
}

// Upstream takes the reshape between equal types for the same tensor: the 1 x 20 x 1 numbers were written into the
// 1 x 5 x 4 of the result by the indices of the former, behind its end.
// RUN: attn-run %s --function=reshaped_result --shape=0:1x20x1 --scalar=1:5 --out-shape=0:1x5x4 --check --check-bounds | FileCheck %s --check-prefix=RESHAPED
// RUN: attn-run %s --function=reshaped_result --shape=0:2x6x1 --scalar=1:3 --out-shape=0:1x3x4 --check --check-bounds | FileCheck %s --check-prefix=RESHAPED
// RUN: attn-run %s --function=reshaped_part --shape=0:1x20x1 --scalar=1:5 --shape=2:3x5x4 --check --check-bounds | FileCheck %s --check-prefix=RESHAPED
// RUN: attn-run %s --function=reshaped_result --shape=0:1x20x1 --scalar=1:5 --out-shape=0:1x5x4 --check --target=emulator:sm_80 | FileCheck %s --check-prefix=RESHAPED
// RESHAPED: check: PASS
func.func @reshaped_result(%x: tensor<?x?x?xf32>, %n: index) -> tensor<?x?x?xf32> {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %a = func.call @absolute(%x) : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %sizes = tensor.from_elements %one, %n, %four : tensor<3xindex>
  %r = tensor.reshape %a(%sizes) : (tensor<?x?x?xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

func.func @reshaped_part(%x: tensor<?x?x?xf32>, %n: index, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %a = func.call @absolute(%x) : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %sizes = tensor.from_elements %one, %n, %four : tensor<3xindex>
  %p = tensor.reshape %a(%sizes) : (tensor<?x?x?xf32>, tensor<3xindex>) -> tensor<?x?x?xf32>
  %r = tensor.insert_slice %p into %y[1, 0, 0] [%one, %n, %four] [1, 1, 1] : tensor<?x?x?xf32> into tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

func.func private @absolute(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %empty = tensor.empty(%l, %m, %n) : tensor<?x?x?xf32>
  %r = linalg.map { math.absf } ins(%x : tensor<?x?x?xf32>) outs(%empty : tensor<?x?x?xf32>)
  return %r : tensor<?x?x?xf32>
}
