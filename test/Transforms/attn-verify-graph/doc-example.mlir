// RUN: attn-opt %s --allow-unregistered-dialect --attn-verify-graph --split-input-file --verify-diagnostics
// RUN: attn-opt %s --allow-unregistered-dialect --attn-compile="to=graph target=x86-64-v3" --split-input-file --verify-diagnostics

func.func @unknown_operation(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@below {{the compiler knows no lowering of 'tm_tensor.sort'; expected ops of attn, linalg, tensor, arith, math, scf, cf, func or tosa}}
  %r = "tm_tensor.sort"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @elided_constant() -> tensor<3xf32> {
  // expected-error@below {{expects the module to hold the data of resource '__elided__', but it was left out when the module was printed}}
  %r = arith.constant dense_resource<__elided__> : tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @known(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = math.exp %x : tensor<3xf32>
  return %r : tensor<3xf32>
}
