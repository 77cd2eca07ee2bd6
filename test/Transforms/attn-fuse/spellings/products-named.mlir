// Spelling 7: the products are batch_matmul or matmul.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!query3 = tensor<6x5x4xf32>
!key3 = tensor<6x7x4xf32>
!keyT3 = tensor<6x4x7xf32>
!value3 = tensor<6x7x8xf32>
!scores3 = tensor<6x5x7xf32>
!rows3 = tensor<6x5xf32>
!out3 = tensor<6x5x8xf32>
!query2 = tensor<5x4xf32>
!key2 = tensor<7x4xf32>
!keyT2 = tensor<4x7xf32>
!value2 = tensor<7x8xf32>
!scores2 = tensor<5x7xf32>
!rows2 = tensor<5xf32>
!out2 = tensor<5x8xf32>

#reduceLast3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
                iterator_types = ["parallel", "parallel", "reduction"]}
#byRowOf3 = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>,
                              affine_map<(n, i, j) -> (n, i, j)>],
             iterator_types = ["parallel", "parallel", "parallel"]}
#reduceLast2 = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                iterator_types = ["parallel", "reduction"]}
#byRowOf2 = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
             iterator_types = ["parallel", "parallel"]}
#each3D = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel"]}
#each2D = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
           iterator_types = ["parallel", "parallel"]}

// CHECK-LABEL: @batch_matmul
// CHECK: attn.attention
func.func @batch_matmul(%q: !query3, %k: !keyT3, %v: !value3) -> !out3 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s = linalg.batch_matmul ins(%q, %k : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %scaled = linalg.generic #each3D ins(%s : !scores3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores3
  %empty_rows3 = tensor.empty() : !rows3
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %m = linalg.generic #reduceLast3 ins(%scaled : !scores3) outs(%m0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %w = linalg.generic #byRowOf3 ins(%scaled, %m : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores3
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %l = linalg.generic #reduceLast3 ins(%w : !scores3) outs(%l0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %p = linalg.generic #byRowOf3 ins(%w, %l : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %out = linalg.batch_matmul ins(%p, %v : !scores3, !value3) outs(%o0 : !out3) -> !out3
  return %out : !out3
}

// CHECK-LABEL: @batch_matmul_of_transposed
// CHECK: attn.attention
func.func @batch_matmul_of_transposed(%q: !query3, %k: !key3, %v: !value3) -> !out3 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s = linalg.batch_matmul
      indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>,
                       affine_map<(n, i, j, d) -> (n, i, j)>]
      ins(%q, %k : !query3, !key3) outs(%s0 : !scores3) -> !scores3
  %scaled = linalg.generic #each3D ins(%s : !scores3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores3
  %empty_rows3 = tensor.empty() : !rows3
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %m = linalg.generic #reduceLast3 ins(%scaled : !scores3) outs(%m0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %w = linalg.generic #byRowOf3 ins(%scaled, %m : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores3
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %l = linalg.generic #reduceLast3 ins(%w : !scores3) outs(%l0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %p = linalg.generic #byRowOf3 ins(%w, %l : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %out = linalg.batch_matmul ins(%p, %v : !scores3, !value3) outs(%o0 : !out3) -> !out3
  return %out : !out3
}

// CHECK-LABEL: @batch_matmul_after_transpose
// CHECK: attn.attention
func.func @batch_matmul_after_transpose(%q: !query3, %k: !key3, %v: !value3) -> !out3 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_keyT3 = tensor.empty() : !keyT3
  %kt = linalg.transpose ins(%k : !key3) outs(%empty_keyT3 : !keyT3) permutation = [0, 2, 1]
  %empty_scores3 = tensor.empty() : !scores3
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores3 : !scores3) -> !scores3
  %s = linalg.batch_matmul ins(%q, %kt : !query3, !keyT3) outs(%s0 : !scores3) -> !scores3
  %scaled = linalg.generic #each3D ins(%s : !scores3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores3
  %empty_rows3 = tensor.empty() : !rows3
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %m = linalg.generic #reduceLast3 ins(%scaled : !scores3) outs(%m0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %w = linalg.generic #byRowOf3 ins(%scaled, %m : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores3
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows3 : !rows3) -> !rows3
  %l = linalg.generic #reduceLast3 ins(%w : !scores3) outs(%l0 : !rows3) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows3
  %p = linalg.generic #byRowOf3 ins(%w, %l : !scores3, !rows3) outs(%empty_scores3 : !scores3) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores3
  %empty_out3 = tensor.empty() : !out3
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out3 : !out3) -> !out3
  %out = linalg.batch_matmul ins(%p, %v : !scores3, !value3) outs(%o0 : !out3) -> !out3
  return %out : !out3
}

// One head: no batch dimension at all.
// CHECK-LABEL: @matmul_of_one_head
// CHECK: attn.attention
func.func @matmul_of_one_head(%q: !query2, %k: !keyT2, %v: !value2) -> !out2 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scores2 = tensor.empty() : !scores2
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores2 : !scores2) -> !scores2
  %s = linalg.matmul ins(%q, %k : !query2, !keyT2) outs(%s0 : !scores2) -> !scores2
  %scaled = linalg.generic #each2D ins(%s : !scores2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores2
  %empty_rows2 = tensor.empty() : !rows2
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows2 : !rows2) -> !rows2
  %m = linalg.generic #reduceLast2 ins(%scaled : !scores2) outs(%m0 : !rows2) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows2
  %w = linalg.generic #byRowOf2 ins(%scaled, %m : !scores2, !rows2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores2
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows2 : !rows2) -> !rows2
  %l = linalg.generic #reduceLast2 ins(%w : !scores2) outs(%l0 : !rows2) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows2
  %p = linalg.generic #byRowOf2 ins(%w, %l : !scores2, !rows2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores2
  %empty_out2 = tensor.empty() : !out2
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out2 : !out2) -> !out2
  %out = linalg.matmul ins(%p, %v : !scores2, !value2) outs(%o0 : !out2) -> !out2
  return %out : !out2
}

// CHECK-LABEL: @matmul_of_transposed
// CHECK: attn.attention
func.func @matmul_of_transposed(%q: !query2, %k: !key2, %v: !value2) -> !out2 {
  %scale = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scores2 = tensor.empty() : !scores2
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scores2 : !scores2) -> !scores2
  %s = linalg.matmul
      indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d)
          -> (i, j)>]
      ins(%q, %k : !query2, !key2) outs(%s0 : !scores2) -> !scores2
  %scaled = linalg.generic #each2D ins(%s : !scores2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores2
  %empty_rows2 = tensor.empty() : !rows2
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows2 : !rows2) -> !rows2
  %m = linalg.generic #reduceLast2 ins(%scaled : !scores2) outs(%m0 : !rows2) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows2
  %w = linalg.generic #byRowOf2 ins(%scaled, %m : !scores2, !rows2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32  %w = math.exp %d : f32  linalg.yield %w : f32
  } -> !scores2
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows2 : !rows2) -> !rows2
  %l = linalg.generic #reduceLast2 ins(%w : !scores2) outs(%l0 : !rows2) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows2
  %p = linalg.generic #byRowOf2 ins(%w, %l : !scores2, !rows2) outs(%empty_scores2 : !scores2) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores2
  %empty_out2 = tensor.empty() : !out2
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out2 : !out2) -> !out2
  %out = linalg.matmul ins(%p, %v : !scores2, !value2) outs(%o0 : !out2) -> !out2
  return %out : !out2
}
