// Names of compiled functions for perf: a dump in the folder that JITDUMPDIR names, if ATTN_JITDUMP is set.
// RUN: rm -rf %t && mkdir %t
// RUN: env ATTN_JITDUMP=1 JITDUMPDIR=%t attn-run %s --function=jitdump_named_function --check
// RUN: find %t -name "jit-*.dump" | count 1
// RUN: grep -r -a -o "attn_entry_jitdump_named_function" %t | FileCheck %s --check-prefix=NAME
// RUN: grep -r -a -o "jitdump_named_function_parallel_0_callback" %t | FileCheck %s --check-prefix=BODY
// NAME: attn_entry_jitdump_named_function
// BODY: jitdump_named_function_parallel_0_callback

// Nothing without it, or if it is empty.
// RUN: rm -rf %t.none && mkdir %t.none
// RUN: env -u ATTN_JITDUMP JITDUMPDIR=%t.none attn-run %s --function=jitdump_named_function
// RUN: env ATTN_JITDUMP= JITDUMPDIR=%t.none attn-run %s --function=jitdump_named_function
// RUN: find %t.none -type f | count 0

!t = tensor<1x2x33x8xf32>

func.func @jitdump_named_function(%q: !t, %k: !t, %v: !t) -> !t {
  %scale = arith.constant 0.5 : f32
  %init = tensor.empty() : !t
  %out = attn.attention %q, %k, %v scale(%scale) : !t, !t, !t outs(%init : !t) -> !t
  return %out : !t
}
