// RUN: attn-opt %s --convert-attn-to-linalg --split-input-file | FileCheck %s

// Maximum, exp, sum, division over the middle axis, in f32; one rounding, in the last loop.
// CHECK-DAG: #[[FULL:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[ROW:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func @middle_axis_of_f16(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x?x5xf16>, %[[O:[^:]+]]: tensor<2x?x5xf16>
// CHECK: %[[INF:.+]] = arith.constant 0xFF800000 : f32
// CHECK: %[[M0:.+]] = linalg.fill ins(%[[INF]] : f32) outs(%{{.+}} : tensor<2x5xf32>)
// CHECK: %[[MAX:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[X]] : {{.*}}) outs(%[[M0]] :
// CHECK: arith.extf %{{.+}} : f16 to f32
// CHECK: arith.maximumf
// CHECK: %[[EXPS:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]], #[[FULL]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[X]], %[[MAX]] : {{.*}}) outs(%{{.+}} : tensor<2x?x5xf32>)
// CHECK-NEXT: ^bb0(%[[S:.+]]: f16, %[[M:.+]]: f32, %{{.+}}: f32):
// CHECK-DAG: %[[LOWEST:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[DEAD:.+]] = arith.cmpf oeq, %[[M]], %[[LOWEST]] : f32
// CHECK: %[[SHIFT:.+]] = arith.select %[[DEAD]], %[[ZERO]], %[[M]] : f32
// CHECK: %[[W:.+]] = arith.extf %[[S]] : f16 to f32
// CHECK: %[[D:.+]] = arith.subf %[[W]], %[[SHIFT]] : f32
// CHECK: math.exp %[[D]] : f32
// CHECK: %[[SUM:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[EXPS]] :
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[EXPS]], %[[SUM]] : {{.*}}) outs(%[[O]] : tensor<2x?x5xf16>)
// CHECK-NEXT: ^bb0(%[[E:.+]]: f32, %[[L:.+]]: f32, %{{.+}}: f16):
// CHECK: %[[Q:.+]] = arith.divf %[[E]], %[[L]] : f32
// CHECK: %[[G:.+]] = arith.select %{{.+}}, %{{.+}}, %[[Q]] : f32
// CHECK: arith.truncf %[[G]] : f32 to f16
func.func @middle_axis_of_f16(%x: tensor<2x?x5xf16>, %o: tensor<2x?x5xf16>) -> tensor<2x?x5xf16> {
  %0 = attn.softmax %x axis(1) : tensor<2x?x5xf16> outs(%o : tensor<2x?x5xf16>) -> tensor<2x?x5xf16>
  return %0 : tensor<2x?x5xf16>
}

// -----

// CHECK-LABEL: func @rank_1_of_f64(
// CHECK: linalg.fill {{.*}} outs(%{{.+}} : tensor<f64>)
// CHECK: math.exp %{{.+}} : f64
// CHECK-NOT: arith.truncf
func.func @rank_1_of_f64(%x: tensor<0xf64>) -> tensor<0xf64> {
  %0 = attn.softmax %x axis(0) : tensor<0xf64> outs(%x : tensor<0xf64>) -> tensor<0xf64>
  return %0 : tensor<0xf64>
}
