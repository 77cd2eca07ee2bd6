// Fusion knows more sizes than the types of the graph say. What it builds has the types that the graph's users have seen,
// and it cuts nothing out of an empty tensor: the verifier refuses such a slice. attn-opt verifies after the pass.
// RUN: attn-opt %s --attn-fuse | FileCheck %s

// CHECK-LABEL: @result_of_open_type
// CHECK: %[[A:.+]] = attn.attention {{.*}} -> tensor<3x2xf32>
// CHECK: %[[C:.+]] = tensor.cast %[[A]] : tensor<3x2xf32> to tensor<?x?xf32>
// CHECK: return %[[C]] : tensor<?x?xf32>
func.func @result_of_open_type(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>) -> tensor<?x?xf32> {
  %three = arith.constant 3 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<3x5xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<3x4xf32>, tensor<5x4xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = attn.softmax %s axis(1) : tensor<3x5xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty(%three, %two) : tensor<?x?xf32>
  %r = attn.matmul %p, %v : tensor<3x5xf32>, tensor<5x2xf32> outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @weights_of_open_type
// CHECK: %[[A:.+]]:2 = attn.attention
// CHECK-DAG: %[[R:.+]] = tensor.cast {{.*}} : tensor<3x2xf32> to tensor<?x2xf32>
// CHECK-DAG: %[[W:.+]] = tensor.cast {{.*}} : tensor<3x5xf32> to tensor<?x5xf32>
// CHECK: return %[[R]], %[[W]] : tensor<?x2xf32>, tensor<?x5xf32>
func.func @weights_of_open_type(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>)
    -> (tensor<?x2xf32>, tensor<?x5xf32>) {
  %three = arith.constant 3 : index
  %e = tensor.empty(%three) : tensor<?x5xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<3x4xf32>, tensor<5x4xf32> outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %p = attn.softmax %s axis(1) : tensor<?x5xf32> outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %f = tensor.empty(%three) : tensor<?x2xf32>
  %r = attn.matmul %p, %v : tensor<?x5xf32>, tensor<5x2xf32> outs(%f : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r, %p : tensor<?x2xf32>, tensor<?x5xf32>
}

// Attention gives its weights in f32.
// CHECK-LABEL: @weights_of_narrow_type
// CHECK: %[[W:.+]] = arith.truncf {{.*}} : tensor<3x5xf32> to tensor<3x5xf16>
// CHECK: return {{.*}}, %[[W]]
func.func @weights_of_narrow_type(%q: tensor<3x4xf16>, %k: tensor<5x4xf16>, %v: tensor<5x2xf16>)
    -> (tensor<3x2xf16>, tensor<3x5xf16>) {
  %e = tensor.empty() : tensor<3x5xf16>
  %s = attn.matmul %q, %k transpose_rhs : tensor<3x4xf16>, tensor<5x4xf16> outs(%e : tensor<3x5xf16>) -> tensor<3x5xf16>
  %p = attn.softmax %s axis(1) : tensor<3x5xf16> outs(%e : tensor<3x5xf16>) -> tensor<3x5xf16>
  %f = tensor.empty() : tensor<3x2xf16>
  %r = attn.matmul %p, %v : tensor<3x5xf16>, tensor<5x2xf16> outs(%f : tensor<3x2xf16>) -> tensor<3x2xf16>
  return %r, %p : tensor<3x2xf16>, tensor<3x5xf16>
}

// CHECK-LABEL: @head_dim_of_nothing_in_more_dimensions
// CHECK-NOT: tensor.extract_slice
// CHECK: attn.attention
func.func @head_dim_of_nothing_in_more_dimensions(%q: tensor<1x3x0xf32>, %k: tensor<5x0xf32>, %v: tensor<5x2xf32>)
    -> tensor<3x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %c = tensor.collapse_shape %q [[0, 1], [2]] : tensor<1x3x0xf32> into tensor<3x0xf32>
  %s = attn.matmul %c, %k transpose_rhs : tensor<3x0xf32>, tensor<5x0xf32> outs(%i : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = attn.softmax %s axis(1) : tensor<3x5xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<3x2xf32>
  %r = attn.matmul %p, %v : tensor<3x5xf32>, tensor<5x2xf32> outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
