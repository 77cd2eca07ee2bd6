// RUN: attn-opt %s --attn-merge-projections=target=x86-64-v3 --split-input-file | FileCheck %s
// RUN: not attn-opt %s --attn-merge-projections=target=abacus --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}abacus

// Right operands behind a transpose are put together in front of one.
// CHECK-LABEL: @behind_a_transpose
// CHECK: %[[W:.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK: %[[T:.+]] = linalg.transpose ins(%[[W]] : tensor<3x2xf32>) outs({{.*}} : tensor<2x3xf32>) permutation = [1, 0]
// CHECK: linalg.matmul ins(%{{.+}}, %[[T]] : tensor<7x2xf32>, tensor<2x3xf32>)
// CHECK-NOT: linalg.matmul
func.func @behind_a_transpose(%x: tensor<7x2xf32>) -> (tensor<7x1xf32>, tensor<7x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = arith.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %ea = tensor.empty() : tensor<2x1xf32>
  %eb = tensor.empty() : tensor<2x2xf32>
  %ta = linalg.transpose ins(%a : tensor<1x2xf32>) outs(%ea : tensor<2x1xf32>) permutation = [1, 0]
  %tb = linalg.transpose ins(%b : tensor<2x2xf32>) outs(%eb : tensor<2x2xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<7x1xf32>
  %e2 = tensor.empty() : tensor<7x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<7x1xf32>) -> tensor<7x1xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x2xf32>) -> tensor<7x2xf32>
  %p = linalg.matmul ins(%x, %ta : tensor<7x2xf32>, tensor<2x1xf32>) outs(%i1 : tensor<7x1xf32>) -> tensor<7x1xf32>
  %r = linalg.matmul ins(%x, %tb : tensor<7x2xf32>, tensor<2x2xf32>) outs(%i2 : tensor<7x2xf32>) -> tensor<7x2xf32>
  %y = linalg.exp ins(%p : tensor<7x1xf32>) outs(%e1 : tensor<7x1xf32>) -> tensor<7x1xf32>
  %z = linalg.exp ins(%r : tensor<7x2xf32>) outs(%e2 : tensor<7x2xf32>) -> tensor<7x2xf32>
  return %y, %z : tensor<7x1xf32>, tensor<7x2xf32>
}

// -----

// Contractions as linalg.generic into heads; a constant of one value, and one in a resource: 1.0 and 2.0.
// CHECK-LABEL: @into_heads
// CHECK: arith.constant dense<{{\[\[\[}}5.000000e-01], [5.000000e-01], [1.000000e+00]], {{\[\[}}5.000000e-01], [5.000000e-01], [2.000000e+00]]]> : tensor<2x3x1xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.+}}, %{{.+}} : tensor<7x2xf32>, tensor<2x3x1xf32>) outs(%{{.+}} : tensor<7x3x1xf32>)
// CHECK: tensor.extract_slice %{{.+}}[0, 0, 0] [7, 2, 1] [1, 1, 1]
// CHECK: tensor.extract_slice %{{.+}}[0, 2, 0] [7, 1, 1] [1, 1, 1]
#left = affine_map<(m, h, d, k) -> (m, k)>
#right = affine_map<(m, h, d, k) -> (k, h, d)>
#out = affine_map<(m, h, d, k) -> (m, h, d)>
func.func @into_heads(%x: tensor<7x2xf32>) -> (tensor<7x2x1xf32>, tensor<7x1x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<0.5> : tensor<2x2x1xf32>
  %b = arith.constant dense_resource<weights> : tensor<2x1x1xf32>
  %e1 = tensor.empty() : tensor<7x2x1xf32>
  %e2 = tensor.empty() : tensor<7x1x1xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<7x2x1xf32>) -> tensor<7x2x1xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x1x1xf32>) -> tensor<7x1x1xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %a : tensor<7x2xf32>, tensor<2x2x1xf32>) outs(%i1 : tensor<7x2x1xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<7x2x1xf32>
  %q = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %b : tensor<7x2xf32>, tensor<2x1x1xf32>) outs(%i2 : tensor<7x1x1xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<7x1x1xf32>
  %y = linalg.exp ins(%p : tensor<7x2x1xf32>) outs(%e1 : tensor<7x2x1xf32>) -> tensor<7x2x1xf32>
  %z = linalg.exp ins(%q : tensor<7x1x1xf32>) outs(%e2 : tensor<7x1x1xf32>) -> tensor<7x1x1xf32>
  return %y, %z : tensor<7x2x1xf32>, tensor<7x1x1xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}

// -----

// Narrow right operands of the run: 8 of 16 lanes of each would be idle, so copies pay.
// CHECK-LABEL: @narrow_at_run_time
// CHECK-SAME: %[[X:[^:]+]]: tensor<2048x256xf32>, %[[A:[^:]+]]: tensor<256x8xf32>, %[[B:[^:]+]]: tensor<256x8xf32>
// CHECK: %[[W0:.+]] = tensor.insert_slice %[[A]] into %{{.+}}[0, 0] [256, 8] [1, 1] : tensor<256x8xf32> into tensor<256x16xf32>
// CHECK: %[[W:.+]] = tensor.insert_slice %[[B]] into %[[W0]][0, 8] [256, 8] [1, 1] : tensor<256x8xf32> into tensor<256x16xf32>
// CHECK: linalg.matmul ins(%[[X]], %[[W]] :
func.func @narrow_at_run_time(%x: tensor<2048x256xf32>, %a: tensor<256x8xf32>, %b: tensor<256x8xf32>) -> (tensor<2048x8xf32>, tensor<2048x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  %p = linalg.matmul ins(%x, %a : tensor<2048x256xf32>, tensor<256x8xf32>) outs(%i : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  %r = linalg.matmul ins(%x, %b : tensor<2048x256xf32>, tensor<256x8xf32>) outs(%i : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  %y = linalg.exp ins(%p : tensor<2048x8xf32>) outs(%e : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  %z = linalg.exp ins(%r : tensor<2048x8xf32>) outs(%e : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  return %y, %z : tensor<2048x8xf32>, tensor<2048x8xf32>
}

// -----

// Constants of one and the same value stay small.
// CHECK-LABEL: @one_value
// CHECK: arith.constant dense<5.000000e-01> : tensor<5x6xf32>
func.func @one_value(%x: tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<0.5> : tensor<5x4xf32>
  %b = arith.constant dense<0.5> : tensor<5x2xf32>
  %e1 = tensor.empty() : tensor<3x4xf32>
  %e2 = tensor.empty() : tensor<3x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i1 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x2xf32>) outs(%i2 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = linalg.exp ins(%p : tensor<3x4xf32>) outs(%e1 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = linalg.exp ins(%r : tensor<3x2xf32>) outs(%e2 : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y, %z : tensor<3x4xf32>, tensor<3x2xf32>
}

// -----

// A slice of the columns keeps its rows as they are: a batch of one may be dropped, columns may not join rows.
// CHECK-LABEL: @collapsed
// CHECK: linalg.batch_matmul ins(%{{.+}}, %{{.+}} : tensor<1x3x5xf32>, tensor<1x5x6xf32>)
// CHECK: %[[P:.+]] = tensor.extract_slice %{{.+}}[0, 0, 0] [1, 3, 4] [1, 1, 1]
// CHECK: tensor.collapse_shape %[[P]] {{\[\[}}0, 1], [2]]
func.func @collapsed(%x: tensor<1x3x5xf32>) -> (tensor<3x4xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<1.0> : tensor<1x5x4xf32>
  %b = arith.constant dense<2.0> : tensor<1x5x2xf32>
  %e1 = tensor.empty() : tensor<1x3x4xf32>
  %e2 = tensor.empty() : tensor<1x3x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %p = linalg.batch_matmul ins(%x, %a : tensor<1x3x5xf32>, tensor<1x5x4xf32>) outs(%i1 : tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %r = linalg.batch_matmul ins(%x, %b : tensor<1x3x5xf32>, tensor<1x5x2xf32>) outs(%i2 : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %y = tensor.collapse_shape %p [[0, 1], [2]] : tensor<1x3x4xf32> into tensor<3x4xf32>
  %z = tensor.collapse_shape %r [[0, 1], [2]] : tensor<1x3x2xf32> into tensor<3x2xf32>
  %ey = tensor.empty() : tensor<3x4xf32>
  %ez = tensor.empty() : tensor<3x2xf32>
  %u = linalg.exp ins(%y : tensor<3x4xf32>) outs(%ey : tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = linalg.exp ins(%z : tensor<3x2xf32>) outs(%ez : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %u, %v : tensor<3x4xf32>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @columns_joined_with_rows
// CHECK-COUNT-2: linalg.matmul
func.func @columns_joined_with_rows(%x: tensor<3x5xf32>) -> (tensor<12xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<1.0> : tensor<5x4xf32>
  %b = arith.constant dense<2.0> : tensor<5x2xf32>
  %e1 = tensor.empty() : tensor<3x4xf32>
  %e2 = tensor.empty() : tensor<3x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %p = linalg.matmul ins(%x, %a : tensor<3x5xf32>, tensor<5x4xf32>) outs(%i1 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%x, %b : tensor<3x5xf32>, tensor<5x2xf32>) outs(%i2 : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = tensor.collapse_shape %p [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %z = tensor.collapse_shape %r [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %ey = tensor.empty() : tensor<12xf32>
  %ez = tensor.empty() : tensor<6xf32>
  %u = linalg.exp ins(%y : tensor<12xf32>) outs(%ey : tensor<12xf32>) -> tensor<12xf32>
  %v = linalg.exp ins(%z : tensor<6xf32>) outs(%ez : tensor<6xf32>) -> tensor<6xf32>
  return %u, %v : tensor<12xf32>, tensor<6xf32>
}
