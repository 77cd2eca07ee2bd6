// Captured tensors in score and mask regions, by the reference: copied as transposed blocks where neighbours along the
// keys are neighbours in memory, gathered elsewhere, read once a chunk where no key matters.
// RUN: attn-run %s --check --function=matrix_f16_by_query_and_key | FileCheck %s
// RUN: attn-run %s --check --function=matrix_bf16_wider_than_the_keys | FileCheck %s
// RUN: attn-run %s --check --function=distances_forwards | FileCheck %s
// RUN: attn-run %s --check --function=distances_backwards | FileCheck %s
// RUN: attn-run %s --check --function=key_before_query | FileCheck %s
// RUN: attn-run %s --check --function=row_found_through_a_table --fill=3:range:0:4 | FileCheck %s
// RUN: attn-run %s --check --function=read_twice_in_both_regions | FileCheck %s
// RUN: attn-run %s --check --function=mask_of_documents --fill=3:range:0:4 --fill=4:range:0:4 | FileCheck %s
// RUN: attn-run %s --check --function=mask_of_bytes --fill=3:range:-3:4 | FileCheck %s
// RUN: attn-run %s --check --function=mask_of_flags | FileCheck %s
// RUN: attn-run %s --check --function=mask_through_the_score_alone | FileCheck %s
// RUN: attn-run %s --check --function=few_queries_of_a_group | FileCheck %s
// RUN: attn-run %s --check --function=matrix_bf16_wider_than_the_keys --tile-kv=6 --tile-q=16 | FileCheck %s
// RUN: attn-run %s --check --function=distances_forwards --tile-kv=6 --tile-q=32 --block-rows=4 | FileCheck %s
// RUN: attn-run %s --check --function=mask_of_flags --tile-kv=12 --target=x86-64-v3 | FileCheck %s
// CHECK: PASS result 0
// CHECK-NOT: FAIL

!q = tensor<2x3x37x8xf32>
!k = tensor<2x3x61x8xf32>
!v = tensor<2x3x61x12xf32>
!o = tensor<2x3x37x12xf32>

func.func @matrix_f16_by_query_and_key(%q: !q, %k: !k, %v: !v, %c0: tensor<37x61xf16>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %c0[%i, %j] : tensor<37x61xf16>
    %w = arith.extf %t : f16 to f32
    %y = arith.addf %x, %w : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @matrix_bf16_wider_than_the_keys(%q: !q, %k: !k, %v: !v, %c0: tensor<3x37x70xbf16>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) masks(causal<bottom_right>) score(%x, %b, %h, %i, %j) {
    %five = arith.constant 5 : index
    %at = arith.addi %j, %five : index
    %t = tensor.extract %c0[%h, %i, %at] : tensor<3x37x70xbf16>
    %w = arith.extf %t : bf16 to f32
    %y = arith.addf %x, %w : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @distances_forwards(%q: !q, %k: !k, %v: !v, %c0: tensor<3x97xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) masks(window<left = 20, right = 9, bottom_right>) score(%x, %b, %h, %i, %j) {
    %last = arith.constant 36 : index
    %d = arith.subi %j, %i : index
    %at = arith.addi %last, %d : index
    %t = tensor.extract %c0[%h, %at] : tensor<3x97xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @distances_backwards(%q: !q, %k: !k, %v: !v, %c0: tensor<97xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %last = arith.constant 60 : index
    %d = arith.subi %i, %j : index
    %at = arith.addi %d, %last : index
    %t = tensor.extract %c0[%at] : tensor<97xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @key_before_query(%q: !q, %k: !k, %v: !v, %c0: tensor<61x37xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %c0[%j, %i] : tensor<61x37xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @row_found_through_a_table(%q: !q, %k: !k, %v: !v, %c0: tensor<37xi32>, %c1: tensor<5x61xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %n = tensor.extract %c0[%i] : tensor<37xi32>
    %row = arith.index_cast %n : i32 to index
    %t = tensor.extract %c1[%row, %j] : tensor<5x61xf32>
    %y = arith.mulf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @read_twice_in_both_regions(%q: !q, %k: !k, %v: !v, %c0: tensor<37x61xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %c0[%i, %j] : tensor<37x61xf32>
    %u = arith.mulf %t, %t : f32
    %y = arith.addf %x, %u : f32
    attn.yield %y : f32
  } where(%b, %h, %i, %j) {
    %t = tensor.extract %c0[%i, %j] : tensor<37x61xf32>
    %zero = arith.constant 0.0 : f32
    %keep = arith.cmpf ogt, %t, %zero : f32
    attn.yield %keep : i1
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @mask_of_documents(%q: !q, %k: !k, %v: !v, %c0: tensor<37xi32>, %c1: tensor<61xi32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %a = tensor.extract %c0[%i] : tensor<37xi32>
    %d = tensor.extract %c1[%j] : tensor<61xi32>
    %keep = arith.cmpi eq, %a, %d : i32
    attn.yield %keep : i1
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @mask_of_bytes(%q: !q, %k: !k, %v: !v, %c0: tensor<2x37x61xi8>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %a = tensor.extract %c0[%b, %i, %j] : tensor<2x37x61xi8>
    %two = arith.constant 2 : i8
    %keep = arith.cmpi sge, %a, %two : i8
    attn.yield %keep : i1
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @mask_of_flags(%q: !q, %k: !k, %v: !v, %c0: tensor<37x61xi1>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) where(%b, %h, %i, %j) {
    %keep = tensor.extract %c0[%i, %j] : tensor<37x61xi1>
    attn.yield %keep : i1
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

func.func @mask_through_the_score_alone(%q: !q, %k: !k, %v: !v, %c0: tensor<61xf32>) -> !o {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : !o
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %n = arith.fptosi %x : f32 to i32
    %m = arith.index_cast %n : i32 to index
    %z = arith.constant 0 : index
    %p = arith.maxsi %m, %z : index
    %l = arith.constant 60 : index
    %at = arith.minsi %p, %l : index
    %t = tensor.extract %c0[%at] : tensor<61xf32>
    %y = arith.addf %x, %t : f32
    attn.yield %y : f32
  } : !q, !k, !v outs(%init : !o) -> !o
  return %r : !o
}

// Three heads of a group in one tile of few rows: a row of the matrix for each.
func.func @few_queries_of_a_group(%q: tensor<2x6x2x8xf32>, %k: tensor<2x2x61x8xf32>, %v: tensor<2x2x61x12xf32>,
                                  %c0: tensor<6x61xf32>, %c1: tensor<2x61xf32>) -> tensor<2x6x2x12xf32> {
  %s = arith.constant 0.5 : f32
  %init = tensor.empty() : tensor<2x6x2x12xf32>
  %r = attn.attention %q, %k, %v scale(%s) score(%x, %b, %h, %i, %j) {
    %t = tensor.extract %c0[%h, %j] : tensor<6x61xf32>
    %u = tensor.extract %c1[%i, %j] : tensor<2x61xf32>
    %y = arith.addf %x, %t : f32
    %z = arith.mulf %y, %u : f32
    attn.yield %z : f32
  } : tensor<2x6x2x8xf32>, tensor<2x2x61x8xf32>, tensor<2x2x61x12xf32> outs(%init : tensor<2x6x2x12xf32>)
      -> tensor<2x6x2x12xf32>
  return %r : tensor<2x6x2x12xf32>
}
