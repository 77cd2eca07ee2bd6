// RUN: attn-opt %s --attn-insert-checks | FileCheck %s

// Static types, constant indices and divisors, sizes asked of tensors: nothing is left to the run.
// CHECK-LABEL: func @settled(
// CHECK-NOT: cf.assert
// CHECK-NOT: flash.require
// CHECK: return
func.func @settled(%x: tensor<6xf32>, %y: tensor<6xf32>, %z: tensor<?xf32>, %n: index) -> (tensor<6xf32>, index) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %r = linalg.add ins(%x, %y : tensor<6xf32>, tensor<6xf32>) outs(%x : tensor<6xf32>) -> tensor<6xf32>
  %i = tensor.insert_slice %r into %y[0] [6] [1] : tensor<6xf32> into tensor<6xf32>
  %w = tensor.cast %i : tensor<6xf32> to tensor<?xf32>
  %m = tensor.dim %z, %c0 : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %q = arith.divui %n, %c5 : index
  return %i, %q : tensor<6xf32>, index
}

// Regions of attention hold pure operations: their reads are clamped, not checked.
// CHECK-LABEL: func @regions(
// CHECK-NOT: cf.assert
// CHECK-NOT: flash.require
// CHECK: return
func.func @regions(%q: tensor<1x2x5x8xf32>, %t: tensor<?xf32>, %o: tensor<1x2x5x8xf32>, %s: f32) -> tensor<1x2x5x8xf32> {
  %0 = attn.attention %q, %q, %q scale(%s)
      score(%x, %b, %h, %i, %j) {
        %v = tensor.extract %t[%j] : tensor<?xf32>
        attn.yield %v : f32
      } where(%b, %h, %i, %j) {
        %r = arith.remui %i, %j : index
        %keep = arith.cmpi sle, %r, %j : index
        attn.yield %keep : i1
      } : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
        outs(%o : tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %0 : tensor<1x2x5x8xf32>
}
