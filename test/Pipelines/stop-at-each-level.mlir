// RUN: attn-opt %s --attn-compile="to=graph target=x86-64-v3" | FileCheck %s --check-prefix=GRAPH
// RUN: attn-opt %s --attn-compile="to=tiled target=x86-64-v3" | FileCheck %s --check-prefix=TILED
// RUN: attn-opt %s --attn-compile="to=tiled target=x86-64-v3 tile-q=8 tile-kv=24" | FileCheck %s --check-prefix=TILES
// RUN: attn-opt %s --attn-compile="to=target target=x86-64-v3" | FileCheck %s --check-prefix=TARGET
// RUN: attn-opt %s --attn-compile="target=x86-64-v3" | FileCheck %s --check-prefix=MACHINE
// RUN: not attn-opt %s --attn-compile="to=tiled target=z80" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// GRAPH-LABEL: func.func @attention
// GRAPH-SAME: tensor<2x3x5x8xf32>
// GRAPH: attn.attention
// GRAPH-NOT: call

// TILED-LABEL: func.func @attention
// TILED-SAME: memref<2x3x5x8xf32, strided<[?, ?, ?, 1], offset: ?>>
// TILED-NOT: tensor
// TILED: scf.forall
// TILED: !flash.query<8 x 8, f32>
// TILED: flash.store
// TILED-NOT: memref.alloc

// TILES: !flash.query<8 x 8, f32>
// TILES: !flash.scores<8 x 24, f32>

// TARGET-LABEL: func.func @attention
// TARGET: flash.parallel_for @attention_parallel_0
// TARGET-LABEL: func.func private @attention_parallel_0
// TARGET-NOT: !flash.
// TARGET-NOT: memref.alloc
// TARGET: vector.fma

// MACHINE: llvm.func @attn_entry_attention
// MACHINE-NOT: unrealized_conversion_cast

// UNKNOWN: unknown target CPU 'z80'; use host, x86-64-v3
func.func private @scale() -> f32 {
  %scale = arith.constant 0.125 : f32
  return %scale : f32
}
func.func @attention(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x8xf32>) -> tensor<2x3x5x8xf32> {
  %scale = call @scale() : () -> f32
  %init = tensor.empty() : tensor<2x3x5x8xf32>
  %out = attn.attention %q, %k, %v scale(%scale) : tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>
      outs(%init : tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %out : tensor<2x3x5x8xf32>
}
