// RUN: attn-opt %s --convert-flash-to-llvm | FileCheck %s

// CHECK-DAG: llvm.func @attn_rt_parallel_for(i64, i64, i64, !llvm.ptr, !llvm.ptr)
// CHECK-DAG: llvm.func @attn_rt_fail(!llvm.ptr, i64, i64) attributes {{.*}}passthrough = ["noreturn", "cold"]
// CHECK-DAG: llvm.mlir.global internal constant @[[TEXT:attn_message.*]]("expects {0}\00")

// CHECK-LABEL: llvm.func internal @run
// CHECK-DAG: %[[CONTEXT:.+]] = llvm.alloca %{{.+}} x !llvm.struct<(i64, struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, f32)>
// CHECK: llvm.cond_br %{{.+}} weights([2000, 1]), ^[[GOOD:.+]], ^[[BAD:[^ ]+]]
// CHECK: ^[[GOOD]]:
// CHECK: %[[CALLBACK:.+]] = llvm.mlir.addressof @body_callback
// CHECK: llvm.call @attn_rt_parallel_for(%[[N:.+]], %[[WORK:.+]], %[[N]], %[[CALLBACK]], %[[CONTEXT]])
// CHECK: ^[[BAD]]:
// CHECK: llvm.mlir.addressof @[[TEXT]]
// CHECK: llvm.call @attn_rt_fail
// CHECK: llvm.unreachable
func.func @run(%a: memref<?xf32>, %x: f32, %n: index, %ok: i1, %work: index) {
  flash.require %ok, "expects {0}"(%n)
  flash.parallel_for @body count %n work %work scratch_bytes %n(%a, %x : memref<?xf32>, f32)
  return
}

// The entry finds a pointer for each argument in its array; a bool is a byte.
// CHECK-LABEL: llvm.func @attn_entry_run(%{{.+}}: !llvm.ptr)
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> i64
// CHECK: llvm.load %{{.+}} : !llvm.ptr -> i8
// CHECK: llvm.call @run(
// CHECK: llvm.return

// CHECK: llvm.func internal @body
func.func private @body(%begin: index, %end: index, %scratch: memref<?xi8>, %a: memref<?xf32>, %x: f32) {
  memref.store %x, %a[%begin] : memref<?xf32>
  return
}

// Not internal: profilers get no local symbols.
// CHECK-LABEL: llvm.func hidden @body_callback
// CHECK-SAME: (%{{.+}}: !llvm.ptr {llvm.dereferenceable = 56 : i64}, %[[BEGIN:.+]]: i64, %[[END:.+]]: i64, %[[SCRATCH:.+]]: !llvm.ptr)
// CHECK: llvm.call @body(%[[BEGIN]], %[[END]], %[[SCRATCH]], %[[SCRATCH]],
// CHECK-NOT: builtin.unrealized_conversion_cast
