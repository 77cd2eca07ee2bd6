// RUN: attn-opt %s --flash-outline-kernels --split-input-file --verify-diagnostics

func.func @allocates(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'memref.alloc' op is not supported in a parallel loop on a device; allocate in front of the loop}}
    %a = memref.alloc() : memref<8xf32>
  }
  return
}

// -----

func.func @has_results(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'scf.forall' op expects no results at the target level, but has 1}}
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    }
  }
  return %r : tensor<4xf32>
}
