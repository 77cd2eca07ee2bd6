// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// attn.attention is left alone, on memrefs and with named masks too.
// CHECK-LABEL: func @attention(
// CHECK-NEXT: attn.attention {{.*}} masks(causal<top_left>)
// CHECK-NEXT: return
func.func @attention(%q: memref<2x4x5x8xf32>, %k: memref<2x2x7x8xf32>, %v: memref<2x2x7x6xf32>,
                     %o: memref<2x4x5x6xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) masks(causal<top_left>)
      : memref<2x4x5x8xf32>, memref<2x2x7x8xf32>, memref<2x2x7x6xf32> outs(%o : memref<2x4x5x6xf32>)
  return
}
