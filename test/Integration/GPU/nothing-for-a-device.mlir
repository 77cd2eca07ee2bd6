// What has nothing to compute on a device runs without kernels.
// DEFINE: %{target} =
// DEFINE: %{run} = attn-run %s --target=%{target} --print --check
// REDEFINE: %{target} = emulator:sm_80
// RUN: %{run} --function=nothing | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: %{run} --function=sum --scalar=0:4 --scalar=1:3 | FileCheck %s --check-prefix=SUM
// RUN: %{run} --function=zero_rows | FileCheck %s --check-prefix=ZERO
// RUN: %{run} --function=size --shape=0:5x2 | FileCheck %s --check-prefix=SIZE
// RUN: %{run} --function=element --fill=0:list:2:3:5:7 | FileCheck %s --check-prefix=ELEMENT
// RUN: %{run} --function=same --fill=0:list:2:3:5:7 | FileCheck %s --check-prefix=SAME
// REDEFINE: %{target} = emulator:sm_90a
// RUN: %{run} --function=nothing | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: %{run} --function=sum --scalar=0:4 --scalar=1:3 | FileCheck %s --check-prefix=SUM
// RUN: %{run} --function=zero_rows | FileCheck %s --check-prefix=ZERO
// RUN: %{run} --function=size --shape=0:5x2 | FileCheck %s --check-prefix=SIZE
// RUN: %{run} --function=element --fill=0:list:2:3:5:7 | FileCheck %s --check-prefix=ELEMENT
// RUN: %{run} --function=same --fill=0:list:2:3:5:7 | FileCheck %s --check-prefix=SAME
// RUN: not attn-compile %s --target=sm_80 --function=sum -o %t.ptx 2>&1 | FileCheck %s --check-prefix=COMPILE

// NOTHING-NOT: {{[^[:space:]]}}
func.func @nothing() {
  return
}

// SUM: 7
// SUM: check: PASS
// COMPILE: error: the module has no kernels for a GPU
func.func @sum(%a: index, %b: index) -> index {
  %c = arith.addi %a, %b : index
  return %c : index
}

// ZERO: result 0: 0x4xf32
// ZERO: check: PASS
func.func @zero_rows(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %r = arith.addf %x, %x : tensor<0x4xf32>
  return %r : tensor<0x4xf32>
}

// SIZE: 5
// SIZE: check: PASS
func.func @size(%x: tensor<?x2xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  return %n : index
}

// ELEMENT: 5
// ELEMENT: check: PASS
func.func @element(%x: tensor<4xf32>) -> f32 {
  %c2 = arith.constant 2 : index
  %e = tensor.extract %x[%c2] : tensor<4xf32>
  return %e : f32
}

// SAME: 2 3 5 7
// SAME: check: PASS
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
