// Upstream's verifier takes the dimensions of a group modulo 2^32; passes count them.
// RUN: attn-opt %s --attn-insert-checks --attn-merge-projections | FileCheck %s
// RUN: attn-opt %s --attn-fuse | FileCheck %s --check-prefix=FUSE
// RUN: not attn-opt %s --attn-compile=target=x86-64-v3 2>&1 | FileCheck %s --check-prefix=REFUSED
// CHECK-LABEL: func.func @expanded
// CHECK: flash.require
// FUSE-LABEL: func.func @expanded
// REFUSED: error: 'tensor.expand_shape' op expects groups that name each dimension once and in order, but got 4611686018427387904 in place of 0
func.func @expanded(%x: tensor<?x3xf32>, %n: index, %m: index) -> tensor<?x2x?x3xf32> {
  %r = tensor.expand_shape %x [[4611686018427387904, 1, 2], [3]] output_shape [%n, 2, %m, 3]
      : tensor<?x3xf32> into tensor<?x2x?x3xf32>
  return %r : tensor<?x2x?x3xf32>
}
