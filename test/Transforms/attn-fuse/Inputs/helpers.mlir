// OPTIONS @products: --shape=0:2x5x4 --scalar=2:7
// OPTIONS @products: --shape=0:2x3x4 --scalar=2:0
func.func @products(%a: tensor<2x?x4xf32>, %b: tensor<3x5xf32>, %factor: f32) -> tensor<15x1xf32> {
  %c7 = arith.constant 7 : index
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<3x5xf32> into tensor<15xf32>
  %out = tensor.expand_shape %flat [[0, 1]] output_shape [15, 1] : tensor<15xf32> into tensor<15x1xf32>
  return %out : tensor<15x1xf32>
}

func.func @identity(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
