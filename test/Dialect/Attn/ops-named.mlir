// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func @windows_and_padding(
// CHECK: masks(dilated<left = 64, right = 0, step = 4, bottom_right>, dilated<step = 1, top_left>,
// CHECK-SAME: global_window<globals = 2, left = 3, right = 1, top_left>, global_window<globals = 0, bottom_right>,
// CHECK-SAME: padding_left(%[[P:[^ ]+]] : tensor<2xi32>), padding_right(%[[P]] : tensor<2xi32>))
func.func @windows_and_padding(%x: tensor<2x4x5x7xf32>, %p: tensor<2xi32>) -> tensor<2x4x5x7xf32> {
  %0 = attn.mask %x masks(dilated<step = 4, bottom_right, right = 0, left = 64>, dilated<top_left, step = 1>,
          global_window<globals = 2, left = 3, right = 1, top_left>, global_window<globals = 0, bottom_right>,
          padding_left(%p : tensor<2xi32>), padding_right(%p : tensor<2xi32>))
      : tensor<2x4x5x7xf32> outs(%x : tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// The number of operands tells whether queries and keys have ids of their own.
// CHECK-LABEL: func @documents(
// CHECK: masks(document(%[[I:[^ ]+]] : tensor<6xi32>), document(%[[I]] : tensor<6xi32>, %[[J:[^ ]+]] : tensor<2x6xi32>),
// CHECK-SAME: document_causal(%[[J]] : tensor<2x6xi32>), document_causal<top_left>(%[[I]] : tensor<6xi32>, %[[J]] : tensor<2x6xi32>),
// CHECK-SAME: shared_prefix(%[[P:[^ ]+]] : tensor<2xi64>, %[[I]] : tensor<6xi32>),
// CHECK-SAME: shared_prefix(%[[P]] : tensor<2xi64>, %[[J]] : tensor<2x6xi32>, %[[I]] : tensor<6xi32>))
// GENERIC-LABEL: sym_name = "documents"
// GENERIC: masks = [#attn.document, #attn.document<separate>, #attn.document_causal,
// GENERIC-SAME: #attn.document_causal<separate, top_left>, #attn.shared_prefix, #attn.shared_prefix<separate>]
func.func @documents(%x: tensor<2x4x6x6xf32>, %i: tensor<6xi32>, %j: tensor<2x6xi32>, %p: tensor<2xi64>)
    -> tensor<2x4x6x6xf32> {
  %0 = attn.mask %x masks(document(%i : tensor<6xi32>), document(%i : tensor<6xi32>, %j : tensor<2x6xi32>),
          document_causal(%j : tensor<2x6xi32>), document_causal<top_left>(%i : tensor<6xi32>, %j : tensor<2x6xi32>),
          shared_prefix(%p : tensor<2xi64>, %i : tensor<6xi32>),
          shared_prefix(%p : tensor<2xi64>, %j : tensor<2x6xi32>, %i : tensor<6xi32>))
      : tensor<2x4x6x6xf32> outs(%x : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return %0 : tensor<2x4x6x6xf32>
}

// CHECK-LABEL: func @blocks_grid_and_tree(
// CHECK: masks(chunked<size = 4>, block_diagonal<size = 3, bottom_right>, block_causal<size = 2, top_left>,
// CHECK-SAME: block_diffusion<half = 3, block = 2>,
// CHECK-SAME: local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 3>,
// CHECK-SAME: tree(%{{[^ ]+}} : tensor<6x6xi1>), tree(%{{[^ ]+}} : tensor<2x6x6xi1>))
func.func @blocks_grid_and_tree(%x: tensor<2x4x6x6xf32>, %t: tensor<6x6xi1>, %u: tensor<2x6x6xi1>)
    -> tensor<2x4x6x6xf32> {
  %0 = attn.mask %x masks(chunked<size = 4>, block_diagonal<bottom_right, size = 3>, block_causal<size = 2, top_left>,
          block_diffusion<block = 2, half = 3>,
          local_2d<rows = 2, columns = 3, kernel_rows = 1, kernel_columns = 3>,
          tree(%t : tensor<6x6xi1>), tree(%u : tensor<2x6x6xi1>))
      : tensor<2x4x6x6xf32> outs(%x : tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return %0 : tensor<2x4x6x6xf32>
}

// CHECK-LABEL: func @scores(
// CHECK: scores(head_scale(%{{[^ ]+}} : tensor<4xf32>), log_shift<1.250000e-01>,
// CHECK-SAME: t5_bias<buckets = 32, max_distance = 128, bidirectional, bottom_right>(%{{[^ ]+}} : tensor<32x4xbf16>),
// CHECK-SAME: t5_bias<buckets = 5, max_distance = 9, causal, top_left>(%{{[^ ]+}} : tensor<?x4xf32>),
// CHECK-SAME: distance_bias<max = 0, top_left>(%{{[^ ]+}} : tensor<1xf64>),
// CHECK-SAME: distance_bias<max = 2, bottom_right>(%{{[^ ]+}} : tensor<4x5xf32>),
// CHECK-SAME: indexed_bias(%{{[^ ]+}} : tensor<5x7xindex>, %{{[^ ]+}} : tensor<9x4xf16>))
func.func @scores(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %o: tensor<2x4x5x6xf32>,
                  %s: f32, %hs: tensor<4xf32>, %t5: tensor<32x4xbf16>, %d5: tensor<?x4xf32>, %one: tensor<1xf64>,
                  %five: tensor<4x5xf32>, %index: tensor<5x7xindex>, %t: tensor<9x4xf16>) -> tensor<2x4x5x6xf32> {
  %0 = attn.attention %q, %k, %v scale(%s)
      scores(head_scale(%hs : tensor<4xf32>), log_shift<0.125>,
             t5_bias<bidirectional, buckets = 32, max_distance = 128, bottom_right>(%t5 : tensor<32x4xbf16>),
             t5_bias<buckets = 5, max_distance = 9, causal, top_left>(%d5 : tensor<?x4xf32>),
             distance_bias<max = 0, top_left>(%one : tensor<1xf64>),
             distance_bias<max = 2, bottom_right>(%five : tensor<4x5xf32>),
             indexed_bias(%index : tensor<5x7xindex>, %t : tensor<9x4xf16>))
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32>
        outs(%o : tensor<2x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  return %0 : tensor<2x4x5x6xf32>
}
