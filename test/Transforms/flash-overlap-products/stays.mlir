// RUN: attn-opt %s --flash-overlap-products --split-input-file | FileCheck %s
// RUN: attn-opt %s --flash-overlap-products=target=sm_80 --split-input-file | FileCheck %s --check-prefix=SM80

// Where a warp multiplies its own rows, nothing changes.
// SM80-NOT: flash.begin_scores
// SM80-NOT: flash.finish_scores

!m = memref<1x1x?x64xf16>
!rows = !flash.rows<128, f32>
!acc = !flash.acc<128 x 64, f32>
!scores = !flash.scores<128 x 128, f32>

// One tile, without a loop, is multiplied in order.
// CHECK-LABEL: func.func @one_tile
// CHECK: %[[P:.+]] = flash.begin_scores
// CHECK-NEXT: %[[S:.+]], %[[T:.+]] = flash.finish_scores %[[P]]
// CHECK-NEXT: flash.update_max
// CHECK-NEXT: %[[W:.+]], %{{.+}} = flash.weights %[[S]]
// CHECK-NEXT: %[[R:.+]] = flash.round_weights %[[W]] : !flash.scores<128 x 128, f32> -> !flash.scores<128 x 128, f16>
// CHECK-NEXT: %[[B:.+]] = flash.begin_accumulate {{.*}}, %[[R]],
// CHECK-NEXT: %[[A:.+]] = flash.finish_accumulate %[[B]]
// CHECK-NEXT: return %[[A]]
func.func @one_tile(%query: !flash.query<128 x 64, f16>, %k: !m, %v: !m, %m: !rows, %l: !rows, %a: !acc, %n: index)
    -> !acc {
  %s, %t = flash.scores %query, %k at(%n, %n : %n, %n, %n) rows %n keys %n : !flash.query<128 x 64, f16>, !m -> !scores, !rows
  %x, %r = flash.update_max %m, %t : !rows
  %p, %u = flash.weights %s, %x, %l, %r rows %n keys %n : !scores, !rows
  %b = flash.accumulate %a, %r, %p, %v[%n, %n, %n] rows %n keys %n : !acc, !rows, !scores, !m
  return %b : !acc
}

// A tile that may be left out, at run time, keeps its loop in order.
// CHECK-LABEL: func.func @skipped_tiles
// CHECK: scf.for {{.*}} -> (!flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>)
// CHECK: scf.if
// CHECK: flash.begin_scores
// CHECK-NEXT: flash.finish_scores
// CHECK: flash.begin_accumulate
// CHECK-NEXT: flash.finish_accumulate
func.func @skipped_tiles(%query: !flash.query<128 x 64, f16>, %k: !m, %v: !m, %m0: !rows, %l0: !rows, %a0: !acc,
                         %n: index, %codes: memref<?xi32>) -> !acc {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %empty = arith.constant 0 : i32
  %w:3 = scf.for %j = %c0 to %n step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %code = memref.load %codes[%j] : memref<?xi32>
    %some = arith.cmpi ne, %code, %empty : i32
    %i:3 = scf.if %some -> (!rows, !rows, !acc) {
      %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %n keys %n : !flash.query<128 x 64, f16>, !m -> !scores, !rows
      %x, %r = flash.update_max %m, %t : !rows
      %p, %u = flash.weights %s, %x, %l, %r rows %n keys %n : !scores, !rows
      %b = flash.accumulate %a, %r, %p, %v[%c0, %c0, %j] rows %n keys %n : !acc, !rows, !scores, !m
      scf.yield %x, %u, %b : !rows, !rows, !acc
    } else {
      scf.yield %m, %l, %a : !rows, !rows, !acc
    }
    scf.yield %i#0, %i#1, %i#2 : !rows, !rows, !acc
  }
  return %w#2 : !acc
}

// Weights that are written have no second product.
// CHECK-LABEL: func.func @weights
// CHECK: scf.for
// CHECK: %[[P:.+]] = flash.begin_scores
// CHECK-NEXT: %[[S:.+]], %{{.+}} = flash.finish_scores %[[P]]
// CHECK-NEXT: flash.store_weights %[[S]]
// CHECK: return
func.func @weights(%query: !flash.query<128 x 64, f16>, %k: !m, %m: !rows, %l: !rows, %o: memref<1x1x?x?xf32>,
                   %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c128 {
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %n keys %n : !flash.query<128 x 64, f16>, !m -> !scores, !rows
    flash.store_weights %s, %m, %l, %o[%c0, %c0, %c0, %j] rows %n keys %n zeros %n : !scores, !rows, memref<1x1x?x?xf32>
  }
  return
}

// Steps that are not those of one tile stay where they are: weights of another loop, a tile op beside the steps.
// CHECK-LABEL: func.func @other_weights
// CHECK: scf.for {{.*}} -> (!flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>)
// CHECK: flash.begin_scores
// CHECK-NEXT: flash.finish_scores
// CHECK: flash.begin_accumulate %{{.+}}, %{{.+}}, %arg6,
// CHECK-NEXT: flash.finish_accumulate
func.func @other_weights(%query: !flash.query<128 x 64, f16>, %k: !m, %v: !m, %m0: !rows, %l0: !rows, %a0: !acc,
                         %given: !flash.scores<128 x 128, f16>, %r0: !rows, %n: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %w:3 = scf.for %j = %c0 to %n step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %n keys %n : !flash.query<128 x 64, f16>, !m -> !scores, !rows
    %x, %r = flash.update_max %m, %t : !rows
    %p, %u = flash.weights %s, %x, %l, %r rows %n keys %n : !scores, !rows
    %q = flash.round_weights %p : !scores -> !flash.scores<128 x 128, f16>
    %b = flash.begin_accumulate %a, %r0, %given, %v[%c0, %c0, %j] keys %n : !acc, !rows, !flash.scores<128 x 128, f16>, !m
    %e = flash.finish_accumulate %b : !acc
    scf.yield %x, %u, %e : !rows, !rows, !acc
  }
  return %w#2 : !acc
}

// CHECK-LABEL: func.func @no_softmax
// CHECK: scf.for {{.*}} -> (!flash.rows<128, f32>, !flash.rows<128, f32>, !flash.acc<128 x 64, f32>)
// CHECK: flash.begin_scores
// CHECK-NEXT: flash.finish_scores
// CHECK-NEXT: flash.merge
func.func @no_softmax(%query: !flash.query<128 x 64, f16>, %k: !m, %m0: !rows, %l0: !rows, %a0: !acc, %n: index) -> !acc {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %w:3 = scf.for %j = %c0 to %n step %c128 iter_args(%m = %m0, %l = %l0, %a = %a0) -> (!rows, !rows, !acc) {
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %j) rows %n keys %n : !flash.query<128 x 64, f16>, !m -> !scores, !rows
    %x, %u, %e = flash.merge(%m, %l, %a), (%t, %l, %a) rows %n : !rows, !acc
    scf.yield %x, %u, %e : !rows, !rows, !acc
  }
  return %w#2 : !acc
}

// -----

// wgmma multiplies 16-bit elements, 64 or 128 rows of them.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: begin_
// CHECK: flash.scores
func.func @wide(%query: !flash.query<128 x 64, f32>, %k: memref<1x1x?x64xf32>, %n: index)
    -> (!flash.scores<128 x 32, f32>, !flash.rows<128, f32>) {
  %s, %t = flash.scores %query, %k at(%n, %n : %n, %n, %n) rows %n keys %n
    : !flash.query<128 x 64, f32>, memref<1x1x?x64xf32> -> !flash.scores<128 x 32, f32>, !flash.rows<128, f32>
  return %s, %t : !flash.scores<128 x 32, f32>, !flash.rows<128, f32>
}

// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: begin_
// CHECK: flash.scores
func.func @few_rows(%query: !flash.query<16 x 64, f16>, %k: memref<1x1x?x64xf16>, %n: index)
    -> (!flash.scores<16 x 64, f32>, !flash.rows<16, f32>) {
  %s, %t = flash.scores %query, %k at(%n, %n : %n, %n, %n) rows %n keys %n
    : !flash.query<16 x 64, f16>, memref<1x1x?x64xf16> -> !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
  return %s, %t : !flash.scores<16 x 64, f32>, !flash.rows<16, f32>
}
