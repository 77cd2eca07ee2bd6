// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// Packed QKV: one tensor, its second dimension picks query, key or value.
// CHECK-LABEL: func @packed(
// CHECK: layout(query(b, i, 0, h, d), key(b, j, 1, h, d), value(b, j, 2, h, e), out(b, i, h, e))
func.func @packed(%qkv: tensor<2x5x3x4x8xf32>, %o: tensor<2x5x4x8xf32>, %s: f32) -> tensor<2x5x4x8xf32> {
  %0 = attn.attention %qkv, %qkv, %qkv scale(%s)
      layout(out(b, i, h, e), value(b, j, 2, h, e), query(b, i, 0, h, d), key(b, j, 1, h, d))
      : tensor<2x5x3x4x8xf32>, tensor<2x5x3x4x8xf32>, tensor<2x5x3x4x8xf32>
        outs(%o : tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  return %0 : tensor<2x5x4x8xf32>
}

// Absent b and h have size 1, in lse and the shared key head too.
// CHECK-LABEL: func @absent_batch_and_heads(
// CHECK: layout(query(i, h, d), key(j, d), value(e, j), out(h, e, i))
func.func @absent_batch_and_heads(%q: tensor<5x4x8xf32>, %k: tensor<7x8xf32>, %v: tensor<6x7xf32>,
                                  %o: tensor<4x6x5xf32>, %l: tensor<1x4x5xf32>, %s: f32)
    -> (tensor<4x6x5xf32>, tensor<1x4x5xf32>) {
  %0:2 = attn.attention %q, %k, %v scale(%s) layout(query(i, h, d), key(j, d), value(e, j), out(h, e, i))
      : tensor<5x4x8xf32>, tensor<7x8xf32>, tensor<6x7xf32>
        outs(%o : tensor<4x6x5xf32>) lse(%l : tensor<1x4x5xf32>) -> tensor<4x6x5xf32>, tensor<1x4x5xf32>
  return %0#0, %0#1 : tensor<4x6x5xf32>, tensor<1x4x5xf32>
}

// CHECK-LABEL: func @position_in_a_dynamic_dimension(
// CHECK: layout(key(b, 9, h, j, d))
func.func @position_in_a_dynamic_dimension(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
                                           %o: tensor<?x?x?x?xf32>, %s: f32) -> tensor<?x?x?x?xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) layout(key(b, 9, h, j, d))
      : tensor<?x?x?x?xf32>, tensor<?x?x?x?x?xf32>, tensor<?x?x?x?xf32>
        outs(%o : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %0 : tensor<?x?x?x?xf32>
}

// On memrefs there are no results; captured memrefs are read by memref.load.
// CHECK-LABEL: func @memrefs(
// CHECK: memref.load
// CHECK: } : memref<2x4x5x8xf32>, memref<2x2x7x8xf32, strided<[?, ?, ?, 1], offset: ?>>, memref<2x2x7x6xf32>
// CHECK-SAME: outs(%{{.+}} : memref<2x4x5x6xf32>) lse(%{{.+}} : memref<2x4x5xf32>){{$}}
func.func @memrefs(%q: memref<2x4x5x8xf32>, %k: memref<2x2x7x8xf32, strided<[?, ?, ?, 1], offset: ?>>,
                   %v: memref<2x2x7x6xf32>, %o: memref<2x4x5x6xf32>, %l: memref<2x4x5xf32>, %keep: memref<5x7xi1>,
                   %s: f32) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %m = memref.load %keep[%i, %j] : memref<5x7xi1>
    attn.yield %m : i1
  } : memref<2x4x5x8xf32>, memref<2x2x7x8xf32, strided<[?, ?, ?, 1], offset: ?>>, memref<2x2x7x6xf32>
      outs(%o : memref<2x4x5x6xf32>) lse(%l : memref<2x4x5xf32>)
  return
}

// Sizes of 0 and products that only a zero keeps in range are valid.
// CHECK-LABEL: func @sizes_of_zero(
// CHECK: attn.attention
func.func @sizes_of_zero(%q: tensor<0x4x5x0xf32>, %k: tensor<0x2x0x0xf32>, %v: tensor<0x2x0x4611686018427387904xf32>,
                         %o: tensor<0x4x5x4611686018427387904xf32>, %s: f32)
    -> tensor<0x4x5x4611686018427387904xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      : tensor<0x4x5x0xf32>, tensor<0x2x0x0xf32>, tensor<0x2x0x4611686018427387904xf32>
        outs(%o : tensor<0x4x5x4611686018427387904xf32>) -> tensor<0x4x5x4611686018427387904xf32>
  return %0 : tensor<0x4x5x4611686018427387904xf32>
}
