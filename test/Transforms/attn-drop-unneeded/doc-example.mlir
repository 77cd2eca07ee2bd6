// RUN: attn-opt %s --allow-unregistered-dialect --attn-drop-unneeded=function=wanted | FileCheck %s --implicit-check-not=@
// RUN: attn-opt %s --allow-unregistered-dialect --attn-drop-unneeded | FileCheck %s --check-prefix=ALL --implicit-check-not=@
// RUN: not attn-opt %s --allow-unregistered-dialect --attn-drop-unneeded=function=missing 2>&1 | FileCheck %s --check-prefix=MISSING

// A function, what it refers to, and nothing else.
// CHECK: "other.global"() {sym_name = "table"}
// CHECK-NEXT: func.func private @helper(
// CHECK: "other.read"() {from = [@table]}
// CHECK: func.func @wanted(
// CHECK: call @helper

// Without a name, all public functions, and what has no name: nobody can say that it is not wanted.
// ALL: "other.global"() {sym_name = "table"}
// ALL: func.func private @helper(
// ALL: @table
// ALL: func.func @wanted(
// ALL: @helper
// ALL: func.func @other(
// ALL: module @inner
// ALL: "other.unnamed"()

// MISSING: error: the module has no function @missing

"other.global"() {sym_name = "table"} : () -> ()
"other.global"() {sym_name = "unused"} : () -> ()

func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  "other.read"() {from = [@table]} : () -> ()
  return %x : tensor<4xf32>
}

func.func private @declared(tensor<4xf32>)

func.func @wanted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

module @inner {}

"other.unnamed"() : () -> ()
