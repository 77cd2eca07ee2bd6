// One attention whose key is transposed by an op before a batch_matmul over three dimensions; all sizes are 4.
// PERMUTATION and NAME are replaced by permute.py.
!t = tensor<4x4x4x4xf32>
!t3 = tensor<16x4x4xf32>
!rows = tensor<16x4xf32>

#each = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n, i)>,
                           affine_map<(n, i, j) -> (n, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel"]}

func.func @NAME(%q: !t, %k: !t, %v: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.3 : f32
  %e4 = tensor.empty() : !t
  %e = tensor.empty() : !t3
  %er = tensor.empty() : !rows
  %nil = linalg.fill ins(%zero : f32) outs(%e : !t3) -> !t3
  %kt = linalg.transpose ins(%k : !t) outs(%e4 : !t) permutation = [PERMUTATION]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : !t into !t3
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : !t into !t3
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : !t into !t3
  %s = linalg.batch_matmul ins(%q3, %k3 : !t3, !t3) outs(%nil : !t3) -> !t3
  %scaled = linalg.generic #each ins(%s : !t3) outs(%e : !t3) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !t3
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !t3) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !t3, !rows) outs(%e : !t3) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !t3
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !t3) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !t3, !rows) outs(%e : !t3) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !t3
  %out3 = linalg.batch_matmul ins(%p, %v3 : !t3, !t3) outs(%nil : !t3) -> !t3
  %out = tensor.expand_shape %out3 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : !t3 into !t
  return %out : !t
}
