// OPTIONS @too_large: --shape=0:3
func.func @too_large(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

func.func @right(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
