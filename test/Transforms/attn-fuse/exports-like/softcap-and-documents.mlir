// Soft capping before a mask, and packed documents, compared by number.
// RUN: attn-opt %s --attn-fuse | FileCheck %s --implicit-check-not=math.exp --implicit-check-not=.softmax
// RUN: %check_functions %s

!query = tensor<2x3x5x4xf32>
!key = tensor<2x3x7x4xf32>
!value = tensor<2x3x7x8xf32>
!scores = tensor<2x3x5x7xf32>
!rows = tensor<2x3x5xf32>
!out = tensor<2x3x5x8xf32>
!mask4 = tensor<2x1x5x7xf32>
!flags2 = tensor<5x7xi1>
!flags3 = tensor<2x5x7xi1>
!positions = tensor<5xi64>
!keyPositions = tensor<7xi64>
!ids = tensor<5xi64>
!keyIds = tensor<7xi64>
!ids2 = tensor<2x5xi64>
!keyIds2 = tensor<2x7xi64>

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
#mask2D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#mask3D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#mask4D = {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, 0, i, j)>,
                            affine_map<(b, h, i, j) -> (b, h, i, j)>],
           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#eachMask2 = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                               affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}
#writeQuery = {indexing_maps = [affine_map<(i) -> (i)>],
               iterator_types = ["parallel"]}
#compare = {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]}
#sameDoc = {indexing_maps = [affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, j)>,
                             affine_map<(b, i, j) -> (b, i, j)>],
            iterator_types = ["parallel", "parallel", "parallel"]}
#runningSum = {indexing_maps = [affine_map<(j, k) -> (k)>, affine_map<(j, k) -> (j)>],
               iterator_types = ["parallel", "reduction"]}
#keyEach1 = {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>],
             iterator_types = ["parallel"]}

// Gemma 2: divide, tanh, multiply; then the additive mask.
// CHECK-LABEL: @softcap_then_causal_mask_added
// CHECK: attn.attention
func.func @softcap_then_causal_mask_added(%q: !query, %k: !key, %v: !value, %mask: !mask4) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %cap = arith.constant 5.0 : f32
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
  %c1 = linalg.generic #each ins(%scaled : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.divf %x, %cap : f32  linalg.yield %y : f32
  } -> !scores
  %c2 = linalg.generic #each ins(%c1 : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = math.tanh %x : f32  linalg.yield %y : f32
  } -> !scores
  %c3 = linalg.generic #each ins(%c2 : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32): %y = arith.mulf %x, %cap : f32  linalg.yield %y : f32
  } -> !scores
  %masked = linalg.generic #mask4D ins(%c3, %mask : !scores, !mask4) outs(%e : !scores) {
  ^bb0(%x: f32, %y: f32, %o: f32): %z = arith.addf %x, %y : f32  linalg.yield %z : f32
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

// OPTIONS @documents_and_causal: --fill=3:range:0:2 --fill=4:list:0:1:2:0:1:2:0
// CHECK-LABEL: @documents_and_causal
// CHECK: attn.attention
func.func @documents_and_causal(%q: !query, %k: !key, %v: !value, %ids: !ids, %keyIds: !keyIds) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF7FFFFF : f32
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
  %empty_flags2 = tensor.empty() : !flags2
  %same = linalg.generic #compare ins(%ids, %keyIds : !ids, !keyIds) outs(%empty_flags2 : !flags2) {
  ^bb0(%x: i64, %y: i64, %o: i1): %z = arith.cmpi eq, %x, %y : i64  linalg.yield %z : i1
  } -> !flags2
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
  %keep = linalg.generic #compare ins(%rows, %columns : !positions, !keyPositions) outs(%empty_flags2 : !flags2) {
  ^bb0(%i: i64, %j: i64, %o: i1): %y = arith.cmpi sle, %j, %i : i64  linalg.yield %y : i1
  } -> !flags2
  %both = linalg.generic #eachMask2 ins(%same, %keep : !flags2, !flags2) outs(%empty_flags2 : !flags2) {
  ^bb0(%x: i1, %y: i1, %o: i1): %z = arith.andi %x, %y : i1  linalg.yield %z : i1
  } -> !flags2
  %masked = linalg.generic #mask2D ins(%scaled, %both : !scores, !flags2) outs(%e : !scores) {
  ^bb0(%x: f32, %m: i1, %o: f32): %y = arith.select %m, %x, %dropped : f32  linalg.yield %y : f32
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

// OPTIONS @documents_of_batch: --fill=3:range:0:2 --fill=4:range:0:2
// CHECK-LABEL: @documents_of_batch
// CHECK: attn.attention
func.func @documents_of_batch(%q: !query, %k: !key, %v: !value, %ids: !ids2, %keyIds: !keyIds2) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %dropped = arith.constant 0xFF7FFFFF : f32
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
  %empty_flags3 = tensor.empty() : !flags3
  %keep = linalg.generic #sameDoc ins(%ids, %keyIds : !ids2, !keyIds2) outs(%empty_flags3 : !flags3) {
  ^bb0(%x: i64, %y: i64, %o: i1): %z = arith.cmpi eq, %x, %y : i64  linalg.yield %z : i1
  } -> !flags3
  %masked = linalg.generic #mask3D ins(%scaled, %keep : !scores, !flags3) outs(%e : !scores) {
  ^bb0(%x: f32, %m: i1, %o: f32): %y = arith.select %m, %x, %dropped : f32  linalg.yield %y : f32
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

// Documents begin where positions do not go up by one: differences, a running sum by hand, compared.
// OPTIONS @documents_of_positions: --fill=3:list:0:1:2:0:1:0:1
// CHECK-LABEL: @documents_of_positions
// CHECK: attn.attention
func.func @documents_of_positions(%q: !query, %k: !key, %v: !value, %pos: !keyPositions) -> !out {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %one = arith.constant 1 : i64
  %nil = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dropped = arith.constant 0xFF7FFFFF : f32
  %c2 = arith.constant 2 : index
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
  %empty_keyPositions = tensor.empty() : !keyPositions
  %begins = linalg.generic #keyEach1 ins(%pos : !keyPositions) outs(%empty_keyPositions : !keyPositions) {
  ^bb0(%x: i64, %o: i64):
    %j = linalg.index 0 : index  %b = arith.subi %j, %c1 : index  %at = arith.maxsi %b, %c0 : index
    %last = tensor.extract %pos[%at] : !keyPositions  %d = arith.subi %x, %last : i64
    %new = arith.cmpi ne, %d, %one : i64  %y = arith.extui %new : i1 to i64  linalg.yield %y : i64
  } -> !keyPositions
  %ids0 = linalg.fill ins(%nil : i64) outs(%empty_keyPositions : !keyPositions) -> !keyPositions
  %ids = linalg.generic #runningSum ins(%begins : !keyPositions) outs(%ids0 : !keyPositions) {
  ^bb0(%x: i64, %acc: i64):
    %j = linalg.index 0 : index  %k_ = linalg.index 1 : index  %in = arith.cmpi sle, %k_, %j : index
    %t = arith.select %in, %x, %nil : i64  %y = arith.addi %acc, %t : i64  linalg.yield %y : i64
  } -> !keyPositions
  %masked = linalg.generic #each ins(%scaled : !scores) outs(%e : !scores) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 2 : index  %j = linalg.index 3 : index  %mine = tensor.extract %ids[%i] : !keyPositions
    %its = tensor.extract %ids[%j] : !keyPositions  %keep = arith.cmpi eq, %mine, %its : i64
    %y = arith.select %keep, %x, %dropped : f32  linalg.yield %y : f32
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
