// RUN: attn-run %s --function=far --check --print | FileCheck %s --check-prefix=FAR
// RUN: attn-run %s --function=far --check --target=emulator:sm_80 | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=short --shape=1:3 --fill=1:list:0:0:1 --fill=0:ones --check --print | FileCheck %s --check-prefix=SHORT
// RUN: attn-run %s --function=short --shape=1:3 --fill=1:list:0:0:1 --fill=0:ones --check --target=emulator:sm_90a | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=short --shape=1:0 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: attn-run %s --function=dynamic --shape=0:2x3x5x7 --shape=1:4x2 --fill=1:range:0:1 --fill=2:range:-9:9 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=dynamic --shape=0:2x0x5x7 --shape=1:0x2 --fill=2:range:-9:9 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=within --fill=1:range:0:1 --check | FileCheck %s --check-prefix=PASS

// Reads of a mask outside of a tensor are clamped to it, as those of attention.
// PASS: check: PASS

// The index is far outside but for the first: the last element decides, 7 > 5.
// FAR: 1x1x1x7xf32
// FAR: 1 2 3 4 5 6 7
// FAR: check: PASS
func.func @far(%x: tensor<1x1x1x7xf32>, %o: tensor<1x1x1x7xf32>) -> tensor<1x1x1x7xf32> {
  %t = arith.constant dense<[6.0, 0.0, 7.0]> : tensor<3xf32>
  %seven = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]]]> : tensor<1x1x1x7xf32>
  %r = attn.mask %seven where(%b, %h, %i, %j) {
    %c = arith.constant 1000000000 : index
    %n = arith.muli %j, %c : index
    %m = tensor.extract %t[%n] : tensor<3xf32>
    %five = arith.constant 5.0 : f32
    %k = arith.cmpf ogt, %m, %five : f32
    attn.yield %k : i1
  } : tensor<1x1x1x7xf32> outs(%o : tensor<1x1x1x7xf32>) -> tensor<1x1x1x7xf32>
  return %r : tensor<1x1x1x7xf32>
}

// Keys 2 and later have the last element.
// SHORT: -inf -inf 1 1 1 1 1
// SHORT: check: PASS
// EMPTY: error: @short: expected a tensor that a score or mask region reads to have elements
func.func @short(%x: tensor<1x1x1x7xf32>, %t: tensor<?xi1>, %o: tensor<1x1x1x7xf32>) -> tensor<1x1x1x7xf32> {
  %r = attn.mask %x where(%b, %h, %i, %j) {
    %m = tensor.extract %t[%j] : tensor<?xi1>
    attn.yield %m : i1
  } : tensor<1x1x1x7xf32> outs(%o : tensor<1x1x1x7xf32>) -> tensor<1x1x1x7xf32>
  return %r : tensor<1x1x1x7xf32>
}

// Two dimensions, one at a computed index, and a named mask beside the region.
func.func @dynamic(%x: tensor<?x?x?x?xf32>, %t: tensor<?x?xi1>, %at: tensor<5xindex>) -> tensor<?x?x?x?xf32> {
  %r = attn.mask %x masks(causal<bottom_right>) where(%b, %h, %i, %j) {
    %n = tensor.extract %at[%i] : tensor<5xindex>
    %m = tensor.extract %t[%j, %n] : tensor<?x?xi1>
    attn.yield %m : i1
  } : tensor<?x?x?x?xf32> outs(%x : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// What is inside by its types is read as it is.
func.func @within(%x: tensor<2x3x5x7xf32>, %t: tensor<5x7xi1>) -> tensor<2x3x5x7xf32> {
  %r = attn.mask %x where(%b, %h, %i, %j) {
    %m = tensor.extract %t[%i, %j] : tensor<5x7xi1>
    attn.yield %m : i1
  } : tensor<2x3x5x7xf32> outs(%x : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return %r : tensor<2x3x5x7xf32>
}
