// RUN: attn-opt %s --attn-verify-graph --split-input-file --verify-diagnostics
// RUN: split-file %S/Inputs/reshapes.mlir %t
// RUN: not attn-run %t/numbers.mlir --target=x86-64-v3 --check 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not attn-run %t/expanded.mlir --target=x86-64-v3 --reference-output=%t.npy 2>&1 | FileCheck %s --check-prefix=EXPANDED
// RUN: attn-run %t/scalar.mlir --target=x86-64-v3 --shape=0:1x1 --fill=0:value:3 --check | FileCheck %s --check-prefix=SCALAR
// RUN: not attn-run %t/scalar.mlir --target=x86-64-v3 --shape=0:2x3 2>&1 | FileCheck %s --check-prefix=COLLAPSED
// RUN: not attn-run %t/spread.mlir --target=x86-64-v3 --scalar=1:1 --scalar=2:4 --out-shape=0:1x4 2>&1 | FileCheck %s --check-prefix=SPREAD

// Upstream's verifier passes all of these, and its passes crash, or read what is not there.
// NUMBERS: 'tensor.collapse_shape' op expects groups that name each dimension once and in order
// EXPANDED: 'tensor.expand_shape' op expects sizes of 1 where the other side has no dimensions
// SCALAR: check: PASS
// COLLAPSED: 'tensor.collapse_shape' at {{.*}}: expects a size of 1 in dimension 0, as its result has no dimensions, but got 2
// SPREAD: 'tensor.expand_shape' at {{.*}}: expects a size of 1 in dimension 1, as its source has no dimensions, but got 4

func.func @numbers_of_33_bits(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  // expected-error @below {{'tensor.collapse_shape' op expects groups that name each dimension once and in order, but got 4294967296 in place of 0}}
  %y = tensor.collapse_shape %x [[4294967296, 4294967297]] : tensor<2x3xf32> into tensor<6xf32>
  return %y : tensor<6xf32>
}

func.func @second_group(%x: tensor<2x12xf16>) -> tensor<2x3x4xf16> {
  // expected-error @below {{'tensor.expand_shape' op expects groups that name each dimension once and in order, but got 4294967298 in place of 2}}
  %y = tensor.expand_shape %x [[0], [1, 4294967298]] output_shape [2, 3, 4] : tensor<2x12xf16> into tensor<2x3x4xf16>
  return %y : tensor<2x3x4xf16>
}

func.func @six_into_one(%x: tensor<2x3xf32>) -> tensor<f32> {
  // expected-error @below {{'tensor.collapse_shape' op expects sizes of 1 where the other side has no dimensions, but got 2 in dimension 0}}
  %y = tensor.collapse_shape %x [] : tensor<2x3xf32> into tensor<f32>
  return %y : tensor<f32>
}

func.func @none_into_one(%x: tensor<1x0xf32>) -> tensor<f32> {
  // expected-error @below {{but got 0 in dimension 1}}
  %y = tensor.collapse_shape %x [] : tensor<1x0xf32> into tensor<f32>
  return %y : tensor<f32>
}

func.func @one_into_six(%x: tensor<i8>) -> tensor<1x6xi8> {
  // expected-error @below {{'tensor.expand_shape' op expects sizes of 1 where the other side has no dimensions, but got 6 in dimension 1}}
  %y = tensor.expand_shape %x [] output_shape [1, 6] : tensor<i8> into tensor<1x6xi8>
  return %y : tensor<1x6xi8>
}

// -----

func.func @fine(%x: tensor<1x1xf32>, %y: tensor<?x?xf32>) -> (tensor<f32>, tensor<f32>, tensor<1x1x1xf32>) {
  %a = tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
  %b = tensor.collapse_shape %y [] : tensor<?x?xf32> into tensor<f32>
  %c = tensor.expand_shape %b [] output_shape [1, 1, 1] : tensor<f32> into tensor<1x1x1xf32>
  return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<1x1x1xf32>
}
