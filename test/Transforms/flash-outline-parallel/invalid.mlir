// RUN: attn-opt %s --allow-unregistered-dialect --flash-outline-parallel --split-input-file --verify-diagnostics

func.func @nested_allocation(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c1 {
      // expected-error @below {{in a parallel loop expects to be at the top of the loop's body, not in a nested region}}
      %a = memref.alloc() : memref<5xf32>
      "test.use"(%a) : (memref<5xf32>) -> ()
    }
  }
  return
}

// -----

func.func @size_from_the_loop(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expects sizes that do not depend on the loop, since they decide on the scratch memory of a thread}}
    %a = memref.alloc(%i) : memref<?xf32>
    "test.use"(%a) : (memref<?xf32>) -> ()
  }
  return
}

// -----

func.func @work_from_the_loop(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expects sizes that do not depend on the loop, since they decide on the number of threads}}
    flash.item_work %i
  }
  return
}

// -----

func.func @alignment(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{in a parallel loop expects an alignment of at most 64 bytes, but got 4096}}
    %a = memref.alloc() {alignment = 4096 : i64} : memref<5xf32>
    "test.use"(%a) : (memref<5xf32>) -> ()
  }
  return
}

// -----

func.func @results(%t: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'scf.forall' op expects no results at the target level, but has 1}}
  %r = scf.forall (%i) in (3) shared_outs(%o = %t) -> tensor<3xf32> {
    scf.forall.in_parallel {
    }
  }
  return %r : tensor<3xf32>
}
