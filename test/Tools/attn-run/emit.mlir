// RUN: attn-run %s --emit=graph | FileCheck %s --check-prefix=GRAPH
// RUN: attn-run %s --emit=tiled --tile-q=32 --tile-kv=48 | FileCheck %s --check-prefix=TILED
// RUN: attn-run %s --emit=target | FileCheck %s --check-prefix=TARGET
// RUN: attn-run %s --emit=llvm-dialect | FileCheck %s --check-prefix=DIALECT
// RUN: attn-run %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: attn-run %s --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: not attn-run %s --emit=tokens 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// GRAPH: func.func @causal
// GRAPH: attn.attention {{.*}} where(
// TILED: func.func @causal
// TILED: scf.forall
// TILED: flash.update_max {{.*}}!flash.rows<32, f32>
// TARGET: vector.fma
// TARGET-NOT: flash.update_max
// DIALECT: llvm.func @attn_entry_causal
// LLVM: define {{.*}}@attn_entry_causal(ptr
// ASM: attn_entry_causal:
// UNKNOWN: error: --emit expects graph, tiled, target, llvm-dialect, llvm or asm, but got 'tokens'
func.func @causal(%q: tensor<1x2x33x8xf32>, %k: tensor<1x2x33x8xf32>, %v: tensor<1x2x33x8xf32>) -> tensor<1x2x33x8xf32> {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<1x2x33x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) masks(causal)
      : tensor<1x2x33x8xf32>, tensor<1x2x33x8xf32>, tensor<1x2x33x8xf32>
        outs(%init : tensor<1x2x33x8xf32>) -> tensor<1x2x33x8xf32>
  return %out : tensor<1x2x33x8xf32>
}
