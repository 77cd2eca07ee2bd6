// Exporters expand keys to the sizes of the values: a dimension whose size the run finds to be 1 is read at 0, others
// at the index. Whether the keys have as many batches and positions as the values only the run knows.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: %check_functions %s

!query = tensor<?x4x5x8xf32>
!key = tensor<?x2x?x8xf32>
!value = tensor<?x2x?x10xf32>
!repeated = tensor<?x2x2x?x8xf32>
!repeatedValue = tensor<?x2x2x?x10xf32>
!scores = tensor<?x4x5x?xf32>
!rows = tensor<?x4x5xf32>
!out = tensor<?x4x5x10xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#fill = {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#dead = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i)>, affine_map<(b, h, i, j) -> (b, h, i, j)>,
                          affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// OPTIONS @grouped_keys: --shape=0:3x4x5x8 --shape=1:3x2x7x8 --shape=2:3x2x7x10
// OPTIONS @grouped_keys: --shape=0:3x4x5x8 --shape=1:1x2x7x8 --shape=2:3x2x7x10
// OPTIONS @grouped_keys: --shape=0:3x4x5x8 --shape=1:3x2x1x8 --shape=2:3x2x7x10
// CHECK-LABEL: @grouped_keys
// CHECK: attn.attention
// REMARK: remark: {{.*}}fused into attention: scale 1, grouped heads, guard of rows without a key
func.func @grouped_keys(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %v, %c0 : !value
  %n = tensor.dim %v, %c2 : !value
  %keyBatch = tensor.dim %k, %c0 : !key
  %keyLength = tensor.dim %k, %c2 : !key
  %oneBatch = arith.cmpi eq, %keyBatch, %c1 : index
  %oneKey = arith.cmpi eq, %keyLength, %c1 : index
  %e_k = tensor.empty(%batch, %n) : !repeated
  %kr = linalg.generic #fill outs(%e_k : !repeated) {
  ^bb0(%o: f32):
    %b = linalg.index 0 : index  %h = linalg.index 1 : index  %j = linalg.index 3 : index
    %d = linalg.index 4 : index
    %bk = arith.select %oneBatch, %c0, %b : index  %jk = arith.select %oneKey, %c0, %j : index
    %x = tensor.extract %k[%bk, %h, %jk, %d] : !key  linalg.yield %x : f32
  } -> !repeated
  %kc = tensor.collapse_shape %kr [[0], [1, 2], [3], [4]] : !repeated into tensor<?x4x?x8xf32>
  %e_v = tensor.empty(%batch, %n) : !repeatedValue
  %vr = linalg.generic #fill outs(%e_v : !repeatedValue) {
  ^bb0(%o: f32):
    %b = linalg.index 0 : index  %h = linalg.index 1 : index  %j = linalg.index 3 : index
    %d = linalg.index 4 : index
    %x = tensor.extract %v[%b, %h, %j, %d] : !value  linalg.yield %x : f32
  } -> !repeatedValue
  %vc = tensor.collapse_shape %vr [[0], [1, 2], [3], [4]] : !repeatedValue into tensor<?x4x?x10xf32>
  %e = tensor.empty(%batch, %n) : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %kc : !query, tensor<?x4x?x8xf32>) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %empty_rows = tensor.empty(%batch) : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%s : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%s, %m : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_rows : !rows) -> !rows
  %l = linalg.generic #reduce ins(%w : !scores) outs(%l0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %p = linalg.generic #byRow ins(%w, %l : !scores, !rows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_dead = tensor.empty(%batch) : tensor<?x4x5xi1>
  %dead0 = linalg.fill ins(%true : i1) outs(%empty_dead : tensor<?x4x5xi1>) -> tensor<?x4x5xi1>
  %dead = linalg.generic #reduce ins(%s : !scores) outs(%dead0 : tensor<?x4x5xi1>) {
  ^bb0(%x: f32, %acc: i1):
    %isDead = arith.cmpf oeq, %x, %negInf : f32  %y = arith.andi %isDead, %acc : i1  linalg.yield %y : i1
  } -> tensor<?x4x5xi1>
  %guarded = linalg.generic #dead ins(%dead, %p : tensor<?x4x5xi1>, !scores) outs(%e : !scores) {
  ^bb0(%c: i1, %x: f32, %o: f32): %z = arith.select %c, %zero, %x : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty(%batch) : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%guarded, %vc : !scores, tensor<?x4x?x10xf32>) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
