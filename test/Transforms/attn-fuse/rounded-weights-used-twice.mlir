// The graph rounds its weights to bf16, and uses them beside the product, too: attention's are f32, and are rounded.
// RUN: attn-opt %s --attn-raise --attn-fuse | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --target=x86-64-v3 --check --attn-verify-fusion | FileCheck %s --check-prefix=PASS
// CHECK: attn.attention
// CHECK: arith.truncf {{.*}}xf32> to tensor<{{.*}}xbf16>
// PASS: check: PASS result 0
// PASS: check: PASS result 1
func.func @weights(%q: tensor<2x6x4xbf16>, %k: tensor<2x6x4xbf16>, %v: tensor<2x6x4xbf16>)
    -> (tensor<2x6x4xbf16>, tensor<2x6x6xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %scale = arith.constant 0.5 : bf16
  %e = tensor.empty() : tensor<2x6x6xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x6x6xbf16>) -> tensor<2x6x6xbf16>
  %dots = linalg.generic {indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                                           affine_map<(h, i, j, d) -> (h, i, j)>],
                          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x6x4xbf16>, tensor<2x6x4xbf16>) outs(%z : tensor<2x6x6xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %a: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %a, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<2x6x6xbf16>
  %scaled = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
                            iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%dots : tensor<2x6x6xbf16>) outs(%e : tensor<2x6x6xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = arith.mulf %x, %scale : bf16
    linalg.yield %y : bf16
  } -> tensor<2x6x6xbf16>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<2x6x6xbf16>) outs(%e : tensor<2x6x6xbf16>)
      -> tensor<2x6x6xbf16>
  %oe = tensor.empty() : tensor<2x6x4xbf16>
  %oz = linalg.fill ins(%zero : bf16) outs(%oe : tensor<2x6x4xbf16>) -> tensor<2x6x4xbf16>
  %r = linalg.batch_matmul ins(%weights, %v : tensor<2x6x6xbf16>, tensor<2x6x4xbf16>) outs(%oz : tensor<2x6x4xbf16>)
      -> tensor<2x6x4xbf16>
  return %r, %weights : tensor<2x6x4xbf16>, tensor<2x6x6xbf16>
}
