// RUN: attn-run %s --function=matmul --shape=0:2x3x4 --shape=1:2x4x5 --shape=2:2x3x5 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=matmul --shape=0:2x3x4 --shape=1:2x5x5 --shape=2:2x3x5 2>&1 | FileCheck %s --check-prefix=E1
// RUN: not attn-run %s --function=matmul --shape=0:2x3x4 --shape=1:1x4x5 --shape=2:2x3x5 2>&1 | FileCheck %s --check-prefix=E2
// RUN: not attn-run %s --function=add --shape=0:2x3 --shape=1:2x4 2>&1 | FileCheck %s --check-prefix=E3
// RUN: attn-run %s --function=add --shape=0:0x3 --shape=1:0x3 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=linalg_matmul --shape=0:2x3 --shape=1:4x5 --shape=2:2x5 2>&1 | FileCheck %s --check-prefix=E5
// RUN: attn-run %s --function=linalg_matmul --shape=0:2x0 --shape=1:0x5 --shape=2:2x5 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=extract --shape=0:4 --scalar=1:3 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=extract --shape=0:4 --scalar=1:4 2>&1 | FileCheck %s --check-prefix=E8
// RUN: not attn-run %s --function=extract --shape=0:4 --scalar=1:-1 2>&1 | FileCheck %s --check-prefix=E9
// RUN: not attn-run %s --function=insert --shape=0:4 --scalar=1:4 2>&1 | FileCheck %s --check-prefix=E10
// RUN: not attn-run %s --function=cast --shape=0:5 2>&1 | FileCheck %s --check-prefix=E11
// RUN: attn-run %s --function=expand --shape=0:12 --scalar=1:4 --out-shape=0:4x3 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=expand --shape=0:12 --scalar=1:5 --out-shape=0:5x3 2>&1 | FileCheck %s --check-prefix=E13
// RUN: attn-run %s --function=insert_slice --shape=0:7 --shape=1:3 --scalar=2:4 --check | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=insert_slice --shape=0:7 --shape=1:0 --scalar=2:7 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=insert_slice --shape=0:7 --shape=1:3 --scalar=2:5 2>&1 | FileCheck %s --check-prefix=E16
// RUN: not attn-run %s --function=insert_slice_lie --shape=0:7 --shape=1:3 --scalar=2:4 2>&1 | FileCheck %s --check-prefix=E17
// RUN: not attn-run %s --function=dim --shape=0:7x2 --scalar=1:2 2>&1 | FileCheck %s --check-prefix=E18
// RUN: attn-run %s --function=pad --shape=0:7 --scalar=1:2 --out-shape=0:9 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=pad --shape=0:7 --scalar=1:-2 --out-shape=0:5 2>&1 | FileCheck %s --check-prefix=E20
// RUN: not attn-run %s --function=empty --scalar=0:-4 2>&1 | FileCheck %s --check-prefix=E21
// RUN: not attn-run %s --function=empty --scalar=0:-4 --out-shape=0:3 2>&1 | FileCheck %s --check-prefix=E22
// RUN: attn-run %s --function=gather --shape=0:7 --fill=1:range:0:6 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=gather --shape=0:7 --fill=1:range:7:20 2>&1 | FileCheck %s --check-prefix=E24
// RUN: attn-run %s --function=div --scalar=0:7 --scalar=1:2 --check | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=div --scalar=0:7 --scalar=1:0 2>&1 | FileCheck %s --check-prefix=E26
// RUN: not attn-run %s --function=div --scalar=0:-2147483648 --scalar=1:-1 2>&1 | FileCheck %s --check-prefix=E27
// RUN: not attn-run %s --function=div_tensor --fill=0:range:1:9 --fill=1:range:0:0 2>&1 | FileCheck %s --check-prefix=E28

// Sizes, indices and divisors that do not fit are errors of the run, nothing is read or written out of bounds.
// PASS: check: PASS
// E1: error: @matmul: 'attn.matmul' expects lhs and rhs to share k (C2), but got 4 and 5
// E2: error: @matmul: 'attn.matmul' expects lhs and rhs to share batch dimension 0 (C2), but got 2 and 1
// E3: error: @add: 'linalg.generic' at {{.*}}: dimension #1 of input/output operand #1 is incompatible
// E5: error: @linalg_matmul: 'linalg.matmul' at {{.*}}: dimension #0 of input/output operand #1 is incompatible
// E8: error: @extract: 'tensor.extract' at {{.*}}: out-of-bounds access
// E9: error: @extract: 'tensor.extract' at {{.*}}: out-of-bounds access
// E10: error: @insert: 'tensor.insert' at {{.*}}: out-of-bounds access
// E11: error: @cast: 'tensor.cast' at {{.*}}: size mismatch of dim 0
// E13: error: @expand: 'tensor.expand_shape' at {{.*}}: expects sizes whose product is the source's size 12 in dimension 0, but got 15
// E16: error: @insert_slice: 'tensor.insert_slice' at {{.*}}: expects its slice to be inside dimension 0 of size 7, but its last element is at 7
// E17: error: @insert_slice_lie: 'tensor.insert_slice' at {{.*}}: expects a source of size 4, but got 3
// E18: error: @dim: 'tensor.dim' at {{.*}}: index is out of bounds
// E20: error: @pad: 'tensor.pad' at {{.*}}: expects padding of at least 0, but got -2
// E21: error: the sizes of result 0 (tensor<?xf32>) do not follow from the inputs
// E22: error: @empty: result 0 expects a buffer of size -4 in dimension 0, but got 3
// E24: error: @gather: 'tensor.extract' at {{.*}}: out-of-bounds access
// E26: error: @div: 'arith.divsi' at {{.*}}: divides by zero
// E27: error: @div: 'arith.divsi' at {{.*}}: overflows: the lowest value divided by -1
// E28: error: @div_tensor: 'arith.remsi' at {{.*}}: divides by zero

func.func @matmul(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %o: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = attn.matmul %a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32> outs(%o : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

func.func @add(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = arith.addf %a, %b : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @linalg_matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @extract(%a: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %a[%i] : tensor<?xf32>
  return %r : f32
}

func.func @insert(%a: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  %r = tensor.insert %f into %a[%i] : tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @cast(%a: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @expand(%a: tensor<?xf32>, %n: index) -> tensor<?x3xf32> {
  %r = tensor.expand_shape %a [[0, 1]] output_shape [%n, 3] : tensor<?xf32> into tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

func.func @insert_slice(%a: tensor<?xf32>, %b: tensor<?xf32>, %at: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %b into %a[%at][%n][1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @insert_slice_lie(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %r = tensor.insert_slice %b into %a[0][%n][1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @dim(%a: tensor<?x?xf32>, %i: index) -> index {
  %n = tensor.dim %a, %i : tensor<?x?xf32>
  return %n : index
}

func.func @pad(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  %r = tensor.pad %a low[%n] high[0] { ^bb0(%i: index): tensor.yield %f : f32 } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @empty(%n: index) -> tensor<?xf32> {
  %f = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.fill ins(%f : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @gather(%a: tensor<?xf32>, %ix: tensor<5xi32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%ix : tensor<5xi32>) outs(%e : tensor<5xf32>) {
  ^bb0(%i: i32, %o: f32):
    %k = arith.index_cast %i : i32 to index
    %x = tensor.extract %a[%k] : tensor<?xf32>
    linalg.yield %x : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @div(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.divsi %a, %b : i32
  %1 = arith.remsi %a, %b : i32
  return %0, %1 : i32, i32
}

func.func @div_tensor(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %0 = arith.remsi %a, %b : tensor<5xi32>
  return %0 : tensor<5xi32>
}
