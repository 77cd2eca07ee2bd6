// RUN: attn-run %s --target=x86-64-v3 --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --check --scalar=1:0 | FileCheck %s
// RUN: attn-run %s --target=emulator:sm_80 --check | FileCheck %s
// RUN: attn-run %s --target=x86-64-v3 --emit=tiled | FileCheck %s --check-prefix=FREED

// A branch that picks one of two buffers is a third name of both (arith.select): neither is freed before the last use of what was selected. A
// temporary of the loop would take the memory of one that was.
// CHECK: check: PASS result 0: 24xf32

// FREED: arith.select %{{.+}}, %[[A:.+]], %[[B:.+]] : memref<24xf32>
// FREED-NOT: memref.dealloc %[[A]]
// FREED-NOT: memref.dealloc %[[B]]
// FREED: scf.for
// FREED: memref.alloc
// FREED: memref.dealloc
// FREED: }
func.func @selected(%x: tensor<12xf32>, %first: i1) -> tensor<24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %front = tensor.pad %x low[12] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<12xf32> to tensor<24xf32>
  %behind = tensor.pad %x low[0] high[12] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<12xf32> to tensor<24xf32>
  %selected = scf.if %first -> (tensor<24xf32>) {
    scf.yield %front : tensor<24xf32>
  } else {
    scf.yield %behind : tensor<24xf32>
  }
  %result = scf.for %n = %c0 to %c4 step %c1 iter_args(%so_far = %selected) -> tensor<24xf32> {
    %padded = tensor.pad %x low[6] high[6] {
    ^bb0(%i: index):
      tensor.yield %one : f32
    } : tensor<12xf32> to tensor<24xf32>
    %part = tensor.extract_slice %padded[%n] [8] [1] : tensor<24xf32> to tensor<8xf32>
    %next = tensor.insert_slice %part into %so_far[%n] [8] [1] : tensor<8xf32> into tensor<24xf32>
    scf.yield %next : tensor<24xf32>
  }
  return %result : tensor<24xf32>
}
