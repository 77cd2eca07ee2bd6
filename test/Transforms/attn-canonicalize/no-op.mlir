// RUN: attn-opt %s --attn-canonicalize > %t
// RUN: attn-opt %s | diff - %t

// Upstream rewrites each of these, and not to what it was (test/README.md).
func.func @not_listed(%n: index, %w: i64, %a: i16, %x: tensor<?x?xf32>) -> (index, f32, i1, tensor<?x?xf32>, index) {
  %cst = arith.constant 5.000000e-01 : f32
  %c10 = arith.constant 10 : index
  %0 = arith.index_cast %n : index to i32
  %1 = arith.index_cast %0 : i32 to index
  %2 = arith.sitofp %w : i64 to f64
  %3 = arith.truncf %2 : f64 to f32
  %4 = arith.sitofp %a : i16 to f32
  %5 = arith.cmpf ult, %4, %cst : f32
  %expanded = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, %1, %n] : tensor<?x?xf32> into tensor<?x?x?xf32>
  %collapsed = tensor.collapse_shape %expanded [[0, 1], [2]] : tensor<?x?x?xf32> into tensor<?x?xf32>
  %6:2 = scf.while (%arg4 = %n) : (index) -> (index, index) {
    %7 = arith.cmpi slt, %arg4, %c10 : index
    %8 = scf.if %7 -> (index) {
      %9 = arith.addi %arg4, %c10 : index
      scf.yield %9 : index
    } else {
      scf.yield %n : index
    }
    scf.condition(%7) %8, %8 : index, index
  } do {
  ^bb0(%arg4: index, %arg5: index):
    scf.yield %arg5 : index
  }
  return %1, %3, %5, %collapsed, %6#0 : index, f32, i1, tensor<?x?xf32>, index
}
