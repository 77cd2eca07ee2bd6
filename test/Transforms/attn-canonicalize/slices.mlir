// RUN: attn-opt %s --attn-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @insert_keeps_what_it_drops
// CHECK-SAME: %[[X:[^:]+]]: tensor<1x?x?x2xf32>
// CHECK-NEXT: %[[SOURCE:.+]] = tensor.cast %[[X]] : tensor<1x?x?x2xf32> to tensor<1x3x5x2xf32>
// CHECK-NEXT: tensor.insert_slice %[[SOURCE]] into %{{.+}}[0, 0, 0, 0, 0] [1, 3, 1, 5, 2] [1, 1, 1, 1, 1] : tensor<1x3x5x2xf32> into tensor<1x?x1x?x2xf32>
func.func @insert_keeps_what_it_drops(%x: tensor<1x?x?x2xf32>, %y: tensor<1x?x1x?x2xf32>) -> tensor<1x?x1x?x2xf32> {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = tensor.insert_slice %x into %y[0, 0, 0, 0, 0] [1, %c3, 1, %c5, 2] [1, 1, 1, 1, 1]
      : tensor<1x?x?x2xf32> into tensor<1x?x1x?x2xf32>
  return %r : tensor<1x?x1x?x2xf32>
}

// CHECK-LABEL: func.func @parallel_insert
// CHECK: %[[SOURCE:.+]] = tensor.cast %{{.+}} : tensor<1x?x4xf32> to tensor<1x3x4xf32>
// CHECK-NEXT: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %[[SOURCE]] into %{{.+}}[0, 0, %{{.+}}, 0] [1, 3, 1, 4] [1, 1, 1, 1]
func.func @parallel_insert(%x: tensor<1x?x4xf32>, %y: tensor<1x3x7x4xf32>) -> tensor<1x3x7x4xf32> {
  %c3 = arith.constant 3 : index
  %r = scf.forall (%i) in (7) shared_outs(%o = %y) -> tensor<1x3x7x4xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[0, 0, %i, 0] [1, %c3, 1, 4] [1, 1, 1, 1]
          : tensor<1x?x4xf32> into tensor<1x3x7x4xf32>
    }
  }
  return %r : tensor<1x3x7x4xf32>
}

// CHECK-LABEL: func.func @cast_names_the_size
// CHECK-NEXT: tensor.extract_slice %{{.+}}[0, 0, 1, 0] [1, 7, 1, 4] [1, 1, 1, 1] : tensor<1x?x3x4xf32> to tensor<1x7x4xf32>
// CHECK-NEXT: return
func.func @cast_names_the_size(%x: tensor<1x?x3x4xf32>, %n: index) -> tensor<1x7x4xf32> {
  %s = tensor.extract_slice %x[0, 0, 1, 0] [1, %n, 1, 4] [1, 1, 1, 1] : tensor<1x?x3x4xf32> to tensor<1x?x4xf32>
  %r = tensor.cast %s : tensor<1x?x4xf32> to tensor<1x7x4xf32>
  return %r : tensor<1x7x4xf32>
}

// What is out of bounds as a constant is the run-time check's, not the verifier's.
// CHECK-LABEL: func.func @out_of_bounds_stays_dynamic
// CHECK: tensor.extract_slice %{{.+}}[0] [%{{.+}}] [1]
// CHECK: tensor.extract_slice %{{.+}}[%{{.+}}] [2] [1]
// CHECK: tensor.extract_slice %{{.+}}[0] [%{{.+}}] [1]
// CHECK-NEXT: tensor.cast
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0] [%{{.+}}] [1]
func.func @out_of_bounds_stays_dynamic(%x: tensor<4xf32>, %n: index, %y: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4xf32>) {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %a = tensor.extract_slice %x[0] [%c5] [1] : tensor<4xf32> to tensor<?xf32>
  %b = tensor.extract_slice %x[%c3] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %c = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>
  %d = tensor.cast %c : tensor<?xf32> to tensor<5xf32>
  %e = tensor.insert_slice %y into %x[0] [%c5] [1] : tensor<?xf32> into tensor<4xf32>
  return %a, %b, %d, %e : tensor<?xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @slice_of_a_cast
// CHECK-SAME: %[[X:[^:]+]]: tensor<3x5xf32>
// CHECK-NEXT: tensor.extract_slice %[[X]][0, 1] [3, 2] [1, 1] : tensor<3x5xf32> to tensor<3x2xf32>
func.func @slice_of_a_cast(%x: tensor<3x5xf32>) -> tensor<3x2xf32> {
  %c = tensor.cast %x : tensor<3x5xf32> to tensor<?x?xf32>
  %r = tensor.extract_slice %c[0, 1] [3, 2] [1, 1] : tensor<?x?xf32> to tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @attention_of_casts
// CHECK-SAME: %[[Q:[^:]+]]: tensor<5x8xf32>
// CHECK: %[[R:.+]] = attn.attention %[[Q]], %[[Q]], %[[Q]]
// CHECK: outs(%{{.+}} : tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: return %[[R]] : tensor<5x8xf32>
func.func @attention_of_casts(%q: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %s = arith.constant 0.5 : f32
  %d = tensor.cast %q : tensor<5x8xf32> to tensor<?x?xf32>
  %o = attn.attention %d, %d, %d scale(%s) layout(query(i, d), key(j, d), value(j, e), out(i, e))
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32> outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.cast %o : tensor<?x?xf32> to tensor<5x8xf32>
  return %r : tensor<5x8xf32>
}
