// Upstream's verifiers refuse constant offsets at the end of a dimension, also of slices without elements, groups that
// join 0 with an open size, and named ops whose operands tell different sizes: passes leave none of these.
// RUN: attn-opt %s --attn-compile=target=x86-64-v3 -o /dev/null
// RUN: attn-run %s --function=pad_of_nothing --target=x86-64-v3 --check --print | FileCheck %s --check-prefix=PAD
// RUN: attn-run %s --function=slice_of_nothing --target=x86-64-v3 --shape=0:0x4 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=insert_of_nothing --target=x86-64-v3 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=joined --target=x86-64-v3 --shape=0:0x3x2 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=reduced --target=x86-64-v3 --shape=0:3x2x6 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=no_head_size --target=x86-64-v3 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-opt %s --attn-canonicalize | FileCheck %s --check-prefix=CANON
// PASS: check: PASS

// Two rows of 7: the padded tensor has none.
// PAD: [0] 7
// PAD-NEXT: [1] 7
// PAD: check: PASS
func.func @pad_of_nothing(%x: tensor<2x0xf32>) -> tensor<2x1xf32> {
  %seven = arith.constant 7.0 : f32
  %r = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : f32
  } : tensor<2x0xf32> to tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// The offset stays open: the tensor has no element 0.
// CANON-LABEL: func.func @slice_of_nothing
// CANON: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%{{.*}}, 4] [1, 1] : tensor<0x4xf32> to tensor<?x4xf32>
func.func @slice_of_nothing(%x: tensor<0x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0 : index
  %r = tensor.extract_slice %x[%zero, 0] [%zero, 4] [1, 1] : tensor<0x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @insert_of_nothing(%x: tensor<0x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0 : index
  %end = arith.constant 3 : index
  %r = tensor.insert_slice %x into %y[%end, 0] [0, 4] [1, 1] : tensor<0x4xf32> into tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

func.func @joined(%x: tensor<0x?x2xf32>) -> tensor<?x2xf32> {
  %r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<0x?x2xf32> into tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// CANON-LABEL: func.func @reduced
// CANON: linalg.reduce {{.*}} ins(%{{.*}} : tensor<3x?x6xf32>) outs(%{{.*}} : tensor<3x?xf32>)
func.func @reduced(%x: tensor<3x?x6xf32>) -> tensor<3x?xf32> {
  %two = arith.constant 2 : index
  %empty = tensor.empty(%two) : tensor<3x?xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x?xf32>) -> tensor<3x?xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<3x?x6xf32>) outs(%start : tensor<3x?xf32>) dimensions = [2]
  return %r : tensor<3x?xf32>
}

func.func @no_head_size(%q: tensor<2x3x5x0xf32>, %v: tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<2x3x5x2xf32>
  %r = attn.attention %q, %q, %v scale(%scale) : tensor<2x3x5x0xf32>, tensor<2x3x5x0xf32>, tensor<2x3x5x2xf32>
      outs(%init : tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  return %r : tensor<2x3x5x2xf32>
}
