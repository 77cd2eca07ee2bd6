// RUN: attn-opt %s --convert-flash-to-llvm --split-input-file | FileCheck %s

// Equal messages share their text.
// CHECK-COUNT-1: llvm.mlir.global internal constant @attn_message{{.*}}("too small\00")
// CHECK-NOT: llvm.mlir.global
// CHECK-LABEL: llvm.func internal @assertions
// CHECK-COUNT-2: llvm.call @attn_rt_fail
func.func @assertions(%a: i1, %b: i1) {
  cf.assert %a, "too small"
  cf.assert %b, "too small"
  return
}

// -----

// CHECK: llvm.func @_mlir_memref_to_llvm_aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func internal @runtime_allocates
// CHECK: llvm.call @_mlir_memref_to_llvm_aligned_alloc
// CHECK: llvm.call @_mlir_memref_to_llvm_free
func.func @runtime_allocates(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

// A function with results has no entry; a private one neither.
// CHECK-LABEL: llvm.func internal @results
// CHECK-NOT: attn_entry_
func.func @results(%n: index) -> index {
  return %n : index
}
func.func private @private_function(%n: index) {
  return
}
