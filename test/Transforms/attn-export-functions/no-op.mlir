// RUN: attn-opt %s --attn-export-functions | FileCheck %s

// CHECK: func.func private @helper(tensor<3xf32>) -> tensor<3xf32>
func.func private @helper(%a: tensor<3xf32>) -> tensor<3xf32>

// CHECK-LABEL: func.func private @private_function
// CHECK-SAME: (%[[A:.+]]: tensor<3xf32>) -> tensor<3xf32>
func.func private @private_function(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}

// Buffers and scalars stay what they are.
// CHECK-LABEL: func.func @memrefs_stay
// CHECK-SAME: (%{{.+}}: memref<3xf32>, %{{.+}}: i1, %{{.+}}: bf16) attributes {attn.results = 0 : i64}
func.func @memrefs_stay(%a: memref<3xf32>, %flag: i1, %x: bf16) {
  return
}
