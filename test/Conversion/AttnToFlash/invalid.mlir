// RUN: attn-opt %s --convert-attn-to-flash=target=x86-64-v3 --split-input-file --verify-diagnostics

func.func @tensors(%q: tensor<1x1x4x8xf32>, %o: tensor<1x1x4x8xf32>, %s: f32) -> tensor<1x1x4x8xf32> {
  // expected-error @below {{expects memrefs in convert-attn-to-flash, but got tensors; bufferize first}}
  %r = attn.attention %q, %q, %q scale(%s) : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>
    outs(%o : tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  return %r : tensor<1x1x4x8xf32>
}

// -----

func.func @named(%q: memref<1x1x4x8xf32>, %o: memref<1x1x4x8xf32>, %s: f32) {
  // expected-error @below {{run attn-expand-named first}}
  attn.attention %q, %q, %q scale(%s) masks(causal) : memref<1x1x4x8xf32>, memref<1x1x4x8xf32>, memref<1x1x4x8xf32>
    outs(%o : memref<1x1x4x8xf32>)
  return
}
