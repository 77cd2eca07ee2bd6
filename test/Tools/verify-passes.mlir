// Passes of the graph level are verified where the tools' flag asks for it. That a wrong one is named is shown by
// test/Unit/VerifyPassesTest.cpp: of right ones nothing is said, but which the reference cannot judge.
// RUN: attn-opt %s --attn-compile="to=graph" --attn-verify-passes --remarks-filter=attn --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GRAPH
// RUN: attn-opt %s --canonicalize --convert-linalg-to-loops --attn-verify-passes --remarks-filter=attn \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: attn-opt %s --one-shot-bufferize="bufferize-function-boundaries" --attn-verify-passes --remarks-filter=attn \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: attn-run %s --shape=0:3x4 --attn-verify-passes --remarks --check 2>&1 | FileCheck %s --check-prefix=RAN

// GRAPH-NOT: error
// GRAPH: func.func @sum

// CHECK-NOT: {{error|attn-verify-passes}}
// CHECK: func.func @sum
// CHECK-NOT: {{error|attn-verify-passes}}

// OTHER: passes from one-shot-bufferize on are not verified: the function has another type

// RAN: passes from attn-export-functions on are not verified: the function has another type
// RAN: check: PASS

func.func @sum(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x4xf32>) outs(%start : tensor<?xf32>) dimensions = [1]
  return %s : tensor<?xf32>
}
