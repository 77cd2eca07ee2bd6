// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-device-to-llvm))" | FileCheck %s

// A kernel takes the fields of a memref's descriptor, then a tensor map by value with its flag.
// CHECK: llvm.func @scale
// CHECK-SAME: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64, %[[X:.+]]: f32,
// CHECK-SAME: %{{.+}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.+}}: i1)
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK: llvm.fmul %{{.+}}, %[[X]] : f32
gpu.module @attn_device {
  func.func @scale(%a: memref<?xf32>, %x: f32, %map: !llvm.ptr, %usable: i1)
      attributes {flash.kernel = #flash.kernel<threads = 384, items = 1, shared_bytes = 0,
                                               tensor_maps = [#flash.tensor_map<capture = 0, rows = 128>]>} {
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0] : memref<?xf32>
    %w = arith.mulf %v, %x : f32
    memref.store %w, %a[%c0] : memref<?xf32>
    return
  }
}
