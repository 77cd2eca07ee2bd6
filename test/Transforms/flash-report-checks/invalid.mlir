// RUN: attn-opt %s --flash-report-checks --split-input-file --verify-diagnostics

func.func @endless(%holds: i1, %n: i32) {
  scf.forall (%i) in (5) {
    %r = scf.while (%x = %n) : (i32) -> i32 {
      // expected-error @+1 {{'cf.assert' op inside of a parallel loop is not supported on a GPU, since scf.while could repeat without end}}
      cf.assert %holds, "holds"
      scf.condition(%holds) %x : i32
    } do {
    ^bb0(%x: i32):
      scf.yield %x : i32
    }
  }
  return
}

// -----

func.func @views(%holds: i1, %x: memref<5xf32>) {
  scf.forall (%i) in (5) {
    %r = scf.if %holds -> memref<?xf32> {
      // expected-error @+1 {{'cf.assert' op inside of a parallel loop is not supported on a GPU, since what follows it is no number}}
      cf.assert %holds, "holds"
      %v = memref.cast %x : memref<5xf32> to memref<?xf32>
      scf.yield %v : memref<?xf32>
    } else {
      %v = memref.cast %x : memref<5xf32> to memref<?xf32>
      scf.yield %v : memref<?xf32>
    }
  }
  return
}
