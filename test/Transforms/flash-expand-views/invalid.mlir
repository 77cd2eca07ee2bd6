// RUN: attn-opt %s --flash-expand-views --verify-diagnostics

// expected-error @below {{expects a buffer with strides, but got 'memref<4x4xf32,}}
func.func @no_strides(%x: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>>) -> memref<2xf32> {
  %y = memref.reinterpret_cast %x to offset: [0], sizes: [2], strides: [1]
      : memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>> to memref<2xf32>
  return %y : memref<2xf32>
}
