// RUN: attn-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s

// outs is written in place, without a copy of what it held; tensor.extract in the regions becomes memref.load.
// CHECK-LABEL: func @in_place(
// CHECK-SAME: %[[Q:[^:]+]]: memref<2x4x5x8xf32>, %[[K:[^:]+]]: memref<2x2x7x8xf32>, %[[V:[^:]+]]: memref<2x2x7x6xf32>
// CHECK-SAME: %[[T:[^:]+]]: memref<4x7xf32>, %[[P:[^:]+]]: memref<2xi32>
// CHECK: %[[O:.+]] = memref.alloc() {{.*}} : memref<2x4x5x6xf32>
// CHECK: %[[L:.+]] = memref.alloc() {{.*}} : memref<2x4x5xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: attn.attention %[[Q]], %[[K]], %[[V]] scale(%{{.+}}) masks(prefix<top_left>(%[[P]] : memref<2xi32>))
// CHECK-SAME: score(%{{.+}}, %{{.+}}, %[[H:.+]], %{{.+}}, %[[J:.+]]) {
// CHECK: memref.load %[[T]][%[[H]], %[[J]]]
// CHECK: } {note = "kept"} : memref<2x4x5x8xf32>, memref<2x2x7x8xf32>, memref<2x2x7x6xf32>
// CHECK-SAME: outs(%[[O]] : memref<2x4x5x6xf32>) lse(%[[L]] : memref<2x4x5xf32>){{$}}
// CHECK-NOT: memref.copy
// CHECK: return %[[O]], %[[L]]
func.func @in_place(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %t: tensor<4x7xf32>,
                    %p: tensor<2xi32>, %s: f32) -> (tensor<2x4x5x6xf32>, tensor<2x4x5xf32>) {
  %o = tensor.empty() : tensor<2x4x5x6xf32>
  %l = tensor.empty() : tensor<2x4x5xf32>
  %0:2 = attn.attention %q, %k, %v scale(%s) masks(prefix<top_left>(%p : tensor<2xi32>))
      score(%x, %b, %h, %i, %j) {
        %e = tensor.extract %t[%h, %j] : tensor<4x7xf32>
        %y = arith.addf %x, %e : f32
        attn.yield %y : f32
      } {note = "kept"}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) lse(%l : tensor<2x4x5xf32>) -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
  return %0#0, %0#1 : tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
}

// -----

// The query is also outs: the op would read what it overwrites.
// CHECK-LABEL: func @query_is_outs(
// CHECK-SAME: %[[Q:[^:]+]]: memref<2x2x7x8xf32>
// CHECK: %[[O:.+]] = memref.alloc()
// CHECK: attn.attention %[[Q]], {{.*}} outs(%[[O]] :
func.func @query_is_outs(%q: tensor<2x2x7x8xf32> {bufferization.writable = true}, %s: f32) -> tensor<2x2x7x8xf32> {
  %0 = attn.attention %q, %q, %q scale(%s) : tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>
        outs(%q : tensor<2x2x7x8xf32>) -> tensor<2x2x7x8xf32>
  return %0 : tensor<2x2x7x8xf32>
}

// -----

// The region reads the tensor that is outs.
// CHECK-LABEL: func @capture_is_outs(
// CHECK-SAME: %[[T:[^:]+]]: memref<2x4x5x6xf32>
// CHECK: %[[O:.+]] = memref.alloc()
// CHECK: attn.attention
// CHECK: memref.load %[[T]][
// CHECK: outs(%[[O]] :
func.func @capture_is_outs(%t: tensor<2x4x5x6xf32> {bufferization.writable = true}, %q: tensor<2x4x5x8xf32>,
                           %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x6xf32>, %s: f32) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %e = tensor.extract %t[%b, %h, %i, %j] : tensor<2x4x5x6xf32>
    %y = arith.addf %x, %e : f32
    attn.yield %y : f32
  } : tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x6xf32>
      outs(%t : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}

// -----

// CHECK-LABEL: func @unfused(
// CHECK: attn.matmul %{{.+}}, %{{.+}} transpose_rhs : memref<5x8xf32>, memref<7x8xf32> outs(%[[X:.+]] : memref<5x7xf32>){{$}}
// CHECK: attn.softmax %{{.+}} axis(1) : memref<5x7xf32> outs(%{{.+}} : memref<5x7xf32>){{$}}
// CHECK: attn.mask %{{.+}} masks(causal<top_left>) : memref<1x1x5x7xf32> outs(%{{.+}} : memref<1x1x5x7xf32>){{$}}
func.func @unfused(%a: tensor<5x8xf32>, %b: tensor<7x8xf32>, %c: tensor<1x1x5x7xf32>)
    -> (tensor<5x7xf32>, tensor<1x1x5x7xf32>) {
  %e = tensor.empty() : tensor<5x7xf32>
  %0 = attn.matmul %a, %b transpose_rhs : tensor<5x8xf32>, tensor<7x8xf32> outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = attn.softmax %0 axis(1) : tensor<5x7xf32> outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %f = tensor.empty() : tensor<1x1x5x7xf32>
  %2 = attn.mask %c masks(causal<top_left>) : tensor<1x1x5x7xf32> outs(%f : tensor<1x1x5x7xf32>) -> tensor<1x1x5x7xf32>
  return %1, %2 : tensor<5x7xf32>, tensor<1x1x5x7xf32>
}
