// RUN: attn-opt %s --allow-unregistered-dialect --attn-raise --remarks-filter=attn --remark-format=emitRemark \
// RUN:   --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @mask_scale_and_grouped_heads
// CHECK-SAME: (%[[Q:.+]]: !torch.vtensor<[2,6,7,4],f32>, %[[K:.+]]: !torch.vtensor<[2,3,9,4],f32>, %[[V:.+]]: !torch.vtensor<[2,3,9,5],f32>, %[[M:.+]]: !torch.vtensor<[2,1,7,9],i1>)
// CHECK-DAG: %[[TQ:.+]] = builtin.unrealized_conversion_cast %[[Q]] : !torch.vtensor<[2,6,7,4],f32> to tensor<2x6x7x4xf32>
// CHECK-DAG: %[[TM:.+]] = builtin.unrealized_conversion_cast %[[M]] : !torch.vtensor<[2,1,7,9],i1> to tensor<2x1x7x9xi1>
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 3.000000e-01 : f32
// CHECK: %[[R:.+]] = attn.attention %[[TQ]], {{.*}} scale(%[[SCALE]]) masks(boolean(%[[TM]] : tensor<2x1x7x9xi1>))
// CHECK-SAME: -> tensor<2x6x7x5xf32>
// CHECK: %[[OUT:.+]] = builtin.unrealized_conversion_cast %[[R]] : tensor<2x6x7x5xf32> to !torch.vtensor<[2,6,7,5],f32>
// CHECK: "torch.aten.relu"(%[[OUT]])
func.func @mask_scale_and_grouped_heads(
    %q: !torch.vtensor<[2,6,7,4],f32>, %k: !torch.vtensor<[2,3,9,4],f32>, %v: !torch.vtensor<[2,3,9,5],f32>,
    %m: !torch.vtensor<[2,1,7,9],i1>) -> !torch.vtensor<[2,6,7,5],f32> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %scale = "torch.constant.float"() <{value = 0.3 : f64}> : () -> !torch.float
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %r = "torch.aten.scaled_dot_product_attention"(%q, %k, %v, %m, %zero, %false, %scale, %true)
      : (!torch.vtensor<[2,6,7,4],f32>, !torch.vtensor<[2,3,9,4],f32>, !torch.vtensor<[2,3,9,5],f32>,
         !torch.vtensor<[2,1,7,9],i1>, !torch.float, !torch.bool, !torch.float, !torch.bool)
      -> !torch.vtensor<[2,6,7,5],f32>
  %s = "torch.aten.relu"(%r) : (!torch.vtensor<[2,6,7,5],f32>) -> !torch.vtensor<[2,6,7,5],f32>
  return %s : !torch.vtensor<[2,6,7,5],f32>
}

// torch counts the diagonal from the top left. Sizes of the result that only the run knows are the query's.
// CHECK-LABEL: func @causal_of_rank_3
// CHECK: %[[TQ:.+]] = builtin.unrealized_conversion_cast %{{.+}} to tensor<6x?x4xf32>
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: %[[LEN:.+]] = tensor.dim %[[TQ]], %{{.+}}
// CHECK: tensor.empty(%[[LEN]]) : tensor<6x?x5xf32>
// CHECK: attn.attention {{.*}} layout(query(h, i, d), key(h, j, d), value(h, j, e), out(h, i, e)) masks(causal<top_left>)
func.func @causal_of_rank_3(%q: !torch.vtensor<[6,?,4],f32>, %k: !torch.vtensor<[6,9,4],f32>,
                            %v: !torch.vtensor<[6,9,5],f32>) -> !torch.vtensor<[6,?,5],f32> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  %true = "torch.constant.bool"() <{value = true}> : () -> !torch.bool
  %r = "torch.aten.scaled_dot_product_attention"(%q, %k, %v, %none, %zero, %true, %none, %false)
      : (!torch.vtensor<[6,?,4],f32>, !torch.vtensor<[6,9,4],f32>, !torch.vtensor<[6,9,5],f32>, !torch.none,
         !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[6,?,5],f32>
  return %r : !torch.vtensor<[6,?,5],f32>
}

// CHECK-LABEL: func @dropout_stays
// CHECK: "torch.aten.scaled_dot_product_attention"
func.func @dropout_stays(%q: !torch.vtensor<[6,7,4],f32>) -> !torch.vtensor<[6,7,4],f32> {
  %half = "torch.constant.float"() <{value = 0.5 : f64}> : () -> !torch.float
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark@below {{not raised: its dropout is not the constant 0}}
  %r = "torch.aten.scaled_dot_product_attention"(%q, %q, %q, %none, %half, %false, %none, %false)
      : (!torch.vtensor<[6,7,4],f32>, !torch.vtensor<[6,7,4],f32>, !torch.vtensor<[6,7,4],f32>, !torch.none,
         !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[6,7,4],f32>
  return %r : !torch.vtensor<[6,7,4],f32>
}

// CHECK-LABEL: func @run_time_scale_stays
// CHECK: "torch.aten.scaled_dot_product_attention"
func.func @run_time_scale_stays(%q: !torch.vtensor<[6,7,4],f32>, %scale: !torch.float) -> !torch.vtensor<[6,7,4],f32> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark@below {{not raised: its scale is neither a constant nor none}}
  %r = "torch.aten.scaled_dot_product_attention"(%q, %q, %q, %none, %zero, %false, %scale, %false)
      : (!torch.vtensor<[6,7,4],f32>, !torch.vtensor<[6,7,4],f32>, !torch.vtensor<[6,7,4],f32>, !torch.none,
         !torch.float, !torch.bool, !torch.float, !torch.bool) -> !torch.vtensor<[6,7,4],f32>
  return %r : !torch.vtensor<[6,7,4],f32>
}

// CHECK-LABEL: func @broadcast_stays
// CHECK: "torch.aten.scaled_dot_product_attention"
func.func @broadcast_stays(%q: !torch.vtensor<[2,6,7,4],f32>, %k: !torch.vtensor<[1,6,9,4],f32>)
    -> !torch.vtensor<[2,6,7,4],f32> {
  %zero = "torch.constant.float"() <{value = 0.0 : f64}> : () -> !torch.float
  %none = "torch.constant.none"() : () -> !torch.none
  %false = "torch.constant.bool"() <{value = false}> : () -> !torch.bool
  // expected-remark@below {{not raised: its operands differ in rank or batch}}
  %r = "torch.aten.scaled_dot_product_attention"(%q, %k, %k, %none, %zero, %false, %none, %false)
      : (!torch.vtensor<[2,6,7,4],f32>, !torch.vtensor<[1,6,9,4],f32>, !torch.vtensor<[1,6,9,4],f32>, !torch.none,
         !torch.float, !torch.bool, !torch.none, !torch.bool) -> !torch.vtensor<[2,6,7,4],f32>
  return %r : !torch.vtensor<[2,6,7,4],f32>
}
