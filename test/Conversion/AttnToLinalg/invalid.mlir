// RUN: attn-opt %s --convert-attn-to-linalg --split-input-file --verify-diagnostics

func.func @memrefs(%x: memref<2x5xf32>) {
  // expected-error @below {{'attn.softmax' op expects tensors, but got memrefs; run convert-attn-to-linalg before bufferization}}
  attn.softmax %x axis(1) : memref<2x5xf32> outs(%x : memref<2x5xf32>)
  return
}

// -----

func.func @named_masks(%x: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  // expected-error @below {{'attn.mask' op expects no named masks; run attn-expand-named before convert-attn-to-linalg}}
  %0 = attn.mask %x masks(causal<top_left>) : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}
