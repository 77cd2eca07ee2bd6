// What a map says of the loops is what compiling says in its remarks: whether full tiles have a loop without the mask. The
// clamps of the reads count among the operations of the mask.
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="function=cheap sizes=batch=2,heads=1,queryLen=16,kvLen=40 tile-q=16 tile-kv=8 values=1:3:8 target=x86-64-v3" | FileCheck %s --check-prefix=CHEAP
// RUN: attn-run %s --function=cheap --shape=0:2x1x16x32 --shape=1:2 --shape=2:2 --fill=1:value:3 --fill=2:value:30 --remarks 2>&1 | FileCheck %s --check-prefix=CHEAP-REMARK
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="function=split sizes=batch=2,heads=1,queryLen=16,kvLen=40 tile-q=16 tile-kv=8 values=1:3:8,2:30:40 target=x86-64-v3" | FileCheck %s --check-prefix=SPLIT
// RUN: attn-run %s --function=split --shape=0:2x1x16x32 --shape=1:2 --shape=2:2 --fill=1:value:3 --fill=2:value:30 --remarks 2>&1 | FileCheck %s --check-prefix=SPLIT-REMARK
!t = tensor<?x?x?x32xf32>

// CHEAP: - the mask is so cheap that full tiles evaluate it, too
// CHEAP: 0  /####
// CHEAP: 0  .####
// CHEAP-REMARK: rows i0 to i1 visit keys
// CHEAP-REMARK-NOT: without the mask
func.func @cheap(%q: !t, %first: tensor<?xi32>, %end: tensor<?xi32>) -> !t {
  %scale = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %nb = tensor.dim %q, %c0 : !t
  %nh = tensor.dim %q, %c1 : !t
  %ni = tensor.dim %q, %c2 : !t
  %o = tensor.empty(%nb, %nh, %ni) : !t
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %x = tensor.extract %first[%b] : tensor<?xi32>
    %lower = arith.index_cast %x : i32 to index
    %keep = arith.cmpi sle, %lower, %j : index
    attn.yield %keep : i1
  } : !t, !t, !t outs(%o : !t) -> !t
  return %out : !t
}

// SPLIT-NOT: so cheap
// SPLIT: 0  /##/.
// SPLIT: 0  .####
// SPLIT-REMARK: rows i0 to i1 visit keys {{.*}}, without the mask in [
func.func @split(%q: !t, %first: tensor<?xi32>, %end: tensor<?xi32>) -> !t {
  %scale = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %nb = tensor.dim %q, %c0 : !t
  %nh = tensor.dim %q, %c1 : !t
  %ni = tensor.dim %q, %c2 : !t
  %o = tensor.empty(%nb, %nh, %ni) : !t
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %x = tensor.extract %first[%b] : tensor<?xi32>
    %lower = arith.index_cast %x : i32 to index
    %y = tensor.extract %end[%b] : tensor<?xi32>
    %upper = arith.index_cast %y : i32 to index
    %behind = arith.cmpi sle, %lower, %j : index
    %before = arith.cmpi slt, %j, %upper : index
    %keep = arith.andi %behind, %before : i1
    attn.yield %keep : i1
  } : !t, !t, !t outs(%o : !t) -> !t
  return %out : !t
}
