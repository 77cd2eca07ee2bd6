// RUN: attn-opt %s --attn-raise | FileCheck %s --implicit-check-not=affine.
// RUN: attn-run %s --function=digits --scalar=0:47 --scalar=1:4 --print --check --target=x86-64-v3 | FileCheck %s --check-prefix=POSITIVE
// RUN: attn-run %s --function=digits --scalar=0:-1 --scalar=1:4 --print --check --target=x86-64-v3 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not attn-run %s --function=digits --scalar=0:47 --scalar=1:0 --target=x86-64-v3 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: attn-run %s --function=diagonal --print --check --target=x86-64-v3 | FileCheck %s --check-prefix=DIAGONAL
// RUN: attn-run %s --function=diagonal --print --check --target=emulator:sm_80 | FileCheck %s --check-prefix=DIAGONAL
// RUN: attn-run %s --function=diagonal --print --check --target=emulator:sm_90a | FileCheck %s --check-prefix=DIAGONAL

// 47 = (3 * 4 + 3) * 3 + 2; with an outer size the first digit is what is left, too. -1 is the last place of row -1.
// CHECK-LABEL: func.func @digits
// CHECK-SAME: %[[X:[^:]+]]: index, %[[N:[^:]+]]: index
// CHECK: arith.floordivsi %[[X]], %c3
// POSITIVE: result 0: i64
// POSITIVE: 3
// POSITIVE: result 1: i64
// POSITIVE: 3
// POSITIVE: result 2: i64
// POSITIVE: 2
// POSITIVE: result 3: i64
// POSITIVE: 47
// POSITIVE: result 4: i64
// POSITIVE: 15
// POSITIVE: check: PASS
// NEGATIVE: result 0: i64
// NEGATIVE: -1
// NEGATIVE: result 1: i64
// NEGATIVE: 3
// NEGATIVE: result 2: i64
// NEGATIVE: 2
// NEGATIVE: result 3: i64
// NEGATIVE: -1
// NEGATIVE: result 4: i64
// NEGATIVE: -1
// NEGATIVE: check: PASS
// ZERO: error: @digits: 'arith.floordivsi' at {{.*}}: divides by zero
func.func @digits(%x: index, %n: index) -> (index, index, index, index, index) {
  %d:3 = affine.delinearize_index %x into (%n, 3) : index, index, index
  %place = affine.linearize_index disjoint [%d#0, %d#1, %d#2] by (7, %n, 3) : index
  %e:2 = affine.delinearize_index %x into (16, 3) : index, index
  return %d#0, %d#1, %d#2, %place, %e#0 : index, index, index, index, index
}

// Element n of 3 x 4 is 10 times its row and its column.
// DIAGONAL: result 0: 12xi32
// DIAGONAL: 0 1 2 3 10 11 12 13
// DIAGONAL: 20 21 22 23
// DIAGONAL: check: PASS
func.func @diagonal() -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      outs(%e : tensor<12xi32>) {
  ^bb0(%o: i32):
    %n = linalg.index 0 : index
    %rc:2 = affine.delinearize_index %n into (3, 4) : index, index
    %v = affine.linearize_index [%rc#0, %rc#1] by (3, 10) : index
    %i = arith.index_cast %v : index to i32
    linalg.yield %i : i32
  } -> tensor<12xi32>
  return %r : tensor<12xi32>
}
