// RUN: not attn-opt %s --convert-attn-to-flash="tile-q=24 target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=TILEQ
// RUN: not attn-opt %s --convert-attn-to-flash="tile-q=2048 target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not attn-opt %s --convert-attn-to-flash="tile-kv=-1 target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=TILEKV
// RUN: not attn-opt %s --convert-attn-to-flash="segment-keys=-1 target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=SEGMENT
// RUN: not attn-opt %s --convert-attn-to-flash="target=z80" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %s --convert-flash-to-cpu="block-rows=17 target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=BLOCK

// TILEQ: error: expects tile-q to be 0 or a power of two up to 1024, but got 24
// LARGE: error: expects tile-q to be 0 or a power of two up to 1024, but got 2048
// TILEKV: error: expects tile-kv to be in 0 to 65536, but got -1
// SEGMENT: error: expects segment-keys to be in 0 to 1073741824, but got -1
// TARGET: error: {{.*}}z80
// BLOCK: error: expects block-rows to be in 0 to 16, but got 17
func.func @plain(%q: memref<1x1x4x8xf32>, %o: memref<1x1x4x8xf32>, %s: f32) {
  attn.attention %q, %q, %q scale(%s) : memref<1x1x4x8xf32>, memref<1x1x4x8xf32>, memref<1x1x4x8xf32>
    outs(%o : memref<1x1x4x8xf32>)
  return
}
