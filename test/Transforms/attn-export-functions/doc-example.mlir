// RUN: attn-opt %s --attn-export-functions | FileCheck %s

// CHECK-LABEL: func.func @first_row
// CHECK-SAME: (%[[A:.+]]: memref<?x8xf32, strided<[?, 1], offset: ?>> {test.name = "a"}, %[[N:.+]]: index,
// CHECK-SAME: %[[ROW:.+]]: memref<8xf32, strided<[1], offset: ?>>, %[[COUNT:.+]]: memref<index, strided<[], offset: ?>> {test.name = "n"})
// CHECK-SAME: attributes {attn.results = 2 : i64, test.unit}
// CHECK: %[[T:.+]] = bufferization.to_tensor %[[A]] restrict : memref<?x8xf32, strided<[?, 1], offset: ?>> to tensor<?x8xf32>
// CHECK: %[[SLICE:.+]] = tensor.extract_slice %[[T]]
// CHECK-NOT: flash.require
// CHECK: bufferization.materialize_in_destination %[[SLICE]] in restrict writable %[[ROW]]
// CHECK: memref.store %[[N]], %[[COUNT]][]
// CHECK-NEXT: return{{$}}
func.func @first_row(%a: tensor<?x8xf32> {test.name = "a"}, %n: index) -> (tensor<8xf32>, index {test.name = "n"}) attributes {test.unit} {
  %row = tensor.extract_slice %a[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  return %row, %n : tensor<8xf32>, index
}
