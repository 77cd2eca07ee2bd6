// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-flash-to-nvvm))" --verify-diagnostics

!m = memref<1x1x?x16xf64>
gpu.module @attn_device {
  // expected-error @below {{f64 is not supported on a GPU target; use f32, f16 or bf16}}
  func.func @kernel(%item: index, %q: !m, %k: !m, %rows: index, %keys: index) {
    %c0 = arith.constant 0 : index
    %scale = arith.constant 0.25 : f64
    %query = flash.load_query %q[%c0, %c0, %item] rows %rows : !m -> !flash.query<16 x 16, f64>
    %s, %t = flash.scores %query, %k at(%c0, %c0 : %c0, %c0, %c0) rows %rows keys %keys scale %scale : f64
      : !flash.query<16 x 16, f64>, !m -> !flash.scores<16 x 16, f64>, !flash.rows<16, f64>
    return
  }
}
