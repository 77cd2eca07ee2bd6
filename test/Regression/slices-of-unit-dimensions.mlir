// RUN: attn-run %s --function=slot --fill=0:iota --print | FileCheck %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run %suite_target %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_80 %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_90a %s

// Slices that drop one of several unit dimensions: upstream's memref.subview looks for the dropped one among the strides,
// and its patterns infer types anew and drop the first unit dimension. x[0, i, s, d] = 12 i + 4 s + d; slot 1 of row 1 is
// 16, 17, 18, 19.
// CHECK: result 0:
// CHECK-NEXT: 8 10 12 14
// CHECK-NEXT: 32 34 36 38
func.func @slot(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x4xf32> {
  %q = tensor.extract_slice %x[0, 0, 1, 0] [1, 2, 1, 4] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x4xf32>
  %r = arith.addf %q, %q : tensor<1x2x4xf32>
  return %r : tensor<1x2x4xf32>
}

func.func @slot_of_bf16(%x: tensor<1x5x3x4xbf16>) -> tensor<1x5x4xbf16> {
  %q = tensor.extract_slice %x[0, 0, 2, 0] [1, 5, 1, 4] [1, 1, 1, 1] : tensor<1x5x3x4xbf16> to tensor<1x5x4xbf16>
  %r = arith.addf %q, %q : tensor<1x5x4xbf16>
  return %r : tensor<1x5x4xbf16>
}

// OPTIONS @slot_of_i32: --fill=0:range:-9:9
func.func @slot_of_i32(%x: tensor<1x5x3x4xi32>) -> tensor<1x5x4xi32> {
  %q = tensor.extract_slice %x[0, 0, 2, 0] [1, 5, 1, 4] [1, 1, 1, 1] : tensor<1x5x3x4xi32> to tensor<1x5x4xi32>
  %r = arith.addi %q, %q : tensor<1x5x4xi32>
  return %r : tensor<1x5x4xi32>
}

func.func @in_front(%x: tensor<3x1x5x4xf32>) -> tensor<1x5x4xf32> {
  %q = tensor.extract_slice %x[2, 0, 0, 0] [1, 1, 5, 4] [1, 1, 1, 1] : tensor<3x1x5x4xf32> to tensor<1x5x4xf32>
  %r = arith.addf %q, %q : tensor<1x5x4xf32>
  return %r : tensor<1x5x4xf32>
}

func.func @last(%x: tensor<1x5x2x3xf32>) -> tensor<1x5x2xf32> {
  %q = tensor.extract_slice %x[0, 0, 0, 1] [1, 5, 2, 1] [1, 1, 1, 1] : tensor<1x5x2x3xf32> to tensor<1x5x2xf32>
  %r = arith.addf %q, %q : tensor<1x5x2xf32>
  return %r : tensor<1x5x2xf32>
}

// Two of three unit dimensions, with steps and a part of the rows.
func.func @two_of_three(%x: tensor<1x9x3x1x4xf32>) -> tensor<1x4x4xf32> {
  %q = tensor.extract_slice %x[0, 1, 1, 0, 0] [1, 4, 1, 1, 4] [1, 2, 1, 1, 1]
      : tensor<1x9x3x1x4xf32> to tensor<1x4x4xf32>
  %r = arith.addf %q, %q : tensor<1x4x4xf32>
  return %r : tensor<1x4x4xf32>
}

func.func @all_but_one(%x: tensor<1x5x1x4xf32>) -> tensor<5xf32> {
  %q = tensor.extract_slice %x[0, 0, 0, 2] [1, 5, 1, 1] [1, 1, 1, 1] : tensor<1x5x1x4xf32> to tensor<5xf32>
  %r = arith.addf %q, %q : tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @one_element(%x: tensor<1x5x4xf32>) -> tensor<f32> {
  %q = tensor.extract_slice %x[0, 3, 2] [1, 1, 1] [1, 1, 1] : tensor<1x5x4xf32> to tensor<f32>
  %r = arith.addf %q, %q : tensor<f32>
  return %r : tensor<f32>
}

// A slice of a slice, the sequence dynamic.
// OPTIONS @of_a_slice: --shape=0:1x6x3x4 --out-shape=0:1x6
// OPTIONS @of_a_slice: --shape=0:1x1x3x4 --out-shape=0:1x1
func.func @of_a_slice(%x: tensor<1x?x3x4xf32>) -> tensor<1x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x3x4xf32>
  %q = tensor.extract_slice %x[0, 0, 1, 0] [1, %n, 1, 4] [1, 1, 1, 1] : tensor<1x?x3x4xf32> to tensor<1x?x4xf32>
  %p = tensor.extract_slice %q[0, 0, 3] [1, %n, 1] [1, 1, 1] : tensor<1x?x4xf32> to tensor<1x?xf32>
  %r = arith.addf %p, %p : tensor<1x?xf32>
  return %r : tensor<1x?xf32>
}

func.func @written_back(%x: tensor<1x5x3x4xf32>, %new: tensor<1x5x4xf32>) -> tensor<1x5x3x4xf32> {
  %r = tensor.insert_slice %new into %x[0, 0, 2, 0] [1, 5, 1, 4] [1, 1, 1, 1]
      : tensor<1x5x4xf32> into tensor<1x5x3x4xf32>
  return %r : tensor<1x5x3x4xf32>
}

func.func @computed_in_place(%x: tensor<1x5x4xf32>) -> tensor<1x5x2x4xf32> {
  %e = tensor.empty() : tensor<1x5x2x4xf32>
  %twice = arith.addf %x, %x : tensor<1x5x4xf32>
  %a = tensor.insert_slice %twice into %e[0, 0, 0, 0] [1, 5, 1, 4] [1, 1, 1, 1] : tensor<1x5x4xf32> into tensor<1x5x2x4xf32>
  %b = tensor.insert_slice %x into %a[0, 0, 1, 0] [1, 5, 1, 4] [1, 1, 1, 1] : tensor<1x5x4xf32> into tensor<1x5x2x4xf32>
  return %b : tensor<1x5x2x4xf32>
}

func.func @packed_attention(%x: tensor<1x7x3x2x16xf32>) -> tensor<1x7x2x16xf32> {
  %s = arith.constant 0.25 : f32
  %q = tensor.extract_slice %x[0, 0, 0, 0, 0] [1, 7, 1, 2, 16] [1, 1, 1, 1, 1] : tensor<1x7x3x2x16xf32> to tensor<1x7x2x16xf32>
  %k = tensor.extract_slice %x[0, 0, 1, 0, 0] [1, 7, 1, 2, 16] [1, 1, 1, 1, 1] : tensor<1x7x3x2x16xf32> to tensor<1x7x2x16xf32>
  %v = tensor.extract_slice %x[0, 0, 2, 0, 0] [1, 7, 1, 2, 16] [1, 1, 1, 1, 1] : tensor<1x7x3x2x16xf32> to tensor<1x7x2x16xf32>
  %e = tensor.empty() : tensor<1x7x2x16xf32>
  %o = attn.attention %q, %k, %v scale(%s) layout(query(b, i, h, d), key(b, j, h, d), value(b, j, h, e), out(b, i, h, e)) : tensor<1x7x2x16xf32>, tensor<1x7x2x16xf32>, tensor<1x7x2x16xf32> outs(%e : tensor<1x7x2x16xf32>) -> tensor<1x7x2x16xf32>
  return %o : tensor<1x7x2x16xf32>
}

// Sizes that become constants.
// OPTIONS @token_into_cache: --shape=0:1x3x4 --shape=1:1x3x16x4 --scalar=2:7
// OPTIONS @token_into_cache: --shape=0:1x3x4 --shape=1:1x3x16x4 --scalar=2:15
func.func @token_into_cache(%x: tensor<1x?x4xf32>, %cache: tensor<1x?x16x4xf32>, %at: index) -> tensor<1x?x16x4xf32> {
  %heads = arith.constant 3 : index
  %r = tensor.insert_slice %x into %cache[0, 0, %at, 0] [1, %heads, 1, 4] [1, 1, 1, 1] : tensor<1x?x4xf32> into tensor<1x?x16x4xf32>
  return %r : tensor<1x?x16x4xf32>
}

// OPTIONS @batch_is_constant: --shape=0:1x3x4 --shape=1:1x3x16x4 --scalar=2:7
func.func @batch_is_constant(%x: tensor<?x?x4xf16>, %cache: tensor<?x?x16x4xf16>, %at: index) -> tensor<?x?x16x4xf16> {
  %one = arith.constant 1 : index
  %heads = arith.constant 3 : index
  %r = tensor.insert_slice %x into %cache[0, 0, %at, 0] [%one, %heads, 1, 4] [1, 1, 1, 1] : tensor<?x?x4xf16> into tensor<?x?x16x4xf16>
  return %r : tensor<?x?x16x4xf16>
}

// OPTIONS @token_out_of_cache: --shape=0:1x3x16x4 --scalar=1:7
func.func @token_out_of_cache(%cache: tensor<1x?x16x4xf32>, %at: index) -> tensor<1x3x4xf32> {
  %heads = arith.constant 3 : index
  %x = tensor.extract_slice %cache[0, 0, %at, 0] [1, %heads, 1, 4] [1, 1, 1, 1] : tensor<1x?x16x4xf32> to tensor<1x?x4xf32>
  %y = tensor.cast %x : tensor<1x?x4xf32> to tensor<1x3x4xf32>
  %z = arith.addf %y, %y : tensor<1x3x4xf32>
  return %z : tensor<1x3x4xf32>
}

// OPTIONS @unit_in_the_middle: --shape=0:1x2x5x2 --shape=1:1x2x1x5x2 --out-shape=0:1x2x1x5x2
func.func @unit_in_the_middle(%x: tensor<1x?x?x2xf32>, %y: tensor<1x?x1x?x2xf32>) -> tensor<1x?x1x?x2xf32> {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %r = tensor.insert_slice %x into %y[0, 0, 0, 0, 0] [1, %c2, 1, %c5, 2] [1, 1, 1, 1, 1] : tensor<1x?x?x2xf32> into tensor<1x?x1x?x2xf32>
  return %r : tensor<1x?x1x?x2xf32>
}

// A step that becomes a constant, and one head of many in a loop.
// OPTIONS @heads_in_a_loop: --shape=0:1x3x5x4
func.func @heads_in_a_loop(%x: tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %h = %c0 to %c3 step %c1 iter_args(%t = %x) -> tensor<1x3x5x4xf32> {
    %part = tensor.extract_slice %t[0, %h, 0, 0] [%c1, %c1, %c5, 4] [1, %c1, 1, 1] : tensor<1x3x5x4xf32> to tensor<?x?x?x4xf32>
    %head = tensor.extract_slice %t[0, %h, 0, 0] [1, 1, %c5, 4] [1, %c1, 1, 1] : tensor<1x3x5x4xf32> to tensor<1x?x4xf32>
    %sum = arith.addf %head, %head : tensor<1x?x4xf32>
    %u = tensor.insert_slice %sum into %t[0, %h, 0, 0] [1, 1, %c5, 4] [1, 1, 1, 1] : tensor<1x?x4xf32> into tensor<1x3x5x4xf32>
    scf.yield %u : tensor<1x3x5x4xf32>
  }
  return %r : tensor<1x3x5x4xf32>
}
