// RUN: attn-run %s --function=assert --scalar=0:1 --check | FileCheck %s
// RUN: not attn-run %s --function=assert --scalar=0:0 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: attn-run %s --function=assert_in_body --scalar=1:100 --check | FileCheck %s
// RUN: not attn-run %s --function=assert_in_body --scalar=1:-100 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: attn-run %s --function=assert_in_forall --scalar=1:900 --threads=2
// RUN: not attn-run %s --function=assert_in_forall --scalar=1:890 --threads=2 2>&1 | FileCheck %s --check-prefix=FORALL
// RUN: attn-run %s --function=check_in_forall --fill=0:range:1:9 --threads=2
// RUN: not attn-run %s --function=check_in_forall --fill=0:range:0:0 --threads=2 2>&1 | FileCheck %s --check-prefix=DIVISION

// A false assert ends the call with an error, on the calling thread, in a loop and on a thread of the pool.
// CHECK: check: PASS
// FUNCTION: error: @assert: no luck
// BODY: error: @assert_in_body: too large: 100 %s %n
// FORALL: error: @assert_in_forall: at the end
// DIVISION: error: @check_in_forall: 'arith.divsi' at {{.*}}: divides by zero

func.func @assert(%c: i1, %q: tensor<1x2x9x8xf32>) -> tensor<1x2x9x8xf32> {
  cf.assert %c, "no luck"
  return %q : tensor<1x2x9x8xf32>
}

func.func @assert_in_body(%q: tensor<9xf32>, %m: f32) -> tensor<9xf32> {
  %o = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%q : tensor<9xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%i: f32, %u: f32):
    %c = arith.cmpf ole, %i, %m : f32
    cf.assert %c, "too large: 100 %s %n"
    linalg.yield %i : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

func.func @assert_in_forall(%q: tensor<900xf32>, %m: index) -> tensor<900xf32> {
  %o = tensor.empty() : tensor<900xf32>
  %r = scf.forall (%i) in (900) shared_outs(%s = %o) -> tensor<900xf32> {
    %x = tensor.extract %q[%i] : tensor<900xf32>
    %c = arith.cmpi slt, %i, %m : index
    cf.assert %c, "at the end"
    %t = tensor.from_elements %x : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %s[%i] [1] [1] : tensor<1xf32> into tensor<900xf32>
    }
  }
  return %r : tensor<900xf32>
}

func.func @check_in_forall(%q: tensor<900xi32>) -> tensor<900xi32> {
  %o = tensor.empty() : tensor<900xi32>
  %c100 = arith.constant 100 : i32
  %r = scf.forall (%i) in (900) shared_outs(%s = %o) -> tensor<900xi32> {
    %x = tensor.extract %q[%i] : tensor<900xi32>
    %y = arith.divsi %c100, %x : i32
    %t = tensor.from_elements %y : tensor<1xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %s[%i] [1] [1] : tensor<1xi32> into tensor<900xi32>
    }
  }
  return %r : tensor<900xi32>
}
