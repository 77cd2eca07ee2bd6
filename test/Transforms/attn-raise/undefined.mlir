// RUN: attn-opt %s --attn-raise --remarks-filter=attn --remark-format=emitRemark --verify-diagnostics | FileCheck %s
// RUN: attn-run %s --function=maximum_of_an_empty_tensor --fill=0:list:-5:-3:-4 --print | FileCheck %s --check-prefix=VALUE

// CHECK-LABEL: func @maximum_of_an_empty_tensor
// CHECK: %[[EMPTY:.+]] = tensor.empty
// CHECK: %[[LOW:.+]] = arith.constant 0xFF800000 : f32
// CHECK: %[[FROM:.+]] = linalg.fill ins(%[[LOW]] : f32) outs(%[[EMPTY]] : tensor<f32>)
// CHECK: linalg.generic {{.*}} outs(%[[FROM]] : tensor<f32>)
// VALUE: {{^}}  -3
func.func @maximum_of_an_empty_tensor(%x: tensor<3xf32>) -> tensor<f32> {
  %empty = tensor.empty() : tensor<f32>
  // expected-remark@below {{a reduction of an empty tensor starts from its neutral element}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf32>) outs(%empty : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func @unranked_result
// CHECK-SAME: -> (tensor<3xf32>, i32)
// CHECK: return %{{.+}} : tensor<3xf32>, i32
func.func @unranked_result(%x: tensor<3xf32>, %n: i32) -> (tensor<*xf32>, i32) {
  %r = tensor.cast %x : tensor<3xf32> to tensor<*xf32>
  return %r, %n : tensor<*xf32>, i32
}
