// RUN: attn-opt %s --pass-pipeline="builtin.module(gpu.module(convert-device-to-llvm))" --split-input-file --verify-diagnostics

gpu.module @attn_device {
  func.func @root(%a: memref<f64>) attributes {flash.kernel = #flash.kernel<threads = 128, items = 128, shared_bytes = 0>} {
    %x = memref.load %a[] : memref<f64>
    // expected-error @below {{'math.exp' op of 'f64' is not supported in a kernel of a GPU target; compute it outside of the attention, as a tensor that the region reads}}
    %y = math.exp %x : f64
    memref.store %y, %a[] : memref<f64>
    return
  }
}

// -----

gpu.module @attn_device {
  // expected-error @below {{'llvm.func' op expects 2 arguments for each of 1 tensor maps, but got 1}}
  func.func @mapped(%x: f32)
      attributes {flash.kernel = #flash.kernel<threads = 128, items = 1, shared_bytes = 0,
                                               tensor_maps = [#flash.tensor_map<capture = 0, rows = 64>]>} {
    return
  }
}
