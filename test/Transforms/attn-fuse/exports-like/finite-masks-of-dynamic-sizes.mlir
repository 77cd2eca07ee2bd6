// Sizes that the run knows: rows are looked at for any number of keys.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp
// RUN: %check_functions %s

#qk = {indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                        affine_map<(h, i, j, d) -> (h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#masked = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (j)>,
                            affine_map<(h, i, j) -> (h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                           affine_map<(h, i, j) -> (h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}

// Causal from the last row backwards, so that early rows are dead where there are fewer keys than rows, and padded. The
// condition knows a size: the number of keys minus the number of rows.
// OPTIONS @bottom_right: --shape=0:3x5x4 --shape=1:3x9x4 --shape=2:3x9x8 --shape=3:9 --fill=3:range:0:1 --out-shape=0:3x5x8
// OPTIONS @bottom_right: --shape=0:3x5x4 --shape=1:3x2x4 --shape=2:3x2x8 --shape=3:2 --fill=3:list:1:1 --out-shape=0:3x5x8
// OPTIONS @bottom_right: --shape=0:3x5x4 --shape=1:3x7x4 --shape=2:3x7x8 --shape=3:7 --fill=3:zeros --out-shape=0:3x5x8
// CHECK-LABEL: @bottom_right
// CHECK: %[[DEAD:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: -> tensor<?xi1>
// CHECK: attn.attention
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %{{.+}})
// CHECK: tensor.extract %[[DEAD]][%[[I]]]
func.func @bottom_right(%q: tensor<3x?x4xf32>, %k: tensor<3x?x4xf32>, %v: tensor<3x?x8xf32>, %mask: tensor<?xi64>)
    -> tensor<3x?x8xf32> {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<3x?x4xf32>
  %m = tensor.dim %k, %c1 : tensor<3x?x4xf32>
  %offset = arith.subi %m, %n : index
  %e = tensor.empty(%n, %m) : tensor<3x?x?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  %s = linalg.generic #qk ins(%q, %k : tensor<3x?x4xf32>, tensor<3x?x4xf32>) outs(%s0 : tensor<3x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> tensor<3x?x?xf32>
  %masked = linalg.generic #masked ins(%s, %mask : tensor<3x?x?xf32>, tensor<?xi64>) outs(%e : tensor<3x?x?xf32>) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %last = arith.addi %i, %offset : index
    %isPast = arith.cmpi sle, %j, %last : index
    %isReal = arith.cmpi ne, %a, %c0 : i64
    %keep = arith.andi %isPast, %isReal : i1
    %y = arith.select %keep, %x, %lowest : f32
    linalg.yield %y : f32
  } -> tensor<3x?x?xf32>
  %empty_rows = tensor.empty(%n) : tensor<3x?xf32>
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : tensor<3x?xf32>) -> tensor<3x?xf32>
  %max = linalg.generic #reduce ins(%masked : tensor<3x?x?xf32>) outs(%m0 : tensor<3x?xf32>) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> tensor<3x?xf32>
  %w = linalg.generic #byRow ins(%masked, %max : tensor<3x?x?xf32>, tensor<3x?xf32>) outs(%e : tensor<3x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> tensor<3x?x?xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : tensor<3x?xf32>) -> tensor<3x?xf32>
  %l = linalg.generic #reduce ins(%w : tensor<3x?x?xf32>) outs(%l0 : tensor<3x?xf32>) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> tensor<3x?xf32>
  %p = linalg.generic #byRow ins(%w, %l : tensor<3x?x?xf32>, tensor<3x?xf32>) outs(%e : tensor<3x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> tensor<3x?x?xf32>
  %empty_out = tensor.empty(%n) : tensor<3x?x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  %out = linalg.batch_matmul ins(%p, %v : tensor<3x?x?xf32>, tensor<3x?x8xf32>) outs(%o0 : tensor<3x?x8xf32>)
      -> tensor<3x?x8xf32>
  return %out : tensor<3x?x8xf32>
}
