// RUN: attn-opt %s --attn-raise | FileCheck %s --implicit-check-not=index.

// Every operation of the index dialect is one of arith.
// CHECK-LABEL: func @arithmetic(
// CHECK-SAME: %[[X:[^:]+]]: index, %[[Y:[^:]+]]: index
// CHECK: arith.addi %[[X]], %[[Y]] : index
// CHECK: arith.subi %[[X]], %[[Y]] : index
// CHECK: arith.muli %[[X]], %[[Y]] : index
// CHECK: arith.divsi %[[X]], %[[Y]] : index
// CHECK: arith.divui %[[X]], %[[Y]] : index
// CHECK: arith.ceildivsi %[[X]], %[[Y]] : index
// CHECK: arith.ceildivui %[[X]], %[[Y]] : index
// CHECK: arith.floordivsi %[[X]], %[[Y]] : index
// CHECK: arith.remsi %[[X]], %[[Y]] : index
// CHECK: arith.remui %[[X]], %[[Y]] : index
// CHECK: arith.maxsi %[[X]], %[[Y]] : index
// CHECK: arith.maxui %[[X]], %[[Y]] : index
// CHECK: arith.minsi %[[X]], %[[Y]] : index
// CHECK: arith.minui %[[X]], %[[Y]] : index
// CHECK: arith.shli %[[X]], %[[Y]] : index
// CHECK: arith.shrsi %[[X]], %[[Y]] : index
// CHECK: arith.shrui %[[X]], %[[Y]] : index
// CHECK: arith.andi %[[X]], %[[Y]] : index
// CHECK: arith.ori %[[X]], %[[Y]] : index
// CHECK: arith.xori %[[X]], %[[Y]] : index
func.func @arithmetic(%x: index, %y: index) {
  %add = index.add %x, %y
  %sub = index.sub %x, %y
  %mul = index.mul %x, %y
  %divs = index.divs %x, %y
  %divu = index.divu %x, %y
  %ceildivs = index.ceildivs %x, %y
  %ceildivu = index.ceildivu %x, %y
  %floordivs = index.floordivs %x, %y
  %rems = index.rems %x, %y
  %remu = index.remu %x, %y
  %maxs = index.maxs %x, %y
  %maxu = index.maxu %x, %y
  %mins = index.mins %x, %y
  %minu = index.minu %x, %y
  %shl = index.shl %x, %y
  %shrs = index.shrs %x, %y
  %shru = index.shru %x, %y
  %and = index.and %x, %y
  %or = index.or %x, %y
  %xor = index.xor %x, %y
  return
}

// CHECK-LABEL: func @others(
// CHECK-SAME: %[[X:[^:]+]]: index, %[[N:[^:]+]]: i32
// CHECK: %[[A:.+]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[B:.+]] = arith.index_castui %[[X]] : index to i64
// CHECK: %[[C:.+]] = arith.cmpi ule, %[[X]], %[[A]] : index
// CHECK: %[[D:.+]] = arith.constant -7 : index
// CHECK: %[[E:.+]] = arith.constant true
// CHECK: %[[F:.+]] = arith.constant 64 : index
// CHECK: return %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
func.func @others(%x: index, %n: i32) -> (i64, i1, index, i1, index) {
  %a = index.casts %n : i32 to index
  %b = index.castu %x : index to i64
  %c = index.cmp ule(%x, %a)
  %d = index.constant -7
  %e = index.bool.constant true
  %f = index.sizeof
  return %b, %c, %d, %e, %f : i64, i1, index, i1, index
}

// In regions as elsewhere.
// CHECK-LABEL: func @region(
// CHECK: where(%{{.+}}, %{{.+}}, %[[I:.+]], %[[J:.+]]) {
// CHECK-NEXT: %[[D:.+]] = arith.subi %[[J]], %[[I]] : index
func.func @region(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %scale = arith.constant 0.5 : f32
  %o = attn.attention %q, %q, %q scale(%scale) where(%b, %h, %i, %j) {
    %d = index.sub %j, %i
    %c = index.constant 0
    %w = index.cmp ule(%d, %c)
    attn.yield %w : i1
  } : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32> outs(%q : tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  return %o : tensor<1x2x5x8xf32>
}
