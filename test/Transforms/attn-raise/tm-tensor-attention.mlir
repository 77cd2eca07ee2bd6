// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise | FileCheck %s

// headDim 16: 1 / sqrt(16).
// CHECK-LABEL: func @default_scale_and_float_mask
// CHECK-SAME: %[[M:[^:]+]]: tensor<6x7x9xf32>
// CHECK: %[[SCALE:.+]] = arith.constant 2.500000e-01 : f32
// CHECK: attn.attention {{.*}} scale(%[[SCALE]])
// CHECK-SAME: scores(additive(%[[M]] : tensor<6x7x9xf32>))
// CHECK-NOT: tm_tensor
func.func @default_scale_and_float_mask(%q: tensor<6x7x16xf32>, %k: tensor<6x9x16xf32>, %v: tensor<6x9x5xf32>,
                                        %m: tensor<6x7x9xf32>, %o: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  %r = "tm_tensor.attention"(%q, %k, %v, %m, %o) <{operandSegmentSizes = array<i32: 4, 1>}>
      : (tensor<6x7x16xf32>, tensor<6x9x16xf32>, tensor<6x9x5xf32>, tensor<6x7x9xf32>, tensor<6x7x5xf32>)
      -> tensor<6x7x5xf32>
  return %r : tensor<6x7x5xf32>
}

// The default layout is not written.
// CHECK-LABEL: func @rank_4_of_f64
// CHECK: %[[SCALE:.+]] = arith.constant 5.000000e-01 : f64
// CHECK: attn.attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} scale(%[[SCALE]] : f64) : tensor<2x3x7x4xf64>
func.func @rank_4_of_f64(%q: tensor<2x3x7x4xf64>, %k: tensor<2x3x9x4xf64>, %v: tensor<2x3x9x5xf64>,
                         %o: tensor<2x3x7x5xf64>) -> tensor<2x3x7x5xf64> {
  %r = "tm_tensor.attention"(%q, %k, %v, %o) <{operandSegmentSizes = array<i32: 3, 1>}>
      : (tensor<2x3x7x4xf64>, tensor<2x3x9x4xf64>, tensor<2x3x9x5xf64>, tensor<2x3x7x5xf64>) -> tensor<2x3x7x5xf64>
  return %r : tensor<2x3x7x5xf64>
}

// 1 / sqrt(max(headDim, 1)) at run time.
// CHECK-LABEL: func @dynamic_sizes
// CHECK-SAME: %[[Q:[^:]+]]: tensor<?x?x?xf32>
// CHECK: %[[DIM:.+]] = tensor.dim %[[Q]], %{{.+}} : tensor<?x?x?xf32>
// CHECK: %[[SIZE:.+]] = arith.maxsi %[[DIM]], %{{.+}} : index
// CHECK: %[[WIDE:.+]] = arith.index_cast %[[SIZE]] : index to i64
// CHECK: %[[REAL:.+]] = arith.sitofp %[[WIDE]] : i64 to f32
// CHECK: %[[ROOT:.+]] = math.sqrt %[[REAL]] : f32
// CHECK: %[[SCALE:.+]] = arith.divf %{{.+}}, %[[ROOT]] : f32
// CHECK: attn.attention {{.*}} scale(%[[SCALE]])
func.func @dynamic_sizes(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>, %o: tensor<?x?x?xf32>)
    -> tensor<?x?x?xf32> {
  %r = "tm_tensor.attention"(%q, %k, %v, %o) <{operandSegmentSizes = array<i32: 3, 1>}>
      : (tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
