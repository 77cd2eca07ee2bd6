// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: attn-opt %s --inline --cse --split-input-file | FileCheck %s --check-prefix=CSE

// An op on memrefs writes its outs: neither dead nor equal to another.
// CHECK-LABEL: func @memrefs_are_written(
// CHECK-COUNT-2: attn.attention
// CHECK-COUNT-2: attn.softmax
// CSE-LABEL: func @memrefs_are_written(
// CSE-COUNT-2: attn.attention
// CSE-COUNT-2: attn.softmax
func.func @memrefs_are_written(%q: memref<2x4x5x8xf32>, %k: memref<2x2x7x8xf32>, %v: memref<2x2x7x6xf32>,
                               %o: memref<2x4x5x6xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) masks(causal<top_left>)
      : memref<2x4x5x8xf32>, memref<2x2x7x8xf32>, memref<2x2x7x6xf32> outs(%o : memref<2x4x5x6xf32>)
  attn.attention %q, %k, %v scale(%s) masks(causal<top_left>)
      : memref<2x4x5x8xf32>, memref<2x2x7x8xf32>, memref<2x2x7x6xf32> outs(%o : memref<2x4x5x6xf32>)
  attn.softmax %o axis(1) : memref<2x4x5x6xf32> outs(%o : memref<2x4x5x6xf32>)
  attn.softmax %o axis(1) : memref<2x4x5x6xf32> outs(%o : memref<2x4x5x6xf32>)
  return
}

// -----

// CHECK-LABEL: func @dead_on_tensors(
// CHECK-NOT: attn.
// CHECK: return
func.func @dead_on_tensors(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                           %o: tensor<2x4x5x6xf32>, %l: tensor<2x4x5xf32>, %m: memref<5x7xi1>,
                           %mm: tensor<2x4x4xf32>, %s: f32) {
  %0:2 = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %keep = memref.load %m[%i, %j] : memref<5x7xi1>
    attn.yield %keep : i1
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
  %1 = attn.softmax %l axis(1) : tensor<2x4x5xf32> outs(%l : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %2 = attn.mask %q : tensor<2x4x5x8xf32> outs(%q : tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  %3 = attn.matmul %l, %l transpose_rhs : tensor<2x4x5xf32>, tensor<2x4x5xf32>
      outs(%mm : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

// Equal ops are one, region and all; a call in between is inlined first.
// CSE-LABEL: func @equal_ops_are_one(
// CSE-COUNT-1: attn.attention
// CSE: attn.attention {{.*}} masks(causal<bottom_right>)
// CSE-NOT: attn.attention
func.func private @half_bias(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                             %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) masks(causal<top_left>) score(%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %s : f32
    attn.yield %y : f32
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}
func.func @equal_ops_are_one(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                             %o: tensor<2x4x5x6xf32>, %s: f32)
    -> (tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>) {
  %0 = func.call @half_bias(%q, %k, %v, %o, %s) : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>,
                                                   tensor<2x4x5x6xf32>, f32) -> tensor<2x4x5x6xf32>
  %1 = func.call @half_bias(%q, %k, %v, %o, %s) : (tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>,
                                                   tensor<2x4x5x6xf32>, f32) -> tensor<2x4x5x6xf32>
  %2 = attn.attention %q, %k, %v scale(%s) masks(causal<bottom_right>) score(%x, %b, %h, %i, %j) {
    %y = arith.addf %x, %s : f32
    attn.yield %y : f32
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0, %1, %2 : tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>
}
