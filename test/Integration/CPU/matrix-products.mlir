// RUN: attn-run %s --function=even --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=odd --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=dynamic --shape=0:1x1 --shape=1:1x1 --check | FileCheck %s
// RUN: attn-run %s --function=dynamic --shape=0:130x517 --shape=1:517x261 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=dynamic --shape=0:7x0 --shape=1:0x19 --check | FileCheck %s
// RUN: attn-run %s --function=dynamic --shape=0:0x5 --shape=1:5x19 --check | FileCheck %s
// RUN: attn-run %s --function=dynamic --shape=0:6x5 --shape=1:5x0 --check | FileCheck %s
// RUN: attn-run %s --function=right_transposed --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=left_transposed --check | FileCheck %s
// RUN: attn-run %s --function=out_transposed --check | FileCheck %s
// RUN: attn-run %s --function=into_heads --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=out_of_heads --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=batched_scores --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=few_rows --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=few_rows_transposed --check | FileCheck %s
// RUN: attn-run %s --function=one_row_times_rows --check | FileCheck %s
// RUN: attn-run %s --function=matrix_times_vector --check | FileCheck %s
// RUN: attn-run %s --function=dot --check | FileCheck %s
// RUN: attn-run %s --function=bf16_in_and_out --check | FileCheck %s
// RUN: attn-run %s --function=bf16_few_rows --check | FileCheck %s
// RUN: attn-run %s --function=f16_widened --check | FileCheck %s
// RUN: attn-run %s --function=f64 --check --threads=2 | FileCheck %s
// RUN: attn-run %s --function=integers --fill=0:range:-9:9 --fill=1:range:-9:9 --check | FileCheck %s
// RUN: attn-run %s --function=onto_a_bias --check | FileCheck %s
// RUN: attn-run %s --function=strided_slices --check | FileCheck %s

// The same bits for any number of threads.
// RUN: attn-run %s --function=odd --threads=1 --output=%t.1.npy
// RUN: attn-run %s --function=odd --threads=2 --output=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy

// Matrix products: sizes off every block, layouts, types, threads.
// CHECK: check: PASS
// CHECK-NOT: FAIL

func.func @even(%a: tensor<384x512xf32>, %b: tensor<512x256xf32>) -> tensor<384x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<384x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<384x256xf32>) -> tensor<384x256xf32>
  %out = linalg.matmul ins(%a, %b : tensor<384x512xf32>, tensor<512x256xf32>)
      outs(%init : tensor<384x256xf32>) -> tensor<384x256xf32>
  return %out : tensor<384x256xf32>
}

func.func @odd(%a: tensor<131x301xf32>, %b: tensor<301x277xf32>) -> tensor<131x277xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<131x277xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<131x277xf32>) -> tensor<131x277xf32>
  %out = linalg.matmul ins(%a, %b : tensor<131x301xf32>, tensor<301x277xf32>)
      outs(%init : tensor<131x277xf32>) -> tensor<131x277xf32>
  return %out : tensor<131x277xf32>
}

func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %out = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}

func.func @right_transposed(%a: tensor<50x70xf32>, %b: tensor<35x70xf32>) -> tensor<50x35xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<50x35xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<50x35xf32>) -> tensor<50x35xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<50x70xf32>, tensor<35x70xf32>) outs(%init : tensor<50x35xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  } -> tensor<50x35xf32>
  return %out : tensor<50x35xf32>
}

func.func @left_transposed(%a: tensor<70x50xf32>, %b: tensor<70x35xf32>) -> tensor<50x35xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<50x35xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<50x35xf32>) -> tensor<50x35xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<70x50xf32>, tensor<70x35xf32>) outs(%init : tensor<50x35xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %y, %x : f32
    %next = arith.addf %xy, %sum : f32
    linalg.yield %next : f32
  } -> tensor<50x35xf32>
  return %out : tensor<50x35xf32>
}

// Contiguous along the left operand's dimension: the operands change places.
func.func @out_transposed(%a: tensor<50x70xf32>, %b: tensor<70x35xf32>) -> tensor<35x50xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<35x50xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<35x50xf32>) -> tensor<35x50xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<50x70xf32>, tensor<70x35xf32>) outs(%init : tensor<35x50xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  } -> tensor<35x50xf32>
  return %out : tensor<35x50xf32>
}

// [batch, position, k] x [k, head, size] -> [batch, head, position, size]
func.func @into_heads(%x: tensor<2x37x48xf32>, %w: tensor<48x3x20xf32>) -> tensor<2x3x37x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x37x20xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x37x20xf32>) -> tensor<2x3x37x20xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(b, h, s, d, k) -> (b, s, k)>, affine_map<(b, h, s, d, k) -> (k, h, d)>,
                     affine_map<(b, h, s, d, k) -> (b, h, s, d)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<2x37x48xf32>, tensor<48x3x20xf32>) outs(%init : tensor<2x3x37x20xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %ab = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %ab : f32
    linalg.yield %next : f32
  } -> tensor<2x3x37x20xf32>
  return %out : tensor<2x3x37x20xf32>
}

// Two reductions: [batch, head, position, size] x [head, size, n] -> [batch, position, n]
func.func @out_of_heads(%x: tensor<2x3x37x20xf32>, %w: tensor<3x20x45xf32>) -> tensor<2x37x45xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x37x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x37x45xf32>) -> tensor<2x37x45xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(b, s, n, h, d) -> (b, h, s, d)>, affine_map<(b, s, n, h, d) -> (h, d, n)>,
                     affine_map<(b, s, n, h, d) -> (b, s, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : tensor<2x3x37x20xf32>, tensor<3x20x45xf32>) outs(%init : tensor<2x37x45xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %ab = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %ab : f32
    linalg.yield %next : f32
  } -> tensor<2x37x45xf32>
  return %out : tensor<2x37x45xf32>
}

func.func @batched_scores(%q: tensor<2x3x65x16xf32>, %k: tensor<2x3x70x16xf32>) -> tensor<2x3x65x70xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x65x70xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x65x70xf32>) -> tensor<2x3x65x70xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>,
                     affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%q, %k : tensor<2x3x65x16xf32>, tensor<2x3x70x16xf32>) outs(%init : tensor<2x3x65x70xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %ab = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %ab : f32
    linalg.yield %next : f32
  } -> tensor<2x3x65x70xf32>
  return %out : tensor<2x3x65x70xf32>
}

func.func @few_rows(%a: tensor<5x300xf32>, %b: tensor<300x203xf32>) -> tensor<5x203xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x203xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x203xf32>) -> tensor<5x203xf32>
  %out = linalg.matmul ins(%a, %b : tensor<5x300xf32>, tensor<300x203xf32>)
      outs(%init : tensor<5x203xf32>) -> tensor<5x203xf32>
  return %out : tensor<5x203xf32>
}

func.func @few_rows_transposed(%a: tensor<5x300xf32>, %b: tensor<203x300xf32>) -> tensor<5x203xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x203xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x203xf32>) -> tensor<5x203xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<5x300xf32>, tensor<203x300xf32>) outs(%init : tensor<5x203xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  } -> tensor<5x203xf32>
  return %out : tensor<5x203xf32>
}

// Dot products along k.
func.func @one_row_times_rows(%a: tensor<1x300xf32>, %b: tensor<203x300xf32>) -> tensor<1x203xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x203xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x203xf32>) -> tensor<1x203xf32>
  %out = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<1x300xf32>, tensor<203x300xf32>) outs(%init : tensor<1x203xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  } -> tensor<1x203xf32>
  return %out : tensor<1x203xf32>
}

func.func @matrix_times_vector(%a: tensor<203x301xf32>, %b: tensor<301xf32>) -> tensor<203xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<203xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<203xf32>) -> tensor<203xf32>
  %out = linalg.matvec ins(%a, %b : tensor<203x301xf32>, tensor<301xf32>)
      outs(%init : tensor<203xf32>) -> tensor<203xf32>
  return %out : tensor<203xf32>
}

func.func @dot(%a: tensor<1003xf32>, %b: tensor<1003xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %out = linalg.dot ins(%a, %b : tensor<1003xf32>, tensor<1003xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  return %out : tensor<f32>
}

// Sums are f32, and rounded once.
func.func @bf16_in_and_out(%a: tensor<130x300xbf16>, %b: tensor<300x51xbf16>) -> tensor<130x51xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<130x51xbf16>
  %init = linalg.fill ins(%zero : bf16) outs(%empty : tensor<130x51xbf16>) -> tensor<130x51xbf16>
  %out = linalg.matmul ins(%a, %b : tensor<130x300xbf16>, tensor<300x51xbf16>)
      outs(%init : tensor<130x51xbf16>) -> tensor<130x51xbf16>
  return %out : tensor<130x51xbf16>
}

func.func @bf16_few_rows(%a: tensor<2x300xbf16>, %b: tensor<300x51xbf16>) -> tensor<2x51xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x51xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x51xf32>) -> tensor<2x51xf32>
  %out = linalg.matmul ins(%a, %b : tensor<2x300xbf16>, tensor<300x51xbf16>)
      outs(%init : tensor<2x51xf32>) -> tensor<2x51xf32>
  return %out : tensor<2x51xf32>
}

func.func @f16_widened(%a: tensor<77x61xf16>, %b: tensor<61x45xf16>) -> tensor<77x45xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<77x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<77x45xf32>) -> tensor<77x45xf32>
  %out = linalg.matmul ins(%a, %b : tensor<77x61xf16>, tensor<61x45xf16>)
      outs(%init : tensor<77x45xf32>) -> tensor<77x45xf32>
  return %out : tensor<77x45xf32>
}

func.func @f64(%a: tensor<77x301xf64>, %b: tensor<301x145xf64>) -> tensor<77x145xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<77x145xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<77x145xf64>) -> tensor<77x145xf64>
  %out = linalg.matmul ins(%a, %b : tensor<77x301xf64>, tensor<301x145xf64>)
      outs(%init : tensor<77x145xf64>) -> tensor<77x145xf64>
  return %out : tensor<77x145xf64>
}

func.func @integers(%a: tensor<17x31xi32>, %b: tensor<31x45xi32>) -> tensor<17x45xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<17x45xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<17x45xi32>) -> tensor<17x45xi32>
  %out = linalg.matmul ins(%a, %b : tensor<17x31xi32>, tensor<31x45xi32>)
      outs(%init : tensor<17x45xi32>) -> tensor<17x45xi32>
  return %out : tensor<17x45xi32>
}

func.func @onto_a_bias(%a: tensor<40x33xf32>, %b: tensor<33x52xf32>, %bias: tensor<40x52xf32>) -> tensor<40x52xf32> {
  %out = linalg.matmul ins(%a, %b : tensor<40x33xf32>, tensor<33x52xf32>)
      outs(%bias : tensor<40x52xf32>) -> tensor<40x52xf32>
  return %out : tensor<40x52xf32>
}

// Every second row and column of the operands, a slice of out.
func.func @strided_slices(%a: tensor<80x66xf32>, %b: tensor<66x104xf32>, %into: tensor<50x60xf32>) -> tensor<50x60xf32> {
  %left = tensor.extract_slice %a[0, 0][40, 33][2, 2] : tensor<80x66xf32> to tensor<40x33xf32>
  %right = tensor.extract_slice %b[1, 0][33, 52][2, 2] : tensor<66x104xf32> to tensor<33x52xf32>
  %part = tensor.extract_slice %into[3, 5][40, 52][1, 1] : tensor<50x60xf32> to tensor<40x52xf32>
  %sum = linalg.matmul ins(%left, %right : tensor<40x33xf32>, tensor<33x52xf32>)
      outs(%part : tensor<40x52xf32>) -> tensor<40x52xf32>
  %out = tensor.insert_slice %sum into %into[3, 5][40, 52][1, 1] : tensor<40x52xf32> into tensor<50x60xf32>
  return %out : tensor<50x60xf32>
}
