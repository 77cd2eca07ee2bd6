// Look-alike 1: the softmax is not over the keys. Where sizes are equal only the indexing maps tell.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REASON
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not="= attn.attention"
// RUN: %square %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REASON
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not="= attn.attention"
// RUN: %check_functions %t.mlir
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!out = tensor<2x3x5x8xf32>
!scoresT = tensor<2x3x7x5xf32>
!keyRows = tensor<2x3x7xf32>
!headRows = tensor<2x5x7xf32>
!batchRows = tensor<3x5x7xf32>
!headValues = tensor<2x3xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduceQuery = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, j)>],
                iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
#byKey = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, j)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduceHead = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, i, j)>],
               iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
#byHeads = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, i, j)>,
                             affine_map<(b, h, i, j) -> (b, h, i, j)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduceBatch = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h, i, j)>],
                iterator_types = ["reduction", "parallel", "parallel", "parallel"]}
#byBatch = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h, i, j)>,
                             affine_map<(b, h, i, j) -> (b, h, i, j)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduceBoth = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h)>],
               iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
#byHead = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#qkJI = {indexing_maps = [affine_map<(b, h, j, i, d) -> (b, h, i, d)>, affine_map<(b, h, j, i, d) -> (b, h, j, d)>,
                          affine_map<(b, h, j, i, d) -> (b, h, j, i)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#reduceJI = {indexing_maps = [affine_map<(b, h, j, i) -> (b, h, j, i)>, affine_map<(b, h, j, i) -> (b, h, j)>],
             iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byJ = {indexing_maps = [affine_map<(b, h, j, i) -> (b, h, j, i)>, affine_map<(b, h, j, i) -> (b, h, j)>,
                         affine_map<(b, h, j, i) -> (b, h, j, i)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#pvJI = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, j, i)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                          affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}

// CHECK-LABEL: @over_queries
// REASON: not fused: {{.*query.*}}
func.func @over_queries(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_keyRows = tensor.empty() : !keyRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_keyRows : !keyRows) -> !keyRows
  %m = linalg.generic #reduceQuery ins(%scaled : !scores) outs(%m0 : !keyRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !keyRows
  %w = linalg.generic #byKey ins(%scaled, %m : !scores, !keyRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_keyRows : !keyRows) -> !keyRows
  %l = linalg.generic #reduceQuery ins(%w : !scores) outs(%l0 : !keyRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !keyRows
  %p = linalg.generic #byKey ins(%w, %l : !scores, !keyRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// CHECK-LABEL: @over_heads
// REASON: not fused: {{.*head.*}}
func.func @over_heads(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_headRows = tensor.empty() : !headRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_headRows : !headRows) -> !headRows
  %m = linalg.generic #reduceHead ins(%scaled : !scores) outs(%m0 : !headRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !headRows
  %w = linalg.generic #byHeads ins(%scaled, %m : !scores, !headRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_headRows : !headRows) -> !headRows
  %l = linalg.generic #reduceHead ins(%w : !scores) outs(%l0 : !headRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !headRows
  %p = linalg.generic #byHeads ins(%w, %l : !scores, !headRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// CHECK-LABEL: @over_batch
// REASON: not fused: {{.*batch.*}}
func.func @over_batch(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_batchRows = tensor.empty() : !batchRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_batchRows : !batchRows) -> !batchRows
  %m = linalg.generic #reduceBatch ins(%scaled : !scores) outs(%m0 : !batchRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !batchRows
  %w = linalg.generic #byBatch ins(%scaled, %m : !scores, !batchRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_batchRows : !batchRows) -> !batchRows
  %l = linalg.generic #reduceBatch ins(%w : !scores) outs(%l0 : !batchRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !batchRows
  %p = linalg.generic #byBatch ins(%w, %l : !scores, !batchRows) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// One softmax over all scores of a head.
// CHECK-LABEL: @over_queries_and_keys
// REASON: not fused: {{.*query.*}}
func.func @over_queries_and_keys(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %scaled = linalg.generic #each ins(%s : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scores
  %empty_headValues = tensor.empty() : !headValues
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_headValues : !headValues) -> !headValues
  %m = linalg.generic #reduceBoth ins(%scaled : !scores) outs(%m0 : !headValues) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !headValues
  %w = linalg.generic #byHead ins(%scaled, %m : !scores, !headValues) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scores
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_headValues : !headValues) -> !headValues
  %l = linalg.generic #reduceBoth ins(%w : !scores) outs(%l0 : !headValues) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !headValues
  %p = linalg.generic #byHead ins(%w, %l : !scores, !headValues) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scores
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// The scores are transposed: the softmax is over the last axis, which is the query's.
// CHECK-LABEL: @last_axis_is_the_query
// REASON: not fused: {{.*query.*}}
func.func @last_axis_is_the_query(%q: !query, %k: !key, %v: !value) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %negInf = arith.constant 0xFF800000 : f32
  %empty_scoresT = tensor.empty() : !scoresT
  %s0 = linalg.fill ins(%zero : f32) outs(%empty_scoresT : !scoresT) -> !scoresT
  %s = linalg.generic #qkJI ins(%q, %k : !query, !key) outs(%s0 : !scoresT) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scoresT
  %scaled = linalg.generic #each ins(%s : !scoresT) outs(%empty_scoresT : !scoresT) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %scale : f32  linalg.yield %y : f32
  } -> !scoresT
  %empty_keyRows = tensor.empty() : !keyRows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_keyRows : !keyRows) -> !keyRows
  %m = linalg.generic #reduceJI ins(%scaled : !scoresT) outs(%m0 : !keyRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !keyRows
  %w = linalg.generic #byJ ins(%scaled, %m : !scoresT, !keyRows) outs(%empty_scoresT : !scoresT) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %diff = arith.subf %x, %y : f32  %exp = math.exp %diff : f32  linalg.yield %exp : f32
  } -> !scoresT
  %l0 = linalg.fill ins(%zero : f32) outs(%empty_keyRows : !keyRows) -> !keyRows
  %l = linalg.generic #reduceJI ins(%w : !scoresT) outs(%l0 : !keyRows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.addf %x, %acc : f32  linalg.yield %y : f32
  } -> !keyRows
  %p = linalg.generic #byJ ins(%w, %l : !scoresT, !keyRows) outs(%empty_scoresT : !scoresT) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.divf %x, %y : f32  linalg.yield %z : f32
  } -> !scoresT
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pvJI ins(%p, %v : !scoresT, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
