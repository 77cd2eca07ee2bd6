// RUN: attn-opt %s --attn-merge-projections=target=x86-64-v3 --split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-merge-projections=target=x86-64-v3 --split-input-file --remarks-filter=attn --remark-format=emitRemark -verify-diagnostics -o /dev/null

// Products that look alike and stay apart. Each function: two products, then something that reads the results.

// CHECK-LABEL: @other_left_operand
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @other_left_operand(%x: tensor<3x5xf32>, %x2: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%x2, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @right_of_the_other
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @right_of_the_other(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.exp ins(%p : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.exp ins(%r : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @other_element_type
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @other_element_type(%x: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf16>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: element types differ}}
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x4xf16>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @left_transposed
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @left_transposed(%x: tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %a = arith.constant dense<1.0> : tensor<5x5xf32>
  %b = arith.constant dense<2.0> : tensor<5x5xf32>
  %p = linalg.matmul ins(%x, %a : tensor<5x5xf32>, tensor<5x5xf32>) outs(%i : tensor<5x5xf32>) -> tensor<5x5xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: kinds or indexing maps differ}}
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %b : tensor<5x5xf32>, tensor<5x5xf32>) outs(%i : tensor<5x5xf32>) -> tensor<5x5xf32>
  %y = linalg.exp ins(%p : tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %z = linalg.exp ins(%r : tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %y, %z : tensor<5x5xf32>, tensor<5x5xf32>
}

// -----

// CHECK-LABEL: @one_right_operand_transposed
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @one_right_operand_transposed(%x: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<4x5xf32>
  %ew = tensor.empty() : tensor<5x4xf32>
  %t = linalg.transpose ins(%b : tensor<4x5xf32>) outs(%ew : tensor<5x4xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: transposes of the right operands differ}}
  %r = linalg.matmul ins(%x, %t : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @other_initial_value
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @other_initial_value(%x: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf32>
  %one = arith.constant 1.0 : f32
  %j = linalg.fill ins(%one : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: initial values differ}}
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%j : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// What is summed onto a tensor stays as it is.
// CHECK-LABEL: @onto_a_tensor
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @onto_a_tensor(%x: tensor<3x5xf32>, %onto: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%onto : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @one_constant
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @one_constant(%x: tensor<3x5xf32>, %w: tensor<5x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: one right operand is a constant, one is not}}
  %r = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// A slice would be copied for the return.
// CHECK-LABEL: @returned
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @returned(%x: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: 'func.return' needs its result in one piece}}
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: 'func.return' needs its result in one piece}}
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %p, %r : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @dynamic_rows
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @dynamic_rows(%x: tensor<?x5xf32>, %e: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: a size is known at run time only}}
  %p = linalg.matmul ins(%x, %a : tensor<?x5xf32>, tensor<5x4xf32>) outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-remark @below {{product is not merged with another one of the same left operand: a size is known at run time only}}
  %r = linalg.matmul ins(%x, %b : tensor<?x5xf32>, tensor<5x4xf32>) outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.exp ins(%p : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = linalg.exp ins(%r : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// To copy right operands of a run would take longer than one product saves.
// CHECK-LABEL: @run_time_operands
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @run_time_operands(%x: tensor<3x5xf32>, %a: tensor<5x4xf32>, %b: tensor<5x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{2 products of 3 x 5 x (4 + 4) (m, k, n) stay apart: one product saves about 0.02 us, costs 0.10 us; constant right operands need no copy}}
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Together the results are 4 MB, more than the caches hold until the product reads what the fill wrote.
// CHECK-LABEL: @results_larger_than_the_cache
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: tensor.extract_slice
func.func @results_larger_than_the_cache(%x: tensor<8192x64xf32>) -> (tensor<8192x64xf32>, tensor<8192x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xf32>
  %b = arith.constant dense<2.0> : tensor<64x64xf32>
  // expected-remark @below {{2 products of 8192 x 64 x (64 + 64) (m, k, n) stay apart: one product saves about 2.50 us, costs 838.86 us; its result leaves the cache}}
  %p = linalg.matmul ins(%x, %a : tensor<8192x64xf32>, tensor<64x64xf32>) outs(%i : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %r = linalg.matmul ins(%x, %b : tensor<8192x64xf32>, tensor<64x64xf32>) outs(%i : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %y = linalg.exp ins(%p : tensor<8192x64xf32>) outs(%e : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %z = linalg.exp ins(%r : tensor<8192x64xf32>) outs(%e : tensor<8192x64xf32>) -> tensor<8192x64xf32>
  return %y, %z : tensor<8192x64xf32>, tensor<8192x64xf32>
}
