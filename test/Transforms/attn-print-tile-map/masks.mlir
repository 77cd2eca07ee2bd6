// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=causal sizes=batch=1,heads=2,queryLen=24,kvLen=40 target=x86-64-v3" | FileCheck %s --check-prefix=CAUSAL
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=window sizes=batch=1,heads=2,queryLen=33,kvLen=40 target=x86-64-v3" | FileCheck %s --check-prefix=WINDOW
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=prefix sizes=batch=3,heads=2,queryLen=24,kvLen=24 values=1:4:12:4 target=x86-64-v3" | FileCheck %s --check-prefix=PREFIX
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=global sizes=batch=1,heads=2,queryLen=32,kvLen=32 values=1:4,2:5 target=x86-64-v3" | FileCheck %s --check-prefix=GLOBAL
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=document sizes=batch=1,heads=2,queryLen=32,kvLen=32 target=x86-64-v3" | FileCheck %s --check-prefix=UNKNOWN
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=table target=x86-64-v3" | FileCheck %s --check-prefix=TABLE
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=buffers sizes=kvLen=20 values=2:10 target=x86-64-v3" | FileCheck %s --check-prefix=BUFFERS
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=loop sizes=batch=1,heads=1,queryLen=8,kvLen=16 values=1:3 target=x86-64-v3" | FileCheck %s --check-prefix=LOOP
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="tile-q=8 tile-kv=8 function=caller sizes=batch=1,heads=1,queryLen=8,kvLen=16 target=x86-64-v3" | FileCheck %s --check-prefix=CALLER
// RUN: attn-opt %s -o /dev/null --attn-print-tile-map="function=caller sizes=batch=0,heads=1,queryLen=8,kvLen=16 target=x86-64-v3" | FileCheck %s --check-prefix=NONE

!t = tensor<?x?x?x32xf32>

// The last query meets the last key: offset 16.
// CAUSAL: causal at masks.mlir:{{[0-9:]+}}: causal<bottom_right>
// CAUSAL: every batch entry and head: 3 of 15 tiles skipped (20.0 %), 9 full, 3 partial
// CAUSAL: 0  ##/..
// CAUSAL: 8  ###/.
// CAUSAL: 16  ####/
func.func @causal(%q: !t, %k: !t) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %k, %k scale(%scale) masks(causal<bottom_right>) : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}

// The last row of tiles has one query.
// WINDOW: window at masks.mlir:{{[0-9:]+}}: window<left = 8, right = 3, top_left>
// WINDOW: 0  //...
// WINDOW: 8  ///..
// WINDOW: 16  .///.
// WINDOW: 24  ..///
// WINDOW: 32  ...#/{{$}}
func.func @window(%q: !t, %k: !t) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %k, %k scale(%scale) masks(window<left = 8, right = 3, top_left>)
      : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}

// Batch entries 0 and 2 have one prefix, and one map.
// PREFIX: - n0 is an element of argument 1 of type tensor<?xi32>
// PREFIX: batch 0, every head; batch 2, every head: 3 of 9 tiles skipped
// PREFIX: 0  /..
// PREFIX: 8  #/.
// PREFIX: 16  ##/
// PREFIX: batch 1, every head: 2 of 9 tiles skipped
// PREFIX: 0  #/.
// PREFIX: 8  #/.
// PREFIX: 16  ##/
func.func @prefix(%q: !t, %p: tensor<?xi32>) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %q, %q scale(%scale) masks(prefix<top_left>(%p : tensor<?xi32>))
      : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}

// GLOBAL: where region
// GLOBAL: - the tiles in this range are classified once a call, in front of the loop
// GLOBAL: 7 of 16 tiles skipped (43.8 %), 0 full, 9 partial;
// GLOBAL: 0  /...
// GLOBAL: 8  //..
// GLOBAL: 16  ///.
// GLOBAL: 24  /.//
func.func @global(%q: !t, %n: index, %w: i64) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %g = arith.cmpi slt, %j, %n : index
    %d = arith.subi %i, %j : index
    %d64 = arith.index_cast %d : index to i64
    %near = arith.cmpi sle, %d64, %w : i64
    %past = arith.cmpi sle, %j, %i : index
    %u = arith.andi %near, %past : i1
    %keep = arith.ori %g, %u : i1
    attn.yield %keep : i1
  } : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}

// Documents are data; causality is not.
// UNKNOWN: - the mask reads argument 1 of type tensor<?xi32>, which is not known here
// UNKNOWN: 6 of 16 tiles skipped (37.5 %), 0 full, 0 partial, 10 decided at run time
// UNKNOWN: 0  ?...
// UNKNOWN: 8  ??..
// UNKNOWN: 16  ???.
// UNKNOWN: 24  ????
func.func @document(%q: !t, %ids: tensor<?xi32>) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %q, %q scale(%scale)
      masks(document_causal<top_left>(%ids : tensor<?xi32>, %ids : tensor<?xi32>)) : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}

// A table that the function itself computes is known: documents of 8 positions.
// TABLE-NOT: not known
// TABLE: 2 of 4 tiles skipped (50.0 %), 2 full, 0 partial
// TABLE: 0  #.
// TABLE: 8  .#
func.func @table(%q: tensor<1x1x16x32xf32>) -> tensor<1x1x16x32xf32> {
  %scale = arith.constant 0.5 : f32
  %c8 = arith.constant 8 : index
  %ids = tensor.generate {
  ^bb0(%n: index):
    %d = arith.divui %n, %c8 : index
    tensor.yield %d : index
  } : tensor<16xindex>
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %x = tensor.extract %ids[%i] : tensor<16xindex>
    %y = tensor.extract %ids[%j] : tensor<16xindex>
    %keep = arith.cmpi eq, %x, %y : index
    attn.yield %keep : i1
  } : tensor<1x1x16x32xf32>, tensor<1x1x16x32xf32>, tensor<1x1x16x32xf32>
    outs(%q : tensor<1x1x16x32xf32>) -> tensor<1x1x16x32xf32>
  return %out : tensor<1x1x16x32xf32>
}

// Buffers are mapped as tensors are.
// BUFFERS: kvLen 20
// BUFFERS: 0  #/.
func.func @buffers(%q: memref<1x1x4x32xf32>, %k: memref<1x1x?x32xf32>, %n: memref<1xi64>) {
  %scale = arith.constant 0.5 : f32
  attn.attention %q, %k, %k scale(%scale) where(%b, %h, %i, %j) {
    %x = memref.load %n[%b] : memref<1xi64>
    %y = arith.index_cast %x : i64 to index
    %keep = arith.cmpi slt, %j, %y : index
    attn.yield %keep : i1
  } : memref<1x1x4x32xf32>, memref<1x1x?x32xf32>, memref<1x1x?x32xf32> outs(%q : memref<1x1x4x32xf32>)
  return
}

// What changes from call to call of the op is not known.
// LOOP: - the mask reads a variable of 'scf.for' of type index, which is not known here
// LOOP: 0  ?.
func.func @loop(%q: !t, %n: index) -> !t {
  %scale = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %x = %c0 to %n step %c1 iter_args(%a = %q) -> !t {
    %out = attn.attention %a, %q, %q scale(%scale) where(%b, %h, %i, %j) {
      %near = arith.cmpi sle, %j, %x : index
      %past = arith.cmpi sle, %j, %i : index
      %keep = arith.andi %near, %past : i1
      attn.yield %keep : i1
    } : !t, !t, !t outs(%q : !t) -> !t
    scf.yield %out : !t
  }
  return %r : !t
}

// A private function is seen where it is called, with what it is called with.
// CALLER: caller at masks.mlir
// CALLER: - rows i0 to i1 visit keys [-inf, 4)
// CALLER: 0  /.
// NONE: no tiles
func.func private @helper(%q: !t, %n: index) -> !t {
  %scale = arith.constant 0.5 : f32
  %out = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %keep = arith.cmpi slt, %j, %n : index
    attn.yield %keep : i1
  } : !t, !t, !t outs(%q : !t) -> !t
  return %out : !t
}
func.func @caller(%q: !t) -> !t {
  %n = arith.constant 4 : index
  %out = call @helper(%q, %n) : (!t, index) -> !t
  return %out : !t
}
