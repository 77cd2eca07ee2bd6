// RUN: attn-opt %s --attn-expand-named | FileCheck %s

// Nothing is named: nothing is added, and what the user wrote stays as it is.
// CHECK-LABEL: func @regions_stay(
// CHECK-NEXT: attn.attention %{{.+}} score(%[[X:.+]], %[[B:.+]], %[[H:.+]], %{{.+}}, %{{.+}}) {
// CHECK-NEXT: %[[T:.+]] = tensor.extract %{{.+}}[%[[B]], %[[H]]] : tensor<?x4xf32>
// CHECK-NEXT: %[[U:.+]] = tensor.extract %{{.+}}[%[[B]], %[[H]]] : tensor<?x4xf32>
// CHECK-NEXT: %[[D:.+]] = arith.subf %[[T]], %[[U]] : f32
// CHECK-NEXT: %[[Y:.+]] = arith.addf %[[X]], %[[D]] : f32
// CHECK-NEXT: attn.yield %[[Y]] : f32
// CHECK-NEXT: } : tensor<2x4x5x8xf32>
func.func @regions_stay(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                        %o: tensor<2x4x5x6xf32>, %table: tensor<?x4xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %table[%b, %h] : tensor<?x4xf32>
    %u = tensor.extract %table[%b, %h] : tensor<?x4xf32>
    %d = arith.subf %t, %u : f32
    %y = arith.addf %x, %d : f32
    attn.yield %y : f32
  } : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
      outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @empty_lists(
// CHECK-NEXT: attn.attention %{{.+}}, %{{.+}}, %{{.+}} scale(%{{.+}}) : tensor<2x4x5x8xf32>
func.func @empty_lists(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>,
                       %o: tensor<2x4x5x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) scores() masks()
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func @other_ops(
// CHECK-NEXT: attn.softmax
// CHECK-NEXT: return
func.func @other_ops(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = attn.softmax %x axis(1) : tensor<2x5xf32> outs(%x : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
