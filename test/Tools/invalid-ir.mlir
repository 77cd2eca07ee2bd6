// A pass that leaves IR that is not valid is an internal error with its name, and no error of the input.
// RUN: sh -c 'attn-opt %s --load-pass-plugin=%invalid_ir --pass-pipeline="builtin.module(cse,func.func(attn-test-invalid-ir),symbol-dce)" \
// RUN:   -o %t.mlir; echo "exit code $?"' 2>&1 | FileCheck %s
// RUN: sh -c 'attn-opt %s --attn-compile=function=other -o %t.mlir; echo "exit code $?"' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INPUT

// CHECK: invalid-ir.mlir:[[# @LINE + 5]]:1: error: {{.*}}block
// CHECK: invalid-ir.mlir:[[# @LINE + 4]]:1: error: internal error: the pass attn-test-invalid-ir left IR that is not valid; please report it with the input
// CHECK: exit code 70

// INPUT: exit code 1
func.func @nothing() {
  return
}
