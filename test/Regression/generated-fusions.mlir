// Graphs that fusion, or a fold, made wrong; attn-test-graphs found their kinds.
// RUN: attn-run %s --target=x86-64-v3 --function=pad_of_collapsed --shape=0:1x3x4 --shape=3:1x2 --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=query_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=key_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=key_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=value_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=query_broadcast_along_no_head --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=open_in_one_type --shape=0:2x3x4 --shape=1:2x7x4 --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --function=mask_of_itself --shape=3:3x5 --shape=4:6 --fill=4:range:-3:3 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=pad_of_collapsed --shape=0:1x3x4 --shape=3:1x2 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=query_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=key_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=key_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=value_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=query_broadcast_along_no_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=open_in_one_type --shape=0:2x3x4 --shape=1:2x7x4 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --function=mask_of_itself --shape=3:3x5 --shape=4:6 --fill=4:range:-3:3 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=pad_of_collapsed --shape=0:1x3x4 --shape=3:1x2 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=query_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=key_broadcast_along_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=key_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=value_broadcast_along_keys --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=query_broadcast_along_no_head --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=open_in_one_type --shape=0:2x3x4 --shape=1:2x7x4 --check | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_90a --function=mask_of_itself --shape=3:3x5 --shape=4:6 --fill=4:range:-3:3 --check | FileCheck %s
// CHECK: check: PASS

// The sizes that a collapsed tensor has in fusion were read from a list that was gone: a crash in attn-fuse.
func.func @pad_of_collapsed(%q: tensor<?x?x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>, %b: tensor<?x?xf32>)
    -> tensor<5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %flat = tensor.collapse_shape %b [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %padded = tensor.pad %flat low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<?xf32> to tensor<?xf32>
  %bias = tensor.cast %padded : tensor<?xf32> to tensor<5xf32>
  %rows = tensor.collapse_shape %q [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  %fixed = tensor.cast %rows : tensor<?x4xf32> to tensor<3x4xf32>
  %s = tensor.pad %fixed low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<5x4xf32>
  %r = func.call @biased5(%s, %k, %v, %bias) : (tensor<5x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>, tensor<5xf32>)
      -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

func.func private @biased5(%q: tensor<5x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>, %bias: tensor<5xf32>)
    -> tensor<5x2xf32> {
  %e = tensor.empty() : tensor<5x5xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<5x4xf32>, tensor<5x4xf32> outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s, %bias : tensor<5x5xf32>, tensor<5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %y = arith.addf %x, %b : f32
    linalg.yield %y : f32
  } -> tensor<5x5xf32>
  %p = attn.softmax %t axis(1) : tensor<5x5xf32> outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %f = tensor.empty() : tensor<5x2xf32>
  %r = attn.matmul %p, %v : tensor<5x5xf32>, tensor<5x2xf32> outs(%f : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// A query that is the same along headDim: fusion took what it is broadcast from for the query, without that dimension.
func.func @query_broadcast_along_head(%q: tensor<3xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %b = linalg.broadcast ins(%q : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %r = func.call @plain4(%b, %k, %v) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @key_broadcast_along_head(%q: tensor<3x4xf32>, %k: tensor<5xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %b = linalg.broadcast ins(%k : tensor<5xf32>) outs(%e : tensor<5x4xf32>) dimensions = [1]
  %r = func.call @plain4(%q, %b, %v) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @key_broadcast_along_keys(%q: tensor<3x4xf32>, %k: tensor<4xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %b = linalg.broadcast ins(%k : tensor<4xf32>) outs(%e : tensor<5x4xf32>) dimensions = [0]
  %r = func.call @plain4(%q, %b, %v) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func @value_broadcast_along_keys(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<5x2xf32>
  %b = linalg.broadcast ins(%v : tensor<2xf32>) outs(%e : tensor<5x2xf32>) dimensions = [0]
  %r = func.call @plain4(%q, %k, %b) : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

func.func private @plain4(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x2xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<3x4xf32>, tensor<5x4xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = attn.softmax %s axis(1) : tensor<3x5xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<3x2xf32>
  %r = attn.matmul %p, %v : tensor<3x5xf32>, tensor<5x2xf32> outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// The same with headDim 0, where the fused graph did not verify.
func.func @query_broadcast_along_no_head(%q: tensor<3xf32>, %k: tensor<5x0xf32>, %v: tensor<5x2xf32>)
    -> tensor<3x2xf32> {
  %h = tensor.empty() : tensor<3x0xf32>
  %b = linalg.broadcast ins(%q : tensor<3xf32>) outs(%h : tensor<3x0xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<3x5xf32>
  %s = attn.matmul %b, %k transpose_rhs : tensor<3x0xf32>, tensor<5x0xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = attn.softmax %s axis(1) : tensor<3x5xf32> outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = tensor.empty() : tensor<3x2xf32>
  %r = attn.matmul %p, %v : tensor<3x5xf32>, tensor<5x2xf32> outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// Types say less than other operands do: slices and transposes that fusion adds have the sizes that it knows.
func.func @open_in_one_type(%q: tensor<2x?x4xf32>, %k: tensor<2x?x?xf32>, %v: tensor<5x2x3xf32>) -> tensor<2x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %part = tensor.extract_slice %k[0, 1, 0] [2, 5, 4] [1, 1, 1] : tensor<2x?x?xf32> to tensor<2x5x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>,
                                        affine_map<(b, i, j, d) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %part : tensor<2x?x4xf32>, tensor<2x5x4xf32>) outs(%z : tensor<2x3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5xf32>
  %p = attn.softmax %s axis(2) : tensor<2x3x5xf32> outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %f = tensor.empty() : tensor<2x3x3xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, e, j) -> (b, i, j)>, affine_map<(b, i, e, j) -> (j, b, e)>,
                                        affine_map<(b, i, e, j) -> (b, i, e)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x3x5xf32>, tensor<5x2x3xf32>) outs(%g : tensor<2x3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}

// What folds to a splat cannot, where a size is open.
func.func @mask_of_itself(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x2xf32>, %m: tensor<3x?xi1>,
                          %n: tensor<?xi32>) -> (tensor<1x1x3x2xf32>, tensor<?xi32>) {
  %s = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<1x1x3x2xf32>
  %none = arith.xori %m, %m : tensor<3x?xi1>
  %zero = arith.subi %n, %n : tensor<?xi32>
  %all = arith.cmpi eq, %m, %m : tensor<3x?xi1>
  %keep = arith.ori %none, %all : tensor<3x?xi1>
  %a = attn.attention %q, %k, %v scale(%s) masks(boolean(%keep : tensor<3x?xi1>)) : tensor<1x1x3x4xf32>,
      tensor<1x1x5x4xf32>, tensor<1x1x5x2xf32> outs(%e : tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  return %a, %zero : tensor<1x1x3x2xf32>, tensor<?xi32>
}
