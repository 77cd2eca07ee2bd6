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
