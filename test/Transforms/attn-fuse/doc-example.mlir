// The example of the pass description: two contractions around a softmax that is written out, heads folded into the batch,
// the key transposed, a causal mask that is added.
// RUN: attn-opt %s --attn-fuse --canonicalize --cse --remarks-filter=attn --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: attn-run %s --check | FileCheck %s --check-prefix=NUMBERS

#row = affine_map<(n, i, j) -> (n, i)>
#all = affine_map<(n, i, j) -> (n, i, j)>

// CHECK: remark: {{.*}}fused into attention: scale 0.25, mask
// CHECK-LABEL: @causal
// CHECK-SAME: (%[[Q:.+]]: tensor<6x5x4xf32>, %[[K:.+]]: tensor<6x7x4xf32>, %[[V:.+]]: tensor<6x7x8xf32>)
// CHECK-DAG: %[[SCALE:.+]] = arith.constant 2.500000e-01 : f32
// CHECK: %[[OUT:.+]] = tensor.empty() : tensor<6x5x8xf32>
// CHECK: %[[R:.+]] = attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]])
// CHECK-SAME: layout(query(b, i, d), key(b, j, d), value(b, j, e), out(b, i, e))
// CHECK-SAME: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK: %[[KEEP:.+]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK: attn.yield %[[KEEP]] : i1
// CHECK: outs(%[[OUT]]
// CHECK-NOT: linalg
// CHECK: return %[[R]]
// NUMBERS: check: PASS
func.func @causal(%query: tensor<6x5x4xf32>, %key: tensor<6x7x4xf32>, %value: tensor<6x7x8xf32>) -> tensor<6x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %dropped = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x5x7xf32>
  %rows = tensor.empty() : tensor<6x5xf32>
  %empty_t = tensor.empty() : tensor<6x4x7xf32>
  %t = linalg.transpose ins(%key : tensor<6x7x4xf32>) outs(%empty_t : tensor<6x4x7xf32>) permutation = [0, 2, 1]
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %s = linalg.batch_matmul ins(%query, %t : tensor<6x5x4xf32>, tensor<6x4x7xf32>) outs(%s0 : tensor<6x5x7xf32>)
      -> tensor<6x5x7xf32>
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<6x5x7xf32>) outs(%e : tensor<6x5x7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %keep = arith.cmpi sle, %j, %i : index
    %bias = arith.select %keep, %zero, %dropped : f32
    %scaled = arith.mulf %x, %scale : f32
    %y = arith.addf %scaled, %bias : f32
    linalg.yield %y : f32
  } -> tensor<6x5x7xf32>
  %m0 = linalg.fill ins(%dropped : f32) outs(%rows : tensor<6x5xf32>) -> tensor<6x5xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%masked : tensor<6x5x7xf32>) outs(%m0 : tensor<6x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<6x5xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%masked, %m : tensor<6x5x7xf32>, tensor<6x5xf32>) outs(%e : tensor<6x5x7xf32>) {
  ^bb0(%x: f32, %max: f32, %o: f32):
    %difference = arith.subf %x, %max : f32
    %y = math.exp %difference : f32
    linalg.yield %y : f32
  } -> tensor<6x5x7xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<6x5xf32>) -> tensor<6x5xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<6x5x7xf32>) outs(%l0 : tensor<6x5xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.addf %x, %acc : f32
    linalg.yield %y : f32
  } -> tensor<6x5xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %l : tensor<6x5x7xf32>, tensor<6x5xf32>) outs(%e : tensor<6x5x7xf32>) {
  ^bb0(%x: f32, %sum: f32, %o: f32):
    %y = arith.divf %x, %sum : f32
    linalg.yield %y : f32
  } -> tensor<6x5x7xf32>
  %out = tensor.empty() : tensor<6x5x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%out : tensor<6x5x8xf32>) -> tensor<6x5x8xf32>
  %r = linalg.batch_matmul ins(%w, %value : tensor<6x5x7xf32>, tensor<6x7x8xf32>) outs(%o0 : tensor<6x5x8xf32>)
      -> tensor<6x5x8xf32>
  return %r : tensor<6x5x8xf32>
}
