// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm))" --split-input-file | FileCheck %s

// Five fragments of eight columns: the words of four are transposed in the quad, by two rounds of two shuffles for each
// of the two rows of a thread, and stored as 16 bytes; of the fifth, beside one that is padding, as 8 bytes where there
// are columns.
// CHECK-LABEL: func.func @halves
// One reciprocal of the sum for each row; where it is 0, the result is 0.
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"
// CHECK: %[[LOW:.+]] = arith.andi %{{.+}}, %c15{{(_[0-9]+)?}} : index
// CHECK: %[[ALIGNED:.+]] = arith.cmpi eq, %[[LOW]], %c0{{(_[0-9]+)?}} : index
// CHECK: scf.if %[[ALIGNED]] {
// CHECK-COUNT-5: nvvm.shfl.sync bfly {{.+}} : i32 -> i32
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-24: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK-NOT: llvm.store
!m = memref<1x1x?x40xbf16>
gpu.module @attn_device {
  func.func @halves(%item: index, %q: !m, %o: !m, %rows: index) {
    %c0 = arith.constant 0 : index
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 40, bf16>
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 40, f32>
    flash.store %a, %l, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 40, f32>, !flash.rows<16, f32>, !m
    return
  }
}

// -----

// Two neighbours of f32 are 8 bytes, without an exchange.
// CHECK-LABEL: func.func @floats
// CHECK: arith.andi %{{.+}}, %c7{{(_[0-9]+)?}} : index
// CHECK-NOT: nvvm.shfl.sync bfly {{.+}} : i32 -> i32
// CHECK-COUNT-4: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-8: llvm.store %{{.+}}, %{{.+}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
!m = memref<1x1x?x16xf32>
gpu.module @attn_device {
  func.func @floats(%item: index, %q: !m, %o: !m, %rows: index) {
    %c0 = arith.constant 0 : index
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 16, f32>
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>
    flash.store %a, %l, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 16, f32>, !flash.rows<16, f32>, !m
    return
  }
}

// -----

// Rows of 20 columns are 40 bytes: never aligned, and so there is but the one form.
// CHECK-LABEL: func.func @odd_rows
// CHECK-NOT: llvm.store {{.+}} vector
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK-NOT: llvm.store {{.+}} vector
!m = memref<1x1x?x20xbf16>
gpu.module @attn_device {
  func.func @odd_rows(%item: index, %q: !m, %o: !m, %rows: index) {
    %c0 = arith.constant 0 : index
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 20, bf16>
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 20, f32>
    flash.store %a, %l, %o[%c0, %c0, %c0] rows %rows : !flash.acc<16 x 20, f32>, !flash.rows<16, f32>, !m
    return
  }
}
