// RUN: attn-opt %s --convert-flash-to-llvm=on-device --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @attn_device {
    llvm.func @plain(%item: i64) {
      llvm.return
    }
  }
  func.func @launch(%n: index) {
    // expected-error @below {{'flash.launch' op expects a kernel with flash.kernel, which convert-flash-to-nvvm sets}}
    // expected-error @below {{failed to legalize operation 'flash.launch'}}
    flash.launch @attn_device::@plain items %n
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @attn_device {
    llvm.func @mapped(%item: i64, %x: f32, %map: !llvm.ptr, %usable: i1)
        attributes {flash.kernel = #flash.kernel<threads = 128, items = 1, shared_bytes = 0,
                                                 tensor_maps = [#flash.tensor_map<capture = 0, rows = 64>]>} {
      llvm.return
    }
  }
  func.func @launch(%n: index, %x: f32) {
    // expected-error @below {{'flash.launch' op expects a memref as capture 0, of which its kernel has a tensor map}}
    // expected-error @below {{failed to legalize operation 'flash.launch'}}
    flash.launch @attn_device::@mapped items %n(%x : f32)
    return
  }
}
