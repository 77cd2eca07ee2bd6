// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run %suite_target %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_80 %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_90a %s
// RUN: attn-run %s --function=split --shape=0:6x2 --fill=0:iota --shape=1:2x3 --out-shape=0:2x3x2 --print | FileCheck %s
// RUN: not attn-run %s --function=split --shape=0:6x2 --shape=1:4x2 --out-shape=0:4x2x2 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: attn-run %S/Inputs/reshape-by-argument.mlir --shape=0:2x3 --fill=1:list:3:2 --out-shape=0:3x2 --check
// RUN: not attn-run %S/Inputs/reshape-by-argument.mlir --shape=0:2x3 --fill=1:list:4:2 --out-shape=0:4x2 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RUN: not attn-run %S/Inputs/reshape-by-argument.mlir --shape=0:2x3 --fill=1:list:-2:-3 --out-shape=0:2x3 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// Several dynamic sizes in a group, which upstream's lowering of memref.expand_shape does not take, and shapes that are
// data. Row n of x is 2 n, 2 n + 1, twice that is in row n / 3, n mod 3 of the result.
// CHECK: result 0:
// CHECK-NEXT: [0, 0] 0 2
// CHECK-NEXT: [0, 1] 4 6
// CHECK-NEXT: [0, 2] 8 10
// CHECK-NEXT: [1, 0] 12 14
// SPLIT: 'tensor.expand_shape' at {{.*}}: expects sizes whose product is the source's size 6 in dimension 0, but got 8
// RESHAPE: 'tensor.reshape' at {{.*}}: expects sizes whose product is the number 6 of its elements, but got 8
// NEGATIVE: @by_argument: result 0 expects a buffer of size -2 in dimension 0

// OPTIONS @split: --shape=0:15x4 --shape=1:3x5 --out-shape=0:3x5x4
// OPTIONS @split: --shape=0:5x1 --shape=1:1x5 --out-shape=0:1x5x1
// OPTIONS @split: --shape=0:5x3 --shape=1:5x1 --out-shape=0:5x1x3
// OPTIONS @split: --shape=0:0x3 --shape=1:0x4 --out-shape=0:0x4x3
func.func @split(%x: tensor<?x?xf32>, %sizes: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %sizes, %c0 : tensor<?x?xf32>
  %s = tensor.dim %sizes, %c1 : tensor<?x?xf32>
  %d = tensor.dim %x, %c1 : tensor<?x?xf32>
  %h = tensor.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, %d] : tensor<?x?xf32> into tensor<?x?x?xf32>
  %r = arith.addf %h, %h : tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Of a computed tensor, three sizes in a group, one of them known; in bf16.
// OPTIONS @three: --shape=0:24x3 --scalar=1:4 --scalar=2:3 --out-shape=0:4x2x3x3
// OPTIONS @three: --shape=0:2x3 --scalar=1:1 --scalar=2:1 --out-shape=0:1x2x1x3
func.func @three(%x: tensor<?x3xbf16>, %b: index, %s: index) -> tensor<?x2x?x3xbf16> {
  %y = arith.addf %x, %x : tensor<?x3xbf16>
  %h = tensor.expand_shape %y [[0, 1, 2], [3]] output_shape [%b, 2, %s, 3] : tensor<?x3xbf16> into tensor<?x2x?x3xbf16>
  %r = arith.addf %h, %h : tensor<?x2x?x3xbf16>
  return %r : tensor<?x2x?x3xbf16>
}

// A part of the rows of an argument whose strides are the caller's.
// OPTIONS @of_a_slice: --shape=0:9x4 --scalar=1:2 --scalar=2:3 --out-shape=0:2x3x3
func.func @of_a_slice(%x: tensor<?x4xf32>, %b: index, %s: index) -> tensor<?x?x3xf32> {
  %n = arith.muli %b, %s : index
  %y = tensor.extract_slice %x[1, 1] [%n, 3] [1, 1] : tensor<?x4xf32> to tensor<?x3xf32>
  %h = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 3] : tensor<?x3xf32> into tensor<?x?x3xf32>
  %r = arith.addf %h, %h : tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// OPTIONS @by_elements: --shape=0:2x5x12 --out-shape=0:2x5x12
// OPTIONS @by_elements: --shape=0:4x1x12 --out-shape=0:4x1x12
// OPTIONS @by_elements: --shape=0:0x5x12 --out-shape=0:0x5x12
func.func @by_elements(%x: tensor<?x?x12xf32>) -> tensor<?x?x12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %half = arith.constant 0.5 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x12xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x12xf32>
  %split = tensor.from_elements %b, %s, %c3, %c4 : tensor<4xindex>
  %h = tensor.reshape %x(%split) : (tensor<?x?x12xf32>, tensor<4xindex>) -> tensor<?x?x3x4xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x3x4xf32>
  %o = attn.attention %h, %h, %h scale(%half) layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e))
      masks(causal<top_left>) : tensor<?x?x3x4xf32>, tensor<?x?x3x4xf32>, tensor<?x?x3x4xf32>
      outs(%e : tensor<?x?x3x4xf32>) -> tensor<?x?x3x4xf32>
  %merged = tensor.from_elements %b, %s, %c12 : tensor<3xindex>
  %r = tensor.reshape %o(%merged) : (tensor<?x?x3x4xf32>, tensor<3xindex>) -> tensor<?x?x12xf32>
  return %r : tensor<?x?x12xf32>
}

// Elements of i32, a result of one dimension.
// OPTIONS @flattened: --shape=0:3x5
func.func @flattened(%x: tensor<3x?xf64>) -> tensor<15xf64> {
  %n = arith.constant dense<15> : tensor<1xi32>
  %h = tensor.reshape %x(%n) : (tensor<3x?xf64>, tensor<1xi32>) -> tensor<15xf64>
  %r = arith.addf %h, %h : tensor<15xf64>
  return %r : tensor<15xf64>
}
