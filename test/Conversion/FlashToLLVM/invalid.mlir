// RUN: attn-opt %s --convert-flash-to-llvm --split-input-file --verify-diagnostics

// expected-error @below {{expects the name attn_entry_f to be free for its entry}}
func.func @f() {
  return
}
func.func private @attn_entry_f() {
  return
}
