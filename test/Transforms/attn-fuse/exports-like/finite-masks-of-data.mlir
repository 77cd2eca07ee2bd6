// Finite masks of data: a row without a key is uniform in the graph, and the run finds the rows that keep one, in which
// masked keys are dropped.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark -o %t.fused 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.fused --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: attn-opt %s --attn-fuse=least-checked-keys=301 | FileCheck %s --check-prefix=NEVER --implicit-check-not="xi1>"
// RUN: %check_functions %s

// NEVER: attn.attention
!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x300x4xf32>
!value = tensor<2x3x300x8xf32>
!scores = tensor<2x3x5x300xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#masked = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#byEntry = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b)>,
                             affine_map<(b, h, i, j) -> (b, h, i, j)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#byHead = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h, i)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}

// A batch entry without any key beside one with a few, then both with some.
// OPTIONS @lengths: --fill=3:list:0:170
// OPTIONS @lengths: --fill=3:list:1:300
// CHECK-LABEL: @lengths
// REMARK: fused into attention: {{.*}}; mask of -3.402823e+38 as -inf in rows that keep a key, which the run finds
// CHECK: %[[DEAD:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: -> tensor<2xi1>
// CHECK: attn.attention {{.*}} score(
// CHECK: arith.select
// CHECK: where(%[[B:.+]], %{{.+}}, %{{.+}}, %[[J:.+]])
// CHECK: %[[KEEP:.+]] = arith.cmpi slt, %[[J]]
// CHECK: %[[NONE:.+]] = tensor.extract %[[DEAD]][%[[B]]]
// CHECK: arith.ori %[[KEEP]], %[[NONE]]
func.func @lengths(%q: !query, %k: !key, %v: !value, %mask: tensor<2xi64>) -> !out {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32  %low = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #byEntry ins(%s, %mask : !scores, tensor<2xi64>) outs(%e : !scores) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %j = linalg.index 3 : index
    %n = arith.index_cast %a : i64 to index
    %keep = arith.cmpi slt, %j, %n : index
    %y = arith.select %keep, %x, %lowest : f32
    linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// Left padding and causal, both added: rows in front of the first key are dead, and two masks at once are -inf.
// OPTIONS @causal_and_left_padding: --fill=3:list:3:0
// CHECK-LABEL: @causal_and_left_padding
// REMARK: fused into attention: {{.*}}; mask of -3.402823e+38 as -inf in rows that keep a key, which the run finds
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: -> tensor<2x5xi1>
// CHECK: where(
func.func @causal_and_left_padding(%q: !query, %k: !key, %v: !value, %mask: tensor<2xi64>) -> !out {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32  %low = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #byEntry ins(%s, %mask : !scores, tensor<2xi64>) outs(%e : !scores) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %n = arith.index_cast %a : i64 to index
    %isReal = arith.cmpi sge, %j, %n : index
    %isPast = arith.cmpi sle, %j, %i : index
    %first = arith.select %isReal, %zero, %lowest : f32
    %second = arith.select %isPast, %zero, %lowest : f32
    %x1 = arith.addf %x, %first : f32
    %y = arith.addf %x1, %second : f32
    linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// In a row without a key those of the greater constant have all the weight.
// OPTIONS @two_constants: --fill=3:list:3:0
// CHECK-LABEL: @two_constants
// REMARK: fused into attention: {{.*}}; mask of {{.*}} as -inf in rows that keep a key, which the run finds
// CHECK: where(
func.func @two_constants(%q: !query, %k: !key, %v: !value, %mask: tensor<2xi64>) -> !out {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32  %low = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #byEntry ins(%s, %mask : !scores, tensor<2xi64>) outs(%e : !scores) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %n = arith.index_cast %a : i64 to index
    %isReal = arith.cmpi sge, %j, %n : index
    %isPast = arith.cmpi sle, %j, %i : index
    %x1 = arith.select %isReal, %x, %low : f32
    %y = arith.select %isPast, %x1, %lowest : f32
    linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// A key each, which -inf drops for some rows, too.
// OPTIONS @beside_minus_infinity: --fill=3:range:0:1
// CHECK-LABEL: @beside_minus_infinity
// REMARK: fused into attention: {{.*}}; mask of -3.402823e+38 as -inf in rows that keep a key, which the run finds
// CHECK: where(
// CHECK: arith.andi
// CHECK: arith.ori
func.func @beside_minus_infinity(%q: !query, %k: !key, %v: !value, %mask: tensor<2x300xi64>) -> !out {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32  %low = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #masked ins(%s, %mask : !scores, tensor<2x300xi64>) outs(%e : !scores) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %c0 = arith.constant 0 : i64
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %isPast = arith.cmpi sle, %j, %i : index
    %isReal = arith.cmpi ne, %a, %c0 : i64
    %x1 = arith.select %isReal, %x, %lowest : f32
    %y = arith.select %isPast, %x1, %negInf : f32
    linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}

// A mask for each head and row.
// OPTIONS @of_heads_and_rows: --fill=3:range:0:300
// OPTIONS @of_heads_and_rows: --fill=3:zeros
// CHECK-LABEL: @of_heads_and_rows
// REMARK: fused into attention: {{.*}}; mask of -1.000000e+30 as -inf in rows that keep a key, which the run finds
// CHECK: -> tensor<3x5xi1>
// CHECK: where(
func.func @of_heads_and_rows(%q: !query, %k: !key, %v: !value, %mask: tensor<3x5xi64>) -> !out {
  %zero = arith.constant 0.0 : f32  %negInf = arith.constant 0xFF800000 : f32
  %lowest = arith.constant 0xFF7FFFFF : f32  %low = arith.constant -1.0e+30 : f32
  %e = tensor.empty() : !scores
  %s0 = linalg.fill ins(%zero : f32) outs(%e : !scores) -> !scores
  %s = linalg.generic #qk ins(%q, %k : !query, !key) outs(%s0 : !scores) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !scores
  %masked = linalg.generic #byHead ins(%s, %mask : !scores, tensor<3x5xi64>) outs(%e : !scores) {
  ^bb0(%x: f32, %a: i64, %o: f32):
    %j = linalg.index 3 : index
    %n = arith.index_cast %a : i64 to index
    %keep = arith.cmpi slt, %j, %n : index
    %m = arith.select %keep, %zero, %low : f32
    %y = arith.addf %x, %m : f32
    linalg.yield %y : f32
  } -> !scores
  %empty_rows = tensor.empty() : !rows
  %m0 = linalg.fill ins(%negInf : f32) outs(%empty_rows : !rows) -> !rows
  %m = linalg.generic #reduce ins(%masked : !scores) outs(%m0 : !rows) {
  ^bb0(%x: f32, %acc: f32): %y = arith.maximumf %x, %acc : f32  linalg.yield %y : f32
  } -> !rows
  %w = linalg.generic #byRow ins(%masked, %m : !scores, !rows) outs(%e : !scores) {
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
  %empty_out = tensor.empty() : !out
  %o0 = linalg.fill ins(%zero : f32) outs(%empty_out : !out) -> !out
  %out = linalg.generic #pv ins(%p, %v : !scores, !value) outs(%o0 : !out) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32  %sum = arith.addf %acc, %xy : f32  linalg.yield %sum : f32
  } -> !out
  return %out : !out
}
