// RUN: attn-run %s --function=bias --fill=3:range:-2:9 --check | FileCheck %s
// RUN: attn-run %s --function=staged --fill=2:range:0:24 --check | FileCheck %s
// RUN: attn-run %s --function=gathered --shape=2:7 --fill=2:range:0:24 --fill=3:range:-3:9 --check | FileCheck %s
// RUN: attn-run %s --function=narrow --fill=2:range:-8:7 --check | FileCheck %s
// RUN: attn-run %s --function=bias --fill=3:range:-2:9 --check --target=emulator:sm_80 | FileCheck %s
// RUN: attn-run %s --function=staged --fill=2:range:0:24 --check --target=emulator:sm_90a | FileCheck %s
// RUN: attn-run %s --function=gathered --shape=2:7 --fill=2:range:0:24 --fill=3:range:-3:9 --check --target=emulator:sm_80 | FileCheck %s

// CHECK: check: PASS

!q = tensor<2x4x19x8xf32>
!k = tensor<2x2x23x8xf32>

// A named score of index elements; entries outside of the table are clamped.
func.func @bias(%q: !q, %k: !k, %v: !k, %n: tensor<19x23xindex>, %t: tensor<7x4xf32>, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %v scale(%s) scores(indexed_bias(%n : tensor<19x23xindex>, %t : tensor<7x4xf32>))
      : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// Read by query and key together, which the CPU copies a tile at a time.
func.func @staged(%q: !q, %k: !k, %n: tensor<19x23xindex>, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) where(%b, %h, %i, %j) {
    %m = tensor.extract %n[%i, %j] : tensor<19x23xindex>
    %c = arith.cmpi ule, %m, %i : index
    attn.yield %c : i1
  } : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// Read at an index that differs by query and was itself read.
func.func @gathered(%q: !q, %k: !k, %n: tensor<?xindex>, %at: tensor<19xi64>, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %r = attn.attention %q, %k, %k scale(%s) where(%b, %h, %i, %j) {
    %p = tensor.extract %at[%i] : tensor<19xi64>
    %x = arith.index_cast %p : i64 to index
    %m = tensor.extract %n[%x] : tensor<?xindex>
    %c = arith.cmpi sle, %m, %j : index
    attn.yield %c : i1
  } : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}

// Vectors of i4 have bits, memory has bytes.
func.func @narrow(%q: !q, %k: !k, %n: tensor<19x23xi8>, %o: !q) -> !q {
  %s = arith.constant 0.5 : f32
  %four = arith.trunci %n : tensor<19x23xi8> to tensor<19x23xi4>
  %r = attn.attention %q, %k, %k scale(%s) score(%x, %b, %h, %i, %j) {
    %m = tensor.extract %four[%i, %j] : tensor<19x23xi4>
    %w = arith.extsi %m : i4 to i32
    %f = arith.sitofp %w : i32 to f32
    %y = arith.addf %x, %f : f32
    attn.yield %y : f32
  } : !q, !k, !k outs(%o : !q) -> !q
  return %r : !q
}
