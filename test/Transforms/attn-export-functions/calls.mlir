// RUN: attn-opt %s --attn-export-functions | FileCheck %s

// Calls go to a private copy with the old signature; the exported function itself is called by nobody.
// CHECK-LABEL: func.func @callee
// CHECK-SAME: memref<3xf32
// CHECK-LABEL: func.func private @callee__private
// CHECK-SAME: tensor<3xf32>) -> tensor<3xf32>
func.func @callee(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK: call @callee__private(
// CHECK-NOT: call @callee(
func.func @caller(%a: tensor<3xf32>) -> tensor<3xf32> {
  %r = call @callee(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
