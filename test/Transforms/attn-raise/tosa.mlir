// RUN: attn-opt %s --attn-raise | FileCheck %s
// RUN: attn-run %s --function=scatter --fill=0:iota --fill=1:list:3:0:2:1 --fill=2:list:100:101:102:103:104:105:106:107 \
// RUN:   --print | FileCheck %s --check-prefix=SCATTER
// RUN: not attn-run %s --function=scatter --fill=0:iota --fill=1:list:3:0:4:1 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: attn-run %s --function=softmax --check
// RUN: attn-run %s --function=loop --fill=0:value:2 --print | FileCheck %s --check-prefix=LOOP
// RUN: attn-run %s --function=dynamic_broadcast --shape=0:5x3 --check
// RUN: attn-run %s --function=dynamic_broadcast --shape=0:1x3 --check

// CHECK-LABEL: func @softmax
// CHECK-NOT: tosa.
// CHECK: linalg.batch_matmul
// CHECK-NOT: tosa.
// CHECK: math.exp
// CHECK-NOT: tosa.
func.func @softmax(%q: tensor<6x7x4xf32>, %k: tensor<6x4x9xf32>) -> tensor<2x3x7x9xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.matmul %q, %k, %zero, %zero
      : (tensor<6x7x4xf32>, tensor<6x4x9xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<6x7x9xf32>
  %shape = tosa.const_shape {values = dense<[2, 3, 7, 9]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %scores = tosa.reshape %s, %shape : (tensor<6x7x9xf32>, !tosa.shape<4>) -> tensor<2x3x7x9xf32>
  %m = tosa.reduce_max %scores {axis = 3 : i32} : (tensor<2x3x7x9xf32>) -> tensor<2x3x7x1xf32>
  %d = tosa.sub %scores, %m : (tensor<2x3x7x9xf32>, tensor<2x3x7x1xf32>) -> tensor<2x3x7x9xf32>
  %e = tosa.exp %d : (tensor<2x3x7x9xf32>) -> tensor<2x3x7x9xf32>
  %sum = tosa.reduce_sum %e {axis = 3 : i32} : (tensor<2x3x7x9xf32>) -> tensor<2x3x7x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<2x3x7x1xf32>) -> tensor<2x3x7x1xf32>
  %p = tosa.mul %e, %inverse, %shift
      : (tensor<2x3x7x9xf32>, tensor<2x3x7x1xf32>, tensor<1xi8>) -> tensor<2x3x7x9xf32>
  return %p : tensor<2x3x7x9xf32>
}

// Rows of 2, positions 3 and 0 of the first, 2 and 1 of the second of two blocks of 4 rows.
// CHECK-LABEL: func @scatter
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tensor.insert_slice
// CHECK-NOT: tosa.
// SCATTER: result 0: 2x4x2xf32
// SCATTER-NEXT: [0, 0] 102 103
// SCATTER-NEXT: [0, 1] 2 3
// SCATTER-NEXT: [0, 2] 4 5
// SCATTER-NEXT: [0, 3] 100 101
// SCATTER-NEXT: [1, 0] 8 9
// SCATTER-NEXT: [1, 1] 106 107
// SCATTER-NEXT: [1, 2] 104 105
// SCATTER-NEXT: [1, 3] 14 15
// OUTSIDE: error: {{.*}}insert_slice
func.func @scatter(%values: tensor<2x4x2xf32>, %indices: tensor<2x2xi32>, %input: tensor<2x2x2xf32>)
    -> tensor<2x4x2xf32> {
  %r = tosa.scatter %values, %indices, %input
      : (tensor<2x4x2xf32>, tensor<2x2xi32>, tensor<2x2x2xf32>) -> tensor<2x4x2xf32>
  return %r : tensor<2x4x2xf32>
}

// Counts from 2 while below 5.
// CHECK-LABEL: func @loop
// CHECK: scf.while
// CHECK-NOT: tosa.
// LOOP: {{^}}  5
func.func @loop(%x: tensor<i32>) -> tensor<i32> {
  %r = tosa.while_loop (%a = %x) : (tensor<i32>) -> tensor<i32> {
    %c = "tosa.const"() <{values = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %l = tosa.greater %c, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %l : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %n = tosa.add %a, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %n : tensor<i32>
  }
  return %r : tensor<i32>
}

// CHECK-LABEL: func @dynamic_broadcast
// CHECK-NOT: tosa.
func.func @dynamic_broadcast(%x: tensor<?x3xf32>, %y: tensor<1x3xf32>) -> tensor<?x3xf32> {
  %r = tosa.add %x, %y : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  %m = tosa.reduce_max %r {axis = 0 : i32} : (tensor<?x3xf32>) -> tensor<1x3xf32>
  %s = tosa.sub %r, %m : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  return %s : tensor<?x3xf32>
}
