// Masks of padding as exporters write them.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!paddingFlags = tensor<2x7xi1>
!positions = tensor<5xi64>
!keyPositions = tensor<7xi64>

#qk = {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                        affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#pv = {indexing_maps = [affine_map<(b, h, i, e, j) -> (b, h, i, j)>, affine_map<(b, h, i, e, j) -> (b, h, j, e)>,
                        affine_map<(b, h, i, e, j) -> (b, h, i, e)>],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
#each = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>],
         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#reduce = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>],
           iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
#byRow = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>,
                           affine_map<(b, h, i, j) -> (b, h, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#padding2D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, j)>,
                               affine_map<(b, h, i, j) -> (b, h, i, j)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#writeQuery = {indexing_maps = [affine_map<(i) -> (i)>],
               iterator_types = ["parallel"]}
#gatherPad = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (j)>,
                               affine_map<(b, h, i, j) -> (b, h, i, j)>],
              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#gatherKeys = {indexing_maps = [affine_map<(b, j) -> (j)>, affine_map<(b, j) -> (b, j)>],
               iterator_types = ["parallel", "parallel"]}

// The padding mask is read at index positions that wrap where they are negative, which they never are.
// OPTIONS @read_at_wrapped_iota: --fill=3:list:1:0:1:1:0:1:0:1
// CHECK-LABEL: @read_at_wrapped_iota
// CHECK: attn.attention
func.func @read_at_wrapped_iota(%q: !query, %k: !key, %v: !value, %pad: !paddingFlags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF7FFFFF : f32
  %nil = arith.constant 0 : i64
  %n = arith.constant 7 : i64
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
  %empty_positions = tensor.empty() : !positions
  %empty_keyPositions = tensor.empty() : !keyPositions
  %rows = linalg.generic #writeQuery outs(%empty_positions : !positions) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index  %y = arith.index_cast %i : index to i64  linalg.yield %y : i64
  } -> !positions
  %columns = linalg.generic #writeQuery outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index  %y = arith.index_cast %j : index to i64  linalg.yield %y : i64
  } -> !keyPositions
  %masked = linalg.generic #gatherPad ins(%scaled, %columns : !scores, !keyPositions) outs(%e : !scores) {
  ^bb0(%x: f32, %at: i64, %o: f32):
    %b = linalg.index 0 : index  %below = arith.cmpi slt, %at, %nil : i64  %wrapped = arith.addi %at, %n : i64
    %pos = arith.select %below, %wrapped, %at : i64  %j = arith.index_cast %pos : i64 to index
    %keep = tensor.extract %pad[%b, %j] : !paddingFlags  %y = arith.select %keep, %x, %dropped : f32
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

// The gather asserts its index: a side effect inside the body, which must stay and stay once.
// OPTIONS @read_with_assert: --fill=3:list:1:0:1:1:0:1:0:1
// CHECK-LABEL: @read_with_assert
// CHECK: attn.attention
func.func @read_with_assert(%q: !query, %k: !key, %v: !value, %pad: !paddingFlags) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF7FFFFF : f32
  %nil = arith.constant 0 : i64
  %n = arith.constant 7 : i64
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
  %empty_positions = tensor.empty() : !positions
  %empty_keyPositions = tensor.empty() : !keyPositions
  %rows = linalg.generic #writeQuery outs(%empty_positions : !positions) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index  %y = arith.index_cast %i : index to i64  linalg.yield %y : i64
  } -> !positions
  %columns = linalg.generic #writeQuery outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%o: i64):
    %j = linalg.index 0 : index  %y = arith.index_cast %j : index to i64  linalg.yield %y : i64
  } -> !keyPositions
  %empty_paddingFlags = tensor.empty() : !paddingFlags
  %keys = linalg.generic #gatherKeys ins(%columns : !keyPositions) outs(%empty_paddingFlags : !paddingFlags) {
  ^bb0(%at: i64, %o: i1):
    %b = linalg.index 0 : index  %below = arith.cmpi slt, %at, %nil : i64  %wrapped = arith.addi %at, %n : i64
    %pos = arith.select %below, %wrapped, %at : i64  %in = arith.cmpi slt, %pos, %n : i64
    cf.assert %in, "index out of range"  %j = arith.index_cast %pos : i64 to index
    %keep = tensor.extract %pad[%b, %j] : !paddingFlags  linalg.yield %keep : i1
  } -> !paddingFlags
  %masked = linalg.generic #padding2D ins(%scaled, %keys : !scores, !paddingFlags) outs(%e : !scores) {
  ^bb0(%x: f32, %keep: i1, %o: f32): %y = arith.select %keep, %x, %dropped : f32  linalg.yield %y : f32
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
