// RUN: attn-opt %s --convert-linalg-to-cpu=target=x86-64-v3 --canonicalize --remarks-filter=attn --remark-format=emitRemark 2>&1 | FileCheck %s
// REQUIRES: x86-64

// The right operand is copied in panels of 16 columns; 6 x 16 sums are in registers.
// CHECK: remark: {{.*}}matrix product 512 x 768 x 768 (m, n, k), 1 of them: register blocks of 6 x 16, items of 126 x {{[0-9]+}}; the right operand is copied, 256 of k at a time; in parallel
// CHECK-LABEL: @product
// CHECK-SAME: %[[A:[^:]+]]: memref<512x768xf32>, %[[B:[^:]+]]: memref<768x768xf32>, %[[C:[^:]+]]: memref<512x768xf32>
// CHECK: scf.forall (%[[N0:.+]], %[[M0:.+]]) = (0, 0) to (768, 512) step ({{[0-9]+}}, 126)
// CHECK: %[[PANELS:.+]] = memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}x256x16xf32>
// CHECK: scf.for %{{.+}} = %c0 to %c768 step %c256
// CHECK: vector.load %[[B]]
// CHECK: vector.store %{{.+}}, %[[PANELS]]
// CHECK: scf.for %[[K:.+]] = %{{.+}} to %{{.+}} step %c1 iter_args({{.+}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: %[[RIGHT:.+]] = vector.load %[[PANELS]]
// CHECK: %[[LEFT:.+]] = memref.load %[[A]][%{{.+}}, %[[K]]]
// CHECK: %[[WIDE:.+]] = vector.broadcast %[[LEFT]] : f32 to vector<16xf32>
// CHECK: vector.fma %[[WIDE]], %[[RIGHT]]
// CHECK-COUNT-5: vector.fma
// CHECK-NOT: vector.maskedstore
func.func @product(%a: memref<512x768xf32>, %b: memref<768x768xf32>, %c: memref<512x768xf32>) {
  linalg.matmul ins(%a, %b : memref<512x768xf32>, memref<768x768xf32>) outs(%c : memref<512x768xf32>)
  return
}
