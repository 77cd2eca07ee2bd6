// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-device-to-llvm))" --verify-diagnostics

gpu.module @attn_device {
  func.func @root(%a: memref<f64>) attributes {attn.threads = 128 : i64} {
    %x = memref.load %a[] : memref<f64>
    // expected-error @below {{'math.exp' op of 'f64' is not supported in a kernel of a GPU target; compute it outside of the attention, as a tensor that the region reads}}
    %y = math.exp %x : f64
    memref.store %y, %a[] : memref<f64>
    return
  }
}
