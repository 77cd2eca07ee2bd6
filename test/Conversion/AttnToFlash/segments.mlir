// RUN: attn-opt %s --convert-attn-to-flash="tile-kv=8 segment-keys=16 target=x86-64-v3" --canonicalize --cse | FileCheck %s
// RUN: attn-opt %s --convert-attn-to-flash="tile-kv=8 segment-keys=17 target=x86-64-v3" --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=ROUNDED
// RUN: attn-opt %s --convert-attn-to-flash="target=x86-64-v3" --canonicalize --cse | FileCheck %s --check-prefix=MODEL

// One query of 8 heads on 2 kv heads, any number of keys: each segment is an item of the first loop. Nothing is masked,
// so that each has keys. The second loop merges them in ascending order.
// CHECK-LABEL: func.func @one_query
// CHECK-SAME: %[[Q:[^:,]+]]: memref<3x8x1x40xf32>, %[[K:[^:,]+]]: memref<3x2x?x40xf32>
// CHECK-SAME: %[[O:[^:,]+]]: memref<3x8x1x24xf32>, %[[LSE:[^:,]+]]: memref<3x8x1xf32>
// CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
// CHECK-DAG: %[[LEN:.+]] = memref.dim %[[K]]
// CHECK: %[[COUNT:.+]] = arith.ceildivui %[[LEN]], %[[C16]]
// CHECK: %[[ENTRIES:.+]] = arith.muli %[[COUNT]], %{{.+}}
// CHECK: %[[MAX:.+]] = memref.alloc(%[[ENTRIES]]) : memref<?x8x1xf32>
// CHECK: %[[SUM:.+]] = memref.alloc(%[[ENTRIES]]) : memref<?x8x1xf32>
// CHECK: %[[ACC:.+]] = memref.alloc(%[[ENTRIES]]) : memref<?x8x1x24xf32>
// CHECK: scf.forall (%[[B:.+]], %[[HK:.+]], %[[S:.+]]) in (3, 2, %[[COUNT]])
// CHECK-NOT: scf.if
// CHECK: flash.load_query
// CHECK: flash.init : !flash.rows<8, f32>
// CHECK: %[[PART:.+]]:3 = scf.for
// CHECK: flash.accumulate
// CHECK: %[[FIRST:.+]] = arith.muli %[[B]], %[[COUNT]]
// CHECK: %[[P:.+]] = arith.addi %[[FIRST]], %[[S]]
// CHECK: flash.store_partial %[[PART]]#0, %[[PART]]#1, %[[PART]]#2, %[[MAX]], %[[SUM]], %[[ACC]][%[[P]], %{{.+}}, %{{.+}}] rows %{{.+}} group 4
// CHECK: scf.forall (%[[B2:.+]], %{{.+}}) in (3, 2)
// CHECK: %[[M0:.+]], %[[L0:.+]], %[[A0:.+]] = flash.init
// CHECK: %[[R:.+]]:3 = scf.for %[[S2:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[M:.+]] = %[[M0]], %[[L:.+]] = %[[L0]], %[[A:.+]] = %[[A0]])
// CHECK: %[[PM:.+]], %[[PL:.+]], %[[PA:.+]] = flash.load_partial %[[MAX]], %[[SUM]], %[[ACC]][%{{.+}}, %{{.+}}, %{{.+}}] rows %{{.+}} group 4
// CHECK: %[[NM:.+]], %[[NL:.+]], %[[NA:.+]] = flash.merge(%[[M]], %[[L]], %[[A]]), (%[[PM]], %[[PL]], %[[PA]])
// CHECK: scf.yield %[[NM]], %[[NL]], %[[NA]]
// CHECK: flash.store %[[R]]#2, %[[R]]#1, %[[O]]
// CHECK: flash.store_lse %[[R]]#0, %[[R]]#1, %[[LSE]]
// CHECK: memref.dealloc %[[MAX]]
// CHECK: memref.dealloc %[[SUM]]
// CHECK: memref.dealloc %[[ACC]]

// A segment is a whole number of tiles.
// ROUNDED-LABEL: func.func @one_query
// ROUNDED: %[[C24:.+]] = arith.constant 24 : index
// ROUNDED: arith.ceildivui %{{.+}}, %[[C24]]

// The model's segments have 2048 keys, rounded up to its tiles of 120.
// MODEL-LABEL: func.func @one_query
// MODEL: %[[C2160:.+]] = arith.constant 2160 : index
// MODEL: arith.ceildivui %{{.+}}, %[[C2160]]
func.func @one_query(%q: memref<3x8x1x40xf32>, %k: memref<3x2x?x40xf32>, %v: memref<3x2x?x24xf32>,
                     %o: memref<3x8x1x24xf32>, %lse: memref<3x8x1xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) : memref<3x8x1x40xf32>, memref<3x2x?x40xf32>, memref<3x2x?x24xf32>
    outs(%o : memref<3x8x1x24xf32>) lse(%lse : memref<3x8x1xf32>)
  return
}

// A segment without a key of the window is left out by both loops; the sink joins in the second one.
// CHECK-LABEL: func.func @window_and_sink
// CHECK: memref.alloc() : memref<12x8x1xf32>
// CHECK: scf.forall (%{{.+}}, %{{.+}}, %[[S:.+]]) in (3, 8, 4)
// CHECK-DAG: %[[START:.+]] = arith.muli %[[S]], %[[C16:.+]] : index
// CHECK-DAG: %[[STOP:.+]] = arith.addi %[[START]], %[[C16]] : index
// CHECK: %[[F:.+]] = arith.minsi %{{.+}}, %[[STOP]]
// CHECK: %[[E:.+]] = arith.minsi %{{.+}}, %[[STOP]]
// CHECK: %[[SOME:.+]] = arith.cmpi slt, %[[F]], %[[E]]
// CHECK: scf.if %[[SOME]] {
// CHECK: flash.init :
// CHECK: scf.for %{{.+}} = %[[F]] to %[[E]]
// CHECK: flash.store_partial
// CHECK: scf.forall (%{{.+}}, %[[H:.+]]) in (3, 8)
// CHECK: %[[FIRST:.+]] = arith.divui %[[FROM:.+]], %[[C16]]
// CHECK: %[[ANY:.+]] = arith.cmpi slt, %[[FROM]], %{{.+}}
// CHECK: %[[LAST:.+]] = arith.select %[[ANY]], %{{.+}}, %[[FIRST]]
// CHECK: %[[LOGIT:.+]] = memref.load %{{.+}}[%[[H]]]
// CHECK: flash.init sink %[[LOGIT]]
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %[[LAST]]
func.func @window_and_sink(%q: memref<3x8x1x40xf32>, %k: memref<3x2x61x40xf32>, %v: memref<3x2x61x24xf32>,
                           %o: memref<3x8x1x24xf32>, %s: f32, %sink: memref<8xf32>, %reach: index) {
  attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %first = arith.subi %reach, %i : index
    %keep = arith.cmpi sge, %j, %first : index
    attn.yield %keep : i1
  } sink(%sink : memref<8xf32>) : memref<3x8x1x40xf32>, memref<3x2x61x40xf32>, memref<3x2x61x24xf32> outs(%o : memref<3x8x1x24xf32>)
  return
}

// Not split: keys of one segment; what has weights; what is in a parallel loop; for the model, many queries.
// CHECK-LABEL: func.func @one_segment
// CHECK-NOT: flash.merge
// CHECK-LABEL: func.func @weights
// CHECK-NOT: flash.merge
// CHECK-LABEL: func.func @in_a_parallel_loop
// CHECK-NOT: flash.merge
// CHECK-LABEL: func.func @many_queries
// MODEL-LABEL: func.func @many_queries
// MODEL-NOT: flash.merge
func.func @one_segment(%q: memref<3x8x1x40xf32>, %k: memref<3x2x16x40xf32>, %v: memref<3x2x16x24xf32>,
                       %o: memref<3x8x1x24xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) : memref<3x8x1x40xf32>, memref<3x2x16x40xf32>, memref<3x2x16x24xf32>
    outs(%o : memref<3x8x1x24xf32>)
  return
}

func.func @weights(%q: memref<3x8x1x40xf32>, %k: memref<3x2x61x40xf32>, %v: memref<3x2x61x24xf32>,
                   %o: memref<3x8x1x24xf32>, %lse: memref<3x8x1xf32>, %w: memref<3x8x1x61xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) : memref<3x8x1x40xf32>, memref<3x2x61x40xf32>, memref<3x2x61x24xf32>
    outs(%o : memref<3x8x1x24xf32>) lse(%lse : memref<3x8x1xf32>) weights(%w : memref<3x8x1x61xf32>)
  return
}

func.func @in_a_parallel_loop(%q: memref<3x8x1x40xf32>, %k: memref<3x2x61x40xf32>, %v: memref<3x2x61x24xf32>,
                              %o: memref<3x8x1x24xf32>, %s: f32) {
  scf.forall (%n) in (2) {
    attn.attention %q, %k, %v scale(%s) : memref<3x8x1x40xf32>, memref<3x2x61x40xf32>, memref<3x2x61x24xf32>
      outs(%o : memref<3x8x1x24xf32>)
  }
  return
}

func.func @many_queries(%q: memref<3x8x65x40xf32>, %k: memref<3x2x9000x40xf32>, %v: memref<3x2x9000x24xf32>,
                        %o: memref<3x8x65x24xf32>, %s: f32) {
  attn.attention %q, %k, %v scale(%s) : memref<3x8x65x40xf32>, memref<3x2x9000x40xf32>, memref<3x2x9000x24xf32>
    outs(%o : memref<3x8x65x24xf32>)
  return
}
