// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{target=sm_80}))" --split-input-file --verify-diagnostics
// RUN: echo "gpu.module @m {}" | not attn-opt --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{target=x86-64}))" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: echo "gpu.module @m {}" | not attn-opt --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm{target=sm_70}))" 2>&1 | FileCheck %s --check-prefix=OLD

// CPU: error: expects a GPU such as sm_80 as target, but got x86-64
// OLD: error: unknown GPU 'sm_70'; use sm_80, sm_86, sm_89, sm_90 or a later one, or sm_90a

gpu.module @attn_device {
  func.func @two_sizes(%item: index, %sink: f32) {
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 16, f32>
    // expected-error @below {{'flash.init' op expects one number of rows in a kernel, but got 32 beside 16}}
    %n, %k, %b = flash.init : !flash.rows<32, f32>, !flash.rows<32, f32>, !flash.acc<32 x 16, f32>
    return
  }
}

// -----

gpu.module @attn_device {
  // expected-error @below {{'func.func' op expects head and value sizes that the types tell on a GPU target, but got a dynamic one}}
  func.func @dynamic_values(%item: index, %e: index) {
    %m, %l, %a = flash.init value_dim %e : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x ?, f32>
    return
  }
}

// -----

// 256 rows of 512 bytes of queries, two stages of 64 rows of keys and two of values: 256 KiB of 163.
!m = memref<1x1x?x256xf16>
gpu.module @attn_device {
  // expected-error @below {{'func.func' op expects tiles that fit in the 166912 bytes of shared memory of a block of sm_80, but got 262144}}
  func.func @large_tiles(%n: index, %q: !m, %k: !m) {
    %query = flash.load_query %q[%n, %n, %n] rows %n : !m -> !flash.query<256 x 256, f16>
    %m, %l, %a = flash.init : !flash.rows<256, f32>, !flash.rows<256, f32>, !flash.acc<256 x 256, f32>
    %s, %t = flash.scores %query, %k at(%n, %n : %n, %n, %n) rows %n keys %n
      : !flash.query<256 x 256, f16>, !m -> !flash.scores<256 x 64, f32>, !flash.rows<256, f32>
    return
  }
}

// -----

gpu.module @attn_device {
  // expected-error @below {{'func.func' op expects head and value sizes up to 256 on a GPU target, but got 0 and 4611686018427387904}}
  func.func @large_values(%item: index) {
    %m, %l, %a = flash.init : !flash.rows<16, f32>, !flash.rows<16, f32>, !flash.acc<16 x 4611686018427387904, f32>
    return
  }
}

// -----

gpu.module @attn_device {
  // expected-error @below {{'func.func' op expects tiles of 16 to 256 query rows on a GPU target, but got 8}}
  func.func @few_rows(%item: index) {
    %m, %l, %a = flash.init : !flash.rows<8, f32>, !flash.rows<8, f32>, !flash.acc<8 x 16, f32>
    return
  }
}
