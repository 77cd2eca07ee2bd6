//--- numbers.mlir
func.func @numbers(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %y = tensor.collapse_shape %x [[4294967296, 4294967297]] : tensor<2x3xf32> into tensor<6xf32>
  return %y : tensor<6xf32>
}
//--- expanded.mlir
func.func @expanded(%x: tensor<f32>) -> tensor<2x3xf32> {
  %y = tensor.expand_shape %x [] output_shape [2, 3] : tensor<f32> into tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
//--- scalar.mlir
func.func @scalar(%x: tensor<?x?xf32>) -> tensor<f32> {
  %y = tensor.collapse_shape %x [] : tensor<?x?xf32> into tensor<f32>
  %z = arith.addf %y, %y : tensor<f32>
  return %z : tensor<f32>
}
//--- spread.mlir
func.func @spread(%x: tensor<f32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %y = tensor.expand_shape %x [] output_shape [%n, %m] : tensor<f32> into tensor<?x?xf32>
  %z = arith.addf %y, %y : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
