// RUN: attn-compile %s --target=sm_80 | FileCheck %s --check-prefix=PARTS
// RUN: attn-compile %s --target=sm_80 --allow-tf32 | FileCheck %s --check-prefix=SINGLE
// RUN: attn-run %s --target=sm_80 --emit=asm --allow-tf32 | FileCheck %s --check-prefix=SINGLE
// RUN: attn-opt %s --attn-compile="to=target target=sm_80 allow-tf32=true" | FileCheck %s --check-prefix=SINGLE

// A warp has 16 rows, a tile 32 keys: 4 fragments of scores, 2 of values; 2 and 4 steps along the sums.
// PARTS-COUNT-48: mma.sync
// PARTS-NOT: mma.sync
// SINGLE-COUNT-16: mma.sync
// SINGLE-NOT: mma.sync
!heads = tensor<1x2x100x16xf32>
func.func @attention(%q: !heads, %k: !heads, %v: !heads) -> !heads {
  %scale = arith.constant 0.25 : f32
  %o = tensor.empty() : !heads
  %r = attn.attention %q, %k, %v scale(%scale) : !heads, !heads, !heads outs(%o : !heads) -> !heads
  return %r : !heads
}
