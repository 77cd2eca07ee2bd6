// Heads in groups whose number is known in the run alone: the groups join the batch, and a mask of the batch takes the
// joined index apart by that number. It was taken apart by 2^63, so every batch entry had the first one's mask.
// RUN: attn-run %s --target=x86-64-v3 --check --shape=0:3x4x5x2 --shape=1:3x1x4x6x2 --shape=2:3x4x6x7 --shape=3:3x5x6 | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --check --shape=0:3x8x5x2 --shape=1:3x2x4x6x2 --shape=2:3x8x6x7 --shape=3:3x5x6 | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --check --shape=0:3x0x5x2 --shape=1:3x0x4x6x2 --shape=2:3x0x6x7 --shape=3:3x5x6 | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --check --shape=0:3x8x5x2 --shape=1:3x2x4x6x2 --shape=2:3x8x6x7 --shape=3:3x5x6 | FileCheck %s
// RUN: attn-opt %s --attn-fuse=verify | FileCheck %s --check-prefix=FUSED
// CHECK: check: PASS

// FUSED: attn.attention {{.*}} where(%[[B:[^,]+]],
// FUSED: arith.floordivsi %[[B]], %{{.+}} : index
func.func @main(%q: tensor<?x?x5x2xf32>, %grouped: tensor<?x?x4x6x2xf32>, %v: tensor<?x?x6x7xf32>,
                %mask: tensor<?x5x6xi1>) -> tensor<?x?x5x7xf32> {
  %out = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x5x2xf32>
  %h = tensor.dim %q, %c1 : tensor<?x?x5x2xf32>
  %k = tensor.collapse_shape %grouped [[0], [1, 2], [3], [4]] : tensor<?x?x4x6x2xf32> into tensor<?x?x6x2xf32>
  %e = tensor.empty(%b, %h) : tensor<?x?x5x6xf32>
  %s = attn.matmul %q, %k transpose_rhs : tensor<?x?x5x2xf32>, tensor<?x?x6x2xf32> outs(%e : tensor<?x?x5x6xf32>)
      -> tensor<?x?x5x6xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, i, j)>,
                                        affine_map<(b, h, i, j) -> (b, h, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %mask : tensor<?x?x5x6xf32>, tensor<?x5x6xi1>) outs(%e : tensor<?x?x5x6xf32>) {
  ^bb0(%x: f32, %keep: i1, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %first = arith.cmpi eq, %j, %c0 : index
    %c = arith.ori %keep, %first : i1
    %y = arith.select %c, %x, %out : f32
    linalg.yield %y : f32
  } -> tensor<?x?x5x6xf32>
  %p = attn.softmax %t axis(3) : tensor<?x?x5x6xf32> outs(%e : tensor<?x?x5x6xf32>) -> tensor<?x?x5x6xf32>
  %f = tensor.empty(%b, %h) : tensor<?x?x5x7xf32>
  %r = attn.matmul %p, %v : tensor<?x?x5x6xf32>, tensor<?x?x6x7xf32> outs(%f : tensor<?x?x5x7xf32>)
      -> tensor<?x?x5x7xf32>
  return %r : tensor<?x?x5x7xf32>
}
