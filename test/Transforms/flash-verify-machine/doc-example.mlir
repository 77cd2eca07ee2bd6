// RUN: attn-opt %s --flash-verify-machine --split-input-file --verify-diagnostics

llvm.func @machine_level(%a: i64) -> i64 {
  llvm.return %a : i64
}

// -----

// expected-error @below {{the machine level expects ops of the llvm dialect alone, but got func.func}}
func.func private @declaration()

// -----

llvm.func @unrealized_cast(%a: i64) {
  // expected-error @below {{the machine level expects ops of the llvm dialect alone, but got builtin.unrealized_conversion_cast}}
  %0 = builtin.unrealized_conversion_cast %a : i64 to index
  llvm.return
}
