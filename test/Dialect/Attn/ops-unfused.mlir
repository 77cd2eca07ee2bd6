// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: func @matmul(
// CHECK: attn.matmul %{{.+}}, %{{.+}} : tensor<2x5x8xf16>, tensor<2x8x?xf16> outs(%{{.+}} : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
// CHECK: attn.matmul %{{.+}}, %{{.+}} transpose_rhs : tensor<2x5x8xf16>, tensor<2x7x8xf16> outs(%{{.+}} : tensor<2x5x7xf16>) -> tensor<2x5x7xf16>
func.func @matmul(%a: tensor<2x5x8xf16>, %b: tensor<2x8x?xf16>, %c: tensor<2x7x8xf16>, %o: tensor<2x5x?xf32>,
                  %p: tensor<2x5x7xf16>) -> (tensor<2x5x?xf32>, tensor<2x5x7xf16>) {
  %0 = attn.matmul %a, %b : tensor<2x5x8xf16>, tensor<2x8x?xf16> outs(%o : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %1 = attn.matmul %a, %c transpose_rhs : tensor<2x5x8xf16>, tensor<2x7x8xf16>
      outs(%p : tensor<2x5x7xf16>) -> tensor<2x5x7xf16>
  return %0, %1 : tensor<2x5x?xf32>, tensor<2x5x7xf16>
}

// CHECK-LABEL: func @mask(
// CHECK: attn.mask %{{.+}} masks(causal<bottom_right>, boolean(%{{.+}} : tensor<7xi1>)) where(%{{.+}}, %[[H:.+]], %{{.+}}, %[[J:.+]]) {
// CHECK: arith.cmpi ne, %[[H]], %[[J]] : index
// CHECK: } : tensor<2x4x5x7xf32> outs(%{{.+}} : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
// CHECK: attn.mask %{{.+}} : tensor<2x4x5x7xf32> outs(%{{.+}} : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
func.func @mask(%x: tensor<2x4x5x7xf32>, %m: tensor<7xi1>, %o: tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(causal<bottom_right>, boolean(%m : tensor<7xi1>)) where(%b, %h, %i, %j) {
    %c = arith.cmpi ne, %h, %j : index
    attn.yield %c : i1
  } : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %1 = attn.mask %0 : tensor<2x4x5x7xf32> outs(%o : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %1 : tensor<2x4x5x7xf32>
}

// CHECK-LABEL: func @softmax(
// CHECK: attn.softmax %{{.+}} axis(1) : tensor<2x?x5xbf16> outs(%{{.+}} : tensor<2x?x5xf32>) -> tensor<2x?x5xf32>
// CHECK: attn.softmax %{{.+}} axis(0) : tensor<3xf64> outs(%{{.+}} : tensor<3xf64>) -> tensor<3xf64>
func.func @softmax(%x: tensor<2x?x5xbf16>, %o: tensor<2x?x5xf32>, %y: tensor<3xf64>)
    -> (tensor<2x?x5xf32>, tensor<3xf64>) {
  %0 = attn.softmax %x axis(1) : tensor<2x?x5xbf16> outs(%o : tensor<2x?x5xf32>) -> tensor<2x?x5xf32>
  %1 = attn.softmax %y axis(0) : tensor<3xf64> outs(%y : tensor<3xf64>) -> tensor<3xf64>
  return %0, %1 : tensor<2x?x5xf32>, tensor<3xf64>
}

// CHECK-LABEL: func @on_memrefs(
// CHECK: attn.matmul %{{.+}}, %{{.+}} : memref<5x8xf32>, memref<8x7xf32> outs(%{{.+}} : memref<5x7xf32>){{$}}
// CHECK: attn.mask %{{.+}} masks(causal<top_left>) : memref<2x4x5x7xf32> outs(%{{.+}} : memref<2x4x5x7xf32>){{$}}
// CHECK: attn.softmax %{{.+}} axis(1) : memref<5x7xf32> outs(%{{.+}} : memref<5x7xf32>){{$}}
func.func @on_memrefs(%a: memref<5x8xf32>, %b: memref<8x7xf32>, %o: memref<5x7xf32>, %x: memref<2x4x5x7xf32>) {
  attn.matmul %a, %b : memref<5x8xf32>, memref<8x7xf32> outs(%o : memref<5x7xf32>)
  attn.mask %x masks(causal<top_left>) : memref<2x4x5x7xf32> outs(%x : memref<2x4x5x7xf32>)
  attn.softmax %o axis(1) : memref<5x7xf32> outs(%o : memref<5x7xf32>)
  return
}
