// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise --remarks-filter=attn --remark-format=emitRemark \
// RUN:   --verify-diagnostics > %t
// RUN: attn-opt %s --allow-unregistered-dialect | diff - %t

// The initial value is defined.
func.func @reduction(%x: tensor<3xf32>, %from: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf32>) outs(%from : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// No operation to take a neutral element of.
func.func @undefined_and_unclear(%x: tensor<3xf32>) -> tensor<f32> {
  %empty = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf32>) outs(%empty : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %d = arith.subf %out, %in : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Its caller relies on the type.
func.func private @called(%x: tensor<3xf32>) -> tensor<*xf32> {
  %r = tensor.cast %x : tensor<3xf32> to tensor<*xf32>
  return %r : tensor<*xf32>
}
func.func @caller(%x: tensor<3xf32>) -> tensor<?xf32> {
  %r = call @called(%x) : (tensor<3xf32>) -> tensor<*xf32>
  %s = tensor.cast %r : tensor<*xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func @unknown(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = "tm_tensor.sort"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
