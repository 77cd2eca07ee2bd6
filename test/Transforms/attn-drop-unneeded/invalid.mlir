// RUN: attn-opt %s --attn-drop-unneeded --split-input-file --verify-diagnostics
// RUN: not attn-opt %s --attn-compile=target=x86-64-v3 --split-input-file 2>&1 | FileCheck %s

// CHECK: error: the module has no public function with a body; make what is to be called public
// expected-error @below {{the module has no public function with a body; make what is to be called public}}
module {
  func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{the module has no public function with a body; make what is to be called public}}
module {
  func.func private @declared(%x: tensor<4xf32>) -> tensor<4xf32>
}

// -----

module {
}
