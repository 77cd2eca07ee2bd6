//===- Pending.cpp - stands in for passes that another branch brings ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delete this file, and link AttnTransforms and AttnToLinalg, when both are in the tree.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL_EXPANDNAMEDPASS
#include "Attn/AttnPasses.h.inc"
} // namespace attn

namespace {
struct Nothing : mlir::PassWrapper<Nothing, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Nothing)
  void runOnOperation() override {}
};
} // namespace

std::unique_ptr<mlir::Pass> attn::createExpandNamedPass() { return std::make_unique<Nothing>(); }
std::unique_ptr<mlir::Pass> attn::createConvertAttnToLinalgPass() { return std::make_unique<Nothing>(); }
