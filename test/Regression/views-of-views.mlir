// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run %suite_target %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_80 %s
// RUN: python3 %attn_root/test/Transforms/attn-fuse/Inputs/check-functions.py %attn_tools_dir/attn-run emulator:sm_90a %s
// RUN: attn-run %s --function=steps --fill=0:iota --print | FileCheck %s

// Views of views by value: steps of steps, dimensions that are dropped at each place, sizes that the run knows, 1 and 0
// among them, every width of element.

// x[r, c] = 12 r + c. Rows 1, 3, 5, 7, of these the 2nd and 4th; columns 1, 4, 7, 10, of these the 1st and 3rd.
// CHECK: result 0:
// CHECK-NEXT: 74 86
// CHECK-NEXT: 170 182
func.func @steps(%x: tensor<9x12xf32>) -> tensor<2x2xf32> {
  %a = tensor.extract_slice %x[1, 1] [4, 4] [2, 3] : tensor<9x12xf32> to tensor<4x4xf32>
  %b = tensor.extract_slice %a[1, 0] [2, 2] [2, 2] : tensor<4x4xf32> to tensor<2x2xf32>
  %r = arith.addf %b, %b : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// OPTIONS @steps_of_the_run: --scalar=1:1 --scalar=2:2 --scalar=3:2 --out-shape=0:2x3
// OPTIONS @steps_of_the_run: --scalar=1:0 --scalar=2:4 --scalar=3:1 --out-shape=0:4x3
// OPTIONS @steps_of_the_run: --scalar=1:3 --scalar=2:1 --scalar=3:7 --out-shape=0:1x3
// OPTIONS @steps_of_the_run: --scalar=1:3 --scalar=2:0 --scalar=3:1 --out-shape=0:0x3
func.func @steps_of_the_run(%x: tensor<9x12xf16>, %at: index, %n: index, %step: index) -> tensor<?x3xf16> {
  %a = tensor.extract_slice %x[1, 2] [7, 9] [1, 1] : tensor<9x12xf16> to tensor<7x9xf16>
  %b = tensor.extract_slice %a[%at, %at] [%n, 3] [%step, 2] : tensor<7x9xf16> to tensor<?x3xf16>
  %r = arith.addf %b, %b : tensor<?x3xf16>
  return %r : tensor<?x3xf16>
}

// OPTIONS @drops_twice: --shape=0:1x4x1x3x2 --scalar=1:2 --fill=0:range:-50:50
func.func @drops_twice(%x: tensor<1x?x1x3x2xi8>, %at: index) -> tensor<1x2xi8> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x1x3x2xi8>
  %a = tensor.extract_slice %x[0, 0, 0, 1, 0] [1, %n, 1, 1, 2] [1, 1, 1, 1, 1] : tensor<1x?x1x3x2xi8> to tensor<?x1x2xi8>
  %b = tensor.extract_slice %a[%at, 0, 0] [1, 1, 2] [1, 1, 1] : tensor<?x1x2xi8> to tensor<1x2xi8>
  %r = arith.addi %b, %b : tensor<1x2xi8>
  return %r : tensor<1x2xi8>
}

// OPTIONS @one_row_in_each_form: --shape=0:3x1x5 --scalar=1:1
func.func @one_row_in_each_form(%x: tensor<?x1x5xf64>, %at: index) -> (tensor<5xf64>, tensor<1x5xf64>, tensor<1x1x5xf64>) {
  %a = tensor.extract_slice %x[%at, 0, 0] [1, 1, 5] [1, 1, 1] : tensor<?x1x5xf64> to tensor<5xf64>
  %b = tensor.extract_slice %x[%at, 0, 0] [1, 1, 5] [1, 1, 1] : tensor<?x1x5xf64> to tensor<1x5xf64>
  %c = tensor.extract_slice %x[%at, 0, 0] [1, 1, 5] [1, 1, 1] : tensor<?x1x5xf64> to tensor<1x1x5xf64>
  %ra = arith.addf %a, %a : tensor<5xf64>
  %rb = arith.addf %b, %b : tensor<1x5xf64>
  %rc = arith.addf %c, %c : tensor<1x1x5xf64>
  return %ra, %rb, %rc : tensor<5xf64>, tensor<1x5xf64>, tensor<1x1x5xf64>
}

// A column, whose elements are a row apart, becomes a row and a matrix.
// OPTIONS @column_reshaped: --shape=0:6x5
func.func @column_reshaped(%x: tensor<6x5xbf16>) -> (tensor<6xbf16>, tensor<2x3xbf16>) {
  %a = tensor.extract_slice %x[0, 3] [6, 1] [1, 1] : tensor<6x5xbf16> to tensor<6x1xbf16>
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<6x1xbf16> into tensor<6xbf16>
  %b = tensor.expand_shape %flat [[0, 1]] output_shape [2, 3] : tensor<6xbf16> into tensor<2x3xbf16>
  %r = arith.addf %flat, %flat : tensor<6xbf16>
  %s = arith.addf %b, %b : tensor<2x3xbf16>
  return %r, %s : tensor<6xbf16>, tensor<2x3xbf16>
}

// Merged sizes that only the run knows, of a part of the rows.
// OPTIONS @merged: --shape=0:4x5x3 --scalar=1:2 --out-shape=0:10x3
// OPTIONS @merged: --shape=0:4x1x3 --scalar=1:2 --out-shape=0:2x3
// OPTIONS @merged: --shape=0:4x5x3 --scalar=1:1 --out-shape=0:5x3
// OPTIONS @merged: --shape=0:4x5x3 --scalar=1:0 --out-shape=0:0x3
func.func @merged(%x: tensor<?x?x3xf32>, %n: index) -> tensor<?x3xf32> {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?x3xf32>
  %y = arith.addf %x, %x : tensor<?x?x3xf32>
  %a = tensor.extract_slice %y[1, 0, 0] [%n, %m, 3] [1, 1, 1] : tensor<?x?x3xf32> to tensor<?x?x3xf32>
  %b = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x?x3xf32> into tensor<?x3xf32>
  %r = arith.addf %b, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// Every second row, one column of the run's: the unit dimension's stride is not that of the rows.
// OPTIONS @merged_with_one_column: --shape=0:6x4 --scalar=1:2 --scalar=2:1 --out-shape=0:3
// OPTIONS @merged_with_one_column: --shape=0:6x4 --scalar=1:0 --scalar=2:4 --out-shape=0:12
func.func @merged_with_one_column(%x: tensor<6x4xf32>, %at: index, %n: index) -> tensor<?xf32> {
  %y = arith.addf %x, %x : tensor<6x4xf32>
  %a = tensor.extract_slice %y[1, %at] [3, %n] [2, 1] : tensor<6x4xf32> to tensor<3x?xf32>
  %b = tensor.collapse_shape %a [[0, 1]] : tensor<3x?xf32> into tensor<?xf32>
  %r = arith.addf %b, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Written through a view of a view.
// OPTIONS @written: --scalar=2:1 --fill=0:range:-9:9 --fill=1:range:10:20
// OPTIONS @written: --scalar=2:3 --fill=0:range:-9:9 --fill=1:range:10:20
func.func @written(%x: tensor<2x5x4xi32>, %new: tensor<2xi32>, %at: index) -> tensor<2x5x4xi32> {
  %row = tensor.extract_slice %x[1, %at, 0] [1, 1, 4] [1, 1, 1] : tensor<2x5x4xi32> to tensor<4xi32>
  %put = tensor.insert_slice %new into %row[1] [2] [2] : tensor<2xi32> into tensor<4xi32>
  %r = tensor.insert_slice %put into %x[1, %at, 0] [1, 1, 4] [1, 1, 1] : tensor<4xi32> into tensor<2x5x4xi32>
  return %r : tensor<2x5x4xi32>
}

// OPTIONS @booleans: --scalar=1:2 --fill=0:range:0:1
func.func @booleans(%x: tensor<3x1x5xi1>, %at: index) -> tensor<2xi1> {
  %a = tensor.extract_slice %x[%at, 0, 1] [1, 1, 4] [1, 1, 1] : tensor<3x1x5xi1> to tensor<1x4xi1>
  %b = tensor.extract_slice %a[0, 1] [1, 2] [1, 2] : tensor<1x4xi1> to tensor<2xi1>
  %one = arith.constant dense<true> : tensor<2xi1>
  %r = arith.xori %b, %one : tensor<2xi1>
  return %r : tensor<2xi1>
}

// One head of packed keys and values, every second position, in attention.
// OPTIONS @attention: --shape=0:1x6x16 --shape=1:1x9x2x3x16 --scalar=2:1 --out-shape=0:1x1x6x16
// OPTIONS @attention: --shape=0:1x1x16 --shape=1:1x1x2x3x16 --scalar=2:2 --out-shape=0:1x1x1x16
func.func @attention(%x: tensor<1x?x16xf32>, %packed: tensor<1x?x2x3x16xf32>, %head: index) -> tensor<1x1x?x16xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %scale = arith.constant 0.25 : f32
  %n = tensor.dim %x, %c1 : tensor<1x?x16xf32>
  %m = tensor.dim %packed, %c1 : tensor<1x?x2x3x16xf32>
  %half = arith.ceildivui %m, %c2 : index
  %q = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [1, 1, %n, 16] : tensor<1x?x16xf32> into tensor<1x1x?x16xf32>
  %heads = tensor.extract_slice %packed[0, 0, 0, %head, 0] [1, %m, 2, 1, 16] [1, 1, 1, 1, 1] : tensor<1x?x2x3x16xf32> to tensor<1x?x2x16xf32>
  %k = tensor.extract_slice %heads[0, 0, 0, 0] [1, %half, 1, 16] [1, 2, 1, 1] : tensor<1x?x2x16xf32> to tensor<1x?x16xf32>
  %v = tensor.extract_slice %heads[0, 0, 1, 0] [1, %half, 1, 16] [1, 2, 1, 1] : tensor<1x?x2x16xf32> to tensor<1x?x16xf32>
  %k4 = tensor.expand_shape %k [[0, 1], [2], [3]] output_shape [1, 1, %half, 16] : tensor<1x?x16xf32> into tensor<1x1x?x16xf32>
  %v4 = tensor.expand_shape %v [[0, 1], [2], [3]] output_shape [1, 1, %half, 16] : tensor<1x?x16xf32> into tensor<1x1x?x16xf32>
  %e = tensor.empty(%n) : tensor<1x1x?x16xf32>
  %o = attn.attention %q, %k4, %v4 scale(%scale) : tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>
      outs(%e : tensor<1x1x?x16xf32>) -> tensor<1x1x?x16xf32>
  return %o : tensor<1x1x?x16xf32>
}
