// RUN: attn-run %s --check --check-bounds --threads=2 | FileCheck %s
// RUN: attn-run %s --check-bounds --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: attn-run %s --emit=llvm | FileCheck %s --check-prefix=UNCHECKED
// RUN: attn-opt %s --attn-compile="check-bounds=true" | FileCheck %s --check-prefix=MACHINE
// RUN: not attn-run %s --check-bounds --target=emulator 2>&1 | FileCheck %s --check-prefix=GPU

// CHECK: check: PASS result 0: 5x7xf32

// LLVM: c"{{.*}}check-bounds.mlir:{{[0-9]+}}:{{[0-9]+}}\00"
// LLVM: define void @attn_entry_scaled(ptr dereferenceable(16)
// LLVM: call ptr @attn_rt_guard_tensor(ptr nonnull @{{.+}}, i64 2, i64 4, ptr
// LLVM: %[[PLAIN:.+]] = call ptr @attn_rt_check_access(ptr %{{.+}}, i64 {{[0-9]+}}, ptr null, i64 0, i32 0, ptr
// LLVM-NEXT: load {{.+}}, ptr %[[PLAIN]]

// UNCHECKED-NOT: attn_rt_check
// UNCHECKED-NOT: attn_rt_guard

// MACHINE: module attributes {attn.check_bounds
// MACHINE: llvm.func @attn_rt_guard_tensor

// GPU: error: checkBounds expects a CPU, but the target is emulator
func.func @scaled(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %two = arith.constant dense<2.0> : tensor<5x7xf32>
  %r = arith.mulf %a, %two : tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
