//===- BoundsChecks.h - code that checks its accesses of memory ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_BOUNDSCHECKS_H
#define ATTN_CODEGEN_BOUNDSCHECKS_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace attn {

/// Puts a call of the runtime in front of each access of memory in a module of CPU code, which ends the attn_rt_call
/// where the access would leave the memory that its address was computed from (runtime/README.md, "Checked code").
/// Loads, stores, atomics, masked and gathered ones, copies and fills; prefetches touch nothing. Left out is what is
/// proved to stay in a variable of the code's own, or in an object whose size LLVM knows.
///
/// Entries have made the tensors known (convert-flash-to-llvm's check-bounds). Debug locations become places in the
/// runtime's messages and are taken out. For after LLVM's passes: what runs is what is checked. An error names an
/// operation that touches memory in a way that is not known here.
llvm::Error checkBounds(llvm::Module &module);

} // namespace attn

#endif // ATTN_CODEGEN_BOUNDSCHECKS_H
