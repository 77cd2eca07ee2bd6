// RUN: attn-opt %s --convert-flash-to-cpu="target=x86-64-v3" --canonicalize --cse | FileCheck %s
// 16-bit keys and values are widened once for a tile, whole vectors and what is left of a row; rows that are not
// neighbours in memory are copied.

// CHECK-LABEL: func.func @keys_and_values
// CHECK-SAME: %[[K:[^:,]+]]: memref<1x2x99x40xbf16>, %[[V:[^:,]+]]: memref<1x2x99x16xbf16>
// CHECK-DAG: %[[WIDE_K:.+]] = memref.alloc() {{.*}}: memref<30x40xf32>
// CHECK-DAG: %[[WIDE_V:.+]] = memref.alloc() {{.*}}: memref<30x16xf32>
// CHECK: %[[KT:.+]] = memref.subview %[[K]]
// CHECK: vector.load %[[KT]][%[[J:.+]], %[[D:.+]]] : memref<?x40xbf16, {{.+}}>, vector<16xbf16>
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %{{.+}} : vector<16xbf16> to vector<16xf32>
// CHECK-NEXT: vector.store %[[WIDE]], %[[WIDE_K]][%[[J]], %[[D]]]
// CHECK: vector.load %[[KT]][%[[J]], %c32] : memref<?x40xbf16, {{.+}}>, vector<8xbf16>
// The products read the copies.
// CHECK-NOT: memref.load %[[KT]]
// CHECK: memref.load %[[WIDE_K]][
// CHECK: vector.fma
// CHECK: %[[VT:.+]] = memref.subview %[[V]]
// CHECK: vector.load %[[VT]]{{.*}} vector<16xbf16>
// CHECK-NOT: memref.load %[[VT]]
// CHECK: memref.load %[[WIDE_V]][
// CHECK-LABEL: func.func @unknown_size_of_rows
func.func @keys_and_values(%k: memref<1x2x99x40xbf16>, %v: memref<1x2x99x16xbf16>, %q: memref<1x2x99x40xbf16>,
                           %o: memref<1x2x99x16xbf16>, %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %query = flash.load_query %q[%c0, %c1, %i0] rows %rows : memref<1x2x99x40xbf16> -> !flash.query<32 x 40, bf16>
  %max, %sum, %acc = flash.init : !flash.rows<32, f32>, !flash.rows<32, f32>, !flash.acc<32 x 16, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c1 : %c1, %i0, %j0) rows %rows keys %keys
      : !flash.query<32 x 40, bf16>, memref<1x2x99x40xbf16> -> !flash.scores<32 x 30, f32>, !flash.rows<32, f32>
  %n, %r = flash.update_max %max, %m : !flash.rows<32, f32>
  %w, %t = flash.weights %s, %n, %sum, %r rows %rows keys %keys : !flash.scores<32 x 30, f32>, !flash.rows<32, f32>
  %a = flash.accumulate %acc, %r, %w, %v[%c0, %c1, %j0] rows %rows keys %keys
      : !flash.acc<32 x 16, f32>, !flash.rows<32, f32>, !flash.scores<32 x 30, f32>, memref<1x2x99x16xbf16>
  flash.store %a, %t, %o[%c0, %c1, %i0] rows %rows : !flash.acc<32 x 16, f32>, !flash.rows<32, f32>, memref<1x2x99x16xbf16>
  return
}

// The scratch for such rows would have no size, and rows in pieces have no vectors: each element is widened where it is
// read.
// CHECK: memref.load %{{.+}} : memref<?x?xf16, {{.+}}>
// CHECK: arith.extf %{{.+}} : f16 to f32
func.func @unknown_size_of_rows(%k: memref<1x2x99x?xf16>, %q: memref<1x2x99x?xf16>, %lse: memref<1x2x99xf32>, %i0: index,
                                %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x2x99x?xf16> -> !flash.query<32 x ?, f16>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys
      : !flash.query<32 x ?, f16>, memref<1x2x99x?xf16> -> !flash.scores<32 x 30, f32>, !flash.rows<32, f32>
  flash.store_lse %m, %m, %lse[%c0, %c0, %i0] rows %rows : !flash.rows<32, f32>, memref<1x2x99xf32>
  return
}

// CHECK-LABEL: func.func @transposed_keys
// CHECK-NOT: vector<{{[0-9]+}}xbf16, strided
// CHECK-NOT: memref<30x8xf32>
// CHECK: memref.load %{{.+}} : memref<?x8xbf16, strided<[1, 99], offset: ?>>
// CHECK: arith.extf %{{.+}} : bf16 to f32
func.func @transposed_keys(%k: memref<1x2x99x8xbf16, strided<[1584, 792, 1, 99]>>, %q: memref<1x2x99x8xbf16>,
                           %lse: memref<1x2x99xf32>, %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x2x99x8xbf16> -> !flash.query<32 x 8, bf16>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys
      : !flash.query<32 x 8, bf16>, memref<1x2x99x8xbf16, strided<[1584, 792, 1, 99]>>
        -> !flash.scores<32 x 30, f32>, !flash.rows<32, f32>
  flash.store_lse %m, %m, %lse[%c0, %c0, %i0] rows %rows : !flash.rows<32, f32>, memref<1x2x99xf32>
  return
}

// Rows that are not neighbours are copied where several chunks of queries read them; the strides of the run decide.
// CHECK-LABEL: func.func @spread_rows
// CHECK: %[[COPY:.+]] = memref.alloc() {{.*}}: memref<30x8xf32>
// CHECK: %[[ROWS:.+]] = memref.subview
// CHECK: %{{.+}}, %{{.+}}, %{{.+}}:2, %[[STRIDES:.+]]:2 = memref.extract_strided_metadata %[[ROWS]]
// CHECK: %[[SPREAD:.+]] = arith.cmpi ne, %[[STRIDES]]#0, %c8 : index
// CHECK: %[[TILE:.+]] = scf.if %[[SPREAD]]
// CHECK: vector.load %[[ROWS]][
// CHECK: vector.store %{{.+}}, %[[COPY]][
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ROWS]]
// CHECK: memref.load %[[TILE]][
func.func @spread_rows(%k: memref<1x2x99x8xf32, strided<[?, ?, ?, 1], offset: ?>>, %q: memref<1x2x99x8xf32>,
                       %lse: memref<1x2x99xf32>, %i0: index, %j0: index, %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x2x99x8xf32> -> !flash.query<32 x 8, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys
      : !flash.query<32 x 8, f32>, memref<1x2x99x8xf32, strided<[?, ?, ?, 1], offset: ?>>
        -> !flash.scores<32 x 30, f32>, !flash.rows<32, f32>
  flash.store_lse %m, %m, %lse[%c0, %c0, %i0] rows %rows : !flash.rows<32, f32>, memref<1x2x99xf32>
  return
}

// One chunk reads each row once: in place.
// CHECK-LABEL: func.func @spread_rows_for_one_chunk
// CHECK-NOT: memref<30x8xf32>
// CHECK-NOT: extract_strided_metadata
func.func @spread_rows_for_one_chunk(%k: memref<1x2x99x8xf32, strided<[?, ?, ?, 1], offset: ?>>,
                                     %q: memref<1x2x99x8xf32>, %lse: memref<1x2x99xf32>, %i0: index, %j0: index,
                                     %rows: index, %keys: index) {
  %c0 = arith.constant 0 : index
  %query = flash.load_query %q[%c0, %c0, %i0] rows %rows : memref<1x2x99x8xf32> -> !flash.query<8 x 8, f32>
  %s, %m = flash.scores %query, %k at(%c0, %c0 : %c0, %i0, %j0) rows %rows keys %keys
      : !flash.query<8 x 8, f32>, memref<1x2x99x8xf32, strided<[?, ?, ?, 1], offset: ?>>
        -> !flash.scores<8 x 30, f32>, !flash.rows<8, f32>
  flash.store_lse %m, %m, %lse[%c0, %c0, %i0] rows %rows : !flash.rows<8, f32>, memref<1x2x99xf32>
  return
}
