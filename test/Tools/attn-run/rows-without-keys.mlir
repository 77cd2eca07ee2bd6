// RUN: attn-run %s --function=attention --shape=3:5x7 --fill=3:list:0:0:0:0:0:0:0:1:0:1:1:0:0:1:0:0:0:0:0:0:0:1:1:1:1:1:1:1:0:0:0:0:0:0:0 --check --print | FileCheck %s
// RUN: attn-run %s --function=attention --shape=3:5x7 --fill=3:zeros --check | FileCheck %s --check-prefix=ALL
// RUN: attn-run %s --function=attention --shape=3:5x7 --fill=3:zeros --fuse=false --check | FileCheck %s --check-prefix=UNFUSED --implicit-check-not="without keys"
// RUN: attn-run %s --function=attention --shape=3:5x7 --fill=3:ones --fill=0:value:nan --check | FileCheck %s --check-prefix=UNFUSED --implicit-check-not="without keys"

// Rows 0, 2 and 4 have no key: NaN in the graph, 0 in attention, and 1 behind it. That is no failure, and is said.
// CHECK-COUNT-8: 1
// CHECK: check: PASS
// CHECK: check: of result 0, 24 elements are NaN in the unfused graph, for rows without keys; compared with what attention gives there

// NaN that is the data's, or of the unfused graph itself, is no matter of rows.
// UNFUSED: check: PASS

// ALL: check: of result 0, 40 elements are NaN in the unfused graph

func.func @attention(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x8xf32>, %m: tensor<?x?xi1>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<5x7xf32>, tensor<?x?xi1>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%a: f32, %keep: i1, %b: f32):
    %c = arith.select %keep, %a, %inf : f32
    linalg.yield %c : f32
  } -> tensor<5x7xf32>
  %f = tensor.empty() : tensor<5xf32>
  %low = linalg.fill ins(%inf : f32) outs(%f : tensor<5xf32>) -> tensor<5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<5x7xf32>) outs(%low : tensor<5xf32>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%masked, %max : tensor<5x7xf32>, tensor<5xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%a: f32, %x: f32, %b: f32):
    %d = arith.subf %a, %x : f32
    %c = math.exp %d : f32
    linalg.yield %c : f32
  } -> tensor<5x7xf32>
  %none = linalg.fill ins(%zero : f32) outs(%f : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<5x7xf32>) outs(%none : tensor<5xf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<5x7xf32>, tensor<5xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%a: f32, %x: f32, %b: f32):
    %c = arith.divf %a, %x : f32
    linalg.yield %c : f32
  } -> tensor<5x7xf32>
  %g = tensor.empty() : tensor<5x8xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<5x8xf32>) -> tensor<5x8xf32>
  %r = linalg.matmul ins(%w, %v : tensor<5x7xf32>, tensor<7x8xf32>) outs(%h : tensor<5x8xf32>) -> tensor<5x8xf32>
  %p = math.exp %r : tensor<5x8xf32>
  return %p : tensor<5x8xf32>
}
