// Fusions are verified where the pass's option, the pipeline's or the tools' flag asks for it, and only there. What was
// not compared is said: more than 1e8 operations, and axes whose size a constant tensor fixes.
// RUN: attn-opt %s --attn-fuse --remarks-filter=attn --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: attn-opt %s --attn-fuse=verify --remarks-filter=attn --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: attn-opt %s --attn-fuse --attn-verify-fusion --remarks-filter=attn --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: attn-opt %s --attn-compile="to=graph verify-fusion=true target=x86-64-v3" --remarks-filter=attn --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s
// RUN: attn-run %s --function=keys_dropped_by_constant --attn-verify-fusion --remarks --check 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHECKED
// RUN: attn-run %s --function=keys_dropped_by_constant --remarks --check 2>&1 | FileCheck %s --check-prefix=OFF

// OFF-NOT: sizes kept
// OFF-NOT: not verified
// OFF: fused into attention
// OFF-NOT: sizes kept
// OFF-NOT: not verified

// CHECK-DAG: sizes kept in the canonical form: 5 (a constant tensor has it)
// CHECK-DAG: not verified at the graph's sizes: {{.*}}exceeds the limit of 100000000 operations of the evaluation
// CHECK-COUNT-2: = attn.attention

// CHECKED: sizes kept in the canonical form: 5 (a constant tensor has it)
// CHECKED: check: PASS

#scores = {indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>,
                            affine_map<(i, j, d) -> (i, j)>],
           iterator_types = ["parallel", "parallel", "reduction"]}
#byKey = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}

func.func @keys_dropped_by_constant(%q: tensor<3x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %dropped = arith.constant 0xFF800000 : f32
  %keep = arith.constant dense<[true, false, true, true, false]> : tensor<5xi1>
  %e = tensor.empty() : tensor<3x5xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = linalg.generic #scores ins(%q, %k : tensor<3x4xf32>, tensor<5x4xf32>) outs(%s0 : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<3x5xf32>
  %masked = linalg.generic #byKey ins(%s, %keep : tensor<3x5xf32>, tensor<5xi1>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%x: f32, %c: i1, %o: f32):
    %y = arith.select %c, %x, %dropped : f32
    linalg.yield %y : f32
  } -> tensor<3x5xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %eo = tensor.empty() : tensor<3x7xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x7xf32>) -> tensor<3x7xf32>
  %out = linalg.matmul ins(%p, %v : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o0 : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %out : tensor<3x7xf32>
}

func.func @too_large(%q: tensor<2048x64xf32>, %k: tensor<2048x64xf32>, %v: tensor<2048x64xf32>)
    -> tensor<2048x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %s = linalg.generic #scores ins(%q, %k : tensor<2048x64xf32>, tensor<2048x64xf32>)
      outs(%s0 : tensor<2048x2048xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %xy = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %xy : f32
    linalg.yield %sum : f32
  } -> tensor<2048x2048xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<2048x2048xf32>) outs(%e : tensor<2048x2048xf32>)
      -> tensor<2048x2048xf32>
  %eo = tensor.empty() : tensor<2048x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %out = linalg.matmul ins(%p, %v : tensor<2048x2048xf32>, tensor<2048x64xf32>) outs(%o0 : tensor<2048x64xf32>)
      -> tensor<2048x64xf32>
  return %out : tensor<2048x64xf32>
}
