// RUN: attn-opt %s --convert-attn-to-flash="target=x86-64-v3" --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-flash="target=x86-64-v3 tile-q=8" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=SMALL

// Two queries of three heads are the rows of one tile; the parallel loop is over kv heads.
// CHECK-LABEL: func.func @few_queries
// CHECK: scf.forall (%[[B:.+]], %[[T:.+]]) in (2, 4) {
// CHECK:   %[[H:.+]] = arith.muli %[[T]], %c3
// CHECK:   flash.load_query %{{.+}}[%[[B]], %[[H]], %c0] rows %c6 group 3 : {{.*}} -> !flash.query<8 x 7, f32>
// CHECK:   flash.scores %{{.+}}, %{{.+}} at(%[[B]], %[[H]] : %{{.+}}, %c0, %{{.+}}) rows %c6 keys %{{.+}} group 3
// CHECK:   flash.store {{.*}}[%[[B]], %[[H]], %c0] rows %c6 group 3
// CHECK:   flash.store_lse {{.*}} rows %c6 group 3
// CHECK:   flash.store_weights {{.*}} group 3
func.func @few_queries(%q: memref<2x12x2x7xf32>, %k: memref<2x4x9x7xf32>, %v: memref<2x4x9x8xf32>,
                       %o: memref<2x12x2x8xf32>, %s: f32, %lse: memref<2x12x2xf32>, %w: memref<2x12x2x9xf32>) {
  attn.attention %q, %k, %v scale(%s) : memref<2x12x2x7xf32>, memref<2x4x9x7xf32>, memref<2x4x9x8xf32>
      outs(%o : memref<2x12x2x8xf32>) lse(%lse : memref<2x12x2xf32>) weights(%w : memref<2x12x2x9xf32>)
  return
}

// The bounds of a mask are those of the queries, not of the rows.
// CHECK-LABEL: func.func @queries_bound_the_keys
// CHECK: flash.scores {{.*}} rows %c6 keys %c3 group 2
func.func @queries_bound_the_keys(%q: memref<1x4x3x7xf32>, %k: memref<1x2x99x7xf32>, %v: memref<1x2x99x8xf32>,
                                  %o: memref<1x4x3x8xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %keep = arith.cmpi sle, %j, %i : index
    attn.yield %keep : i1
  } : memref<1x4x3x7xf32>, memref<1x2x99x7xf32>, memref<1x2x99x8xf32> outs(%o : memref<1x4x3x8xf32>)
  return
}

// Heads that a mask or a sink tells apart have tiles of their own, and so have more rows than a tile holds.
// CHECK-LABEL: func.func @mask_of_the_head
// CHECK-NOT: group
// CHECK-LABEL: func.func @sinks
// CHECK-NOT: group
// CHECK-LABEL: func.func @many_rows
// CHECK-NOT: group
// CHECK-LABEL: func.func @ten_rows
// CHECK: group 5
// SMALL-LABEL: func.func @few_queries
// SMALL: group 3
// SMALL-LABEL: func.func @ten_rows
// SMALL-NOT: group
func.func @mask_of_the_head(%q: memref<1x4x3x7xf32>, %k: memref<1x2x99x7xf32>, %v: memref<1x2x99x8xf32>,
                            %o: memref<1x4x3x8xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %keep = arith.cmpi sge, %j, %h : index
    attn.yield %keep : i1
  } : memref<1x4x3x7xf32>, memref<1x2x99x7xf32>, memref<1x2x99x8xf32> outs(%o : memref<1x4x3x8xf32>)
  return
}
func.func @sinks(%q: memref<1x4x3x7xf32>, %k: memref<1x2x99x7xf32>, %v: memref<1x2x99x8xf32>,
                 %o: memref<1x4x3x8xf32>, %s: f32, %sink: memref<4xf32>) {
  attn.attention %q, %k, %v scale(%s) sink(%sink : memref<4xf32>)
      : memref<1x4x3x7xf32>, memref<1x2x99x7xf32>, memref<1x2x99x8xf32> outs(%o : memref<1x4x3x8xf32>)
  return
}
func.func @many_rows(%q: memref<1x4x33x7xf32>, %k: memref<1x2x99x7xf32>, %v: memref<1x2x99x8xf32>,
                     %o: memref<1x4x33x8xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s)
      : memref<1x4x33x7xf32>, memref<1x2x99x7xf32>, memref<1x2x99x8xf32> outs(%o : memref<1x4x33x8xf32>)
  return
}
func.func @ten_rows(%q: memref<1x10x2x7xf32>, %k: memref<1x2x99x7xf32>, %v: memref<1x2x99x8xf32>,
                    %o: memref<1x10x2x8xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s)
      : memref<1x10x2x7xf32>, memref<1x2x99x7xf32>, memref<1x2x99x8xf32> outs(%o : memref<1x10x2x8xf32>)
  return
}
