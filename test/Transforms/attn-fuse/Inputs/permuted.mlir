// One attention whose operands' axes stand in any order; all sizes are 4, so that only the maps tell them apart.
// QUERY, KEY, VALUE, OUT and NAME are replaced by permute.py.
!t = tensor<4x4x4x4xf32>
!rows = tensor<4x4x4xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (QUERY)>, affine_map<(b, h, i, j, d) -> (KEY)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (VALUE)>,
                        affine_map<(b, h, i, e, j) -> (OUT)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

func.func @NAME(%q: !t, %k: !t, %v: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.3 : f32
  %e = tensor.empty() : !t
  %er = tensor.empty() : !rows
  %nil = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %s = linalg.generic #qk ins(%q, %k : !t, !t) outs(%nil : !t) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !t
  %scaled = linalg.generic #each ins(%s : !t) outs(%e : !t) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !t
  %m0 = linalg.fill ins(%negInf : f32) outs(%er : !rows) -> !rows
  %m = linalg.generic #reduce ins(%scaled : !t) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%scaled, %m : !t, !rows) outs(%e : !t) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !t
  %l0 = linalg.fill ins(%zero : f32) outs(%er : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !t) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !t, !rows) outs(%e : !t) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !t
  %out = linalg.generic #pv ins(%p, %v : !t, !t) outs(%nil : !t) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !t
  return %out : !t
}
