// RUN: not attn-opt %s --flash-overlap-products=target=x86-64-v3 2>&1 | FileCheck %s
// RUN: not attn-opt %s --flash-overlap-products=target=sm_70 2>&1 | FileCheck %s --check-prefix=OLD
// CHECK: error: expects a GPU such as sm_80 as target, but got x86-64-v3
// OLD: error: unknown GPU 'sm_70'; use sm_80, sm_86, sm_89, sm_90 or a later one, or sm_90a
func.func @f() {
  return
}
